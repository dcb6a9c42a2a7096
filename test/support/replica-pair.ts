// Two replicas and their Redis, for tests of what passes between them: each is addressed by itself, as a balancer would.
import { after, type TestContext } from 'node:test';
import type { GatewayConfig } from '../../src/config/config.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { type ReplicasOptions, type StartedReplicas, startReplicas } from './start-replicas.ts';

export interface ReplicaPair {
  readonly service: StartedReplicas;
  /** Their endpoints of all servers. */
  readonly a: string;
  readonly b: string;
}

let redis: Promise<TestRedis> | undefined;
after(async () => (await redis)?.close());
let pairs = 0;

/** One Redis for all tests of a file. */
export async function redisOfTheFile(): Promise<NonNullable<GatewayConfig['redis']>> {
  redis ??= startRedis();
  pairs += 1;
  return { url: (await redis).url, keyPrefix: `portico-${pairs}:`, timeoutMs: 2_000 };
}

export async function startPair(
  t: TestContext,
  options: Omit<ReplicasOptions, 'count'>,
): Promise<ReplicaPair> {
  const service = await startReplicas({ count: 2, redis: await redisOfTheFile(), ...options });
  t.after(() => service.close());
  const [a, b] = service.replicas.map(({ url }) => `${url}/mcp`);
  return { service, a: a ?? '', b: b ?? '' };
}
