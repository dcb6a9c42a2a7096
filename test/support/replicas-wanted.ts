// What a run of the tests says about replicas.
import { randomUUID } from 'node:crypto';

/** How many behind a load balancer stand for each gateway; 0 for one gateway and nothing before it. */
export function replicasWanted(): number {
  return Number(process.env.PORTICO_TEST_REPLICAS ?? 0);
}

/** Processes that stand for a gateway: what each has for itself is there so many times. */
export const PROCESSES = Math.max(1, replicasWanted());

/** Links that there are to a server whoever calls it: each replica has one of its own for the lists. */
export const LIST_LINKS = PROCESSES;

/** What a request does to a child process that everyone shares, done to that of each replica: the balancer goes round. */
export async function onEachReplica(act: () => Promise<unknown>): Promise<void> {
  for (let turn = 0; turn < PROCESSES; turn += 1) await act();
}

/** The Redis of the whole run, with keys of their own for the replicas of one rig. */
export function redisOfTheRun(): { readonly url: string; readonly keyPrefix: string } {
  const url = process.env.PORTICO_TEST_REDIS_URL;
  if (url === undefined) throw new Error('PORTICO_TEST_REDIS_URL is not set: `npm run test:replicas` does');
  return { url, keyPrefix: `portico-test ${randomUUID()}:` };
}

/** Of 32 characters and more, as a config has to have it, and in no test's own config. */
export const REPLICA_SECRET = 'secret-of-all-replicas-of-a-test-0123456789';
