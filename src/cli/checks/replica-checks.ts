// Replicas: whether the others can reach this one where the config says, and this one them, with one secret and one time.
import { ANONYMOUS } from '../../access/principal.ts';
import { createReplicaServer } from '../../http/replica-server.ts';
import type { ReplicaParts } from '../../lifecycle/replica-parts.ts';
import { openAnnouncement } from '../../replicas/announcement.ts';
import { COUNTS_FOR_MS } from '../../replicas/live-replicas.ts';
import { ReplicaClient } from '../../replicas/replica-client.ts';
import { type ForwardedExchange, type LiveReplica, ReplicaRefusal } from '../../replicas/replicas.ts';
import { RedisReplicaList } from '../../state/redis-replica-list.ts';
import { RedisStore } from '../../state/redis-store.ts';
import { type Check, type Failure, type Finding, failed, type Surroundings } from './check-parts.ts';

type Reached = Pick<LiveReplica, 'id' | 'url'>;

const ID = 'doctor';
const PATIENCE_MS = 5_000;
const MAX_FRAME_BYTES = 64 * 1024;
const SET_UP = 'See docs/replicas.md, "Set up".';
const SECRETS = 'gateway.replica.secret has to be the same on all replicas.';

/** Word that the client of an exchange has left which nobody has: taken like any message, and nothing comes of it. */
const PROBE: ForwardedExchange = {
  ...{ kind: 'left', id: ID, httpMethod: 'POST', view: undefined, headers: {} },
  ...{ principal: ANONYMOUS, address: '', body: Buffer.alloc(0) },
};

export function replicaChecks({ config, lasting }: Surroundings): Check[] {
  const { replica, store, budget } = lasting;
  if (replica === undefined || !(store instanceof RedisStore)) return [];
  const { keys } = replica;
  const client = new ReplicaClient({
    ...{ self: ID, keys, budget, ca: config.gateway.outbound.ca },
    maxFrameBytes: () => MAX_FRAME_BYTES,
  });
  const announced = announcedIn(store, keys);
  const run = async (check: (announced: Announced) => Promise<Finding>): Promise<Finding> => {
    try {
      return await check(await announced());
    } catch (thrown) {
      return failed(thrown, 'Replicas find each other in Redis: check gateway.redis.');
    }
  };
  let open = 2;
  const closing = async (finding: Promise<Finding>) => {
    const found = await finding;
    open -= 1;
    if (open === 0) await client.close();
    return found;
  };
  return [
    {
      kind: 'replica',
      subject: replica.config.url,
      run: () => closing(run(({ known }) => ownFinding(client, lasting, { replica, known }))),
    },
    {
      kind: 'replica',
      subject: 'the others',
      run: () => closing(run((found) => othersFinding(client, replica.config.url, found))),
    },
  ];
}

interface Announced {
  readonly known: readonly Reached[];
  /** Those whose word has another secret's signature. */
  readonly foreign: number;
}

/** What is in Redis, read once. */
function announcedIn(store: RedisStore, keys: ReplicaParts['keys']): () => Promise<Announced> {
  const read = async () => {
    await store.open();
    const texts = await new RedisReplicaList(store.connection, COUNTS_FOR_MS).read();
    const opened = texts.map(({ text }) => openAnnouncement(text, keys.announcement));
    const known = opened.filter((one) => one !== undefined);
    return { known, foreign: opened.length - known.length };
  };
  let reading: Promise<Announced> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}

/** Where nothing listens yet, the doctor does, for as long as it takes to come in from outside. */
async function ownFinding(
  client: ReplicaClient,
  { budget, logger }: Surroundings['lasting'],
  { replica, known }: { replica: ReplicaParts; known: readonly Reached[] },
): Promise<Finding> {
  const { config, keys } = replica;
  const { url, listen } = config;
  const server = createReplicaServer({
    ...{ listen, self: ID, keys, logger, budget },
    bodyLimitBytes: () => 0,
    signIn: () => undefined,
    handleExchange: async ({ reply }) => reply.accept(),
    onSettled() {},
    onRefused() {},
  });
  try {
    await server.listen();
  } catch (thrown) {
    const running = known.find((one) => one.url === url);
    if (running !== undefined)
      return (await trouble(client, running)) ?? well('the replica that serves there answers');
    const isTaken = thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE';
    const advice = isTaken
      ? `Something listens at gateway.replica.listen that is no replica of this Redis and secret, or has another url.`
      : 'gateway.replica.listen has to be an address of this machine.';
    return failed(thrown, advice);
  }
  try {
    return (
      (await trouble(client, { id: ID, url })) ??
      well('leads to gateway.replica.listen; nobody serves there yet')
    );
  } finally {
    await server.close();
  }
}

async function othersFinding(
  client: ReplicaClient,
  own: string,
  { known, foreign }: Announced,
): Promise<Finding> {
  const others = known.filter(({ url }) => url !== own);
  const troubles = await Promise.all(
    others.map(async (other) => ({ url: other.url, trouble: await trouble(client, other) })),
  );
  for (const { url, trouble } of troubles) {
    if (trouble !== undefined) return { ...trouble, text: `${url}: ${trouble.text}` };
  }
  if (foreign > 0)
    return { verdict: 'FAILED', text: `${foreign} in Redis with another secret`, advice: SECRETS };
  return well(others.length === 0 ? 'none live' : `${others.length} live, each of them answers`);
}

async function trouble(client: ReplicaClient, to: Reached): Promise<Failure | undefined> {
  try {
    const answer = await client.forward(to, PROBE, AbortSignal.timeout(PATIENCE_MS));
    // One that drains says so, and is there.
    for await (const _ of answer);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof ReplicaRefusal)
      return failed(thrown, 'All replicas need one time, and one version of Portico.');
    const isAnswer = thrown instanceof Error && /answered/.test(String(thrown.cause));
    return failed(
      thrown,
      isAnswer ? `${SECRETS} ${SET_UP}` : `Its port has to be open from replica to replica. ${SET_UP}`,
    );
  }
}

function well(text: string): Finding {
  return { verdict: 'ok', text };
}
