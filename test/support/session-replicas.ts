// Replicas as far as sessions go: each has a store of its own on one Redis, and knows what the others publish.
import { randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import type { ReplicaEvent } from '../../src/replicas/replicas.ts';
import { RedisSessionStore } from '../../src/state/redis-session-store.ts';
import { RedisStore } from '../../src/state/redis-store.ts';
import type { SessionLimits } from '../../src/state/session-store.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { startRedis, type TestRedis } from './redis.ts';

const MAC_KEY = randomBytes(32);
const logger = createLogger({ level: 'silent', secrets: [] });
let serial = 0;

export interface SessionReplica extends AsyncDisposable {
  readonly id: string;
  readonly store: RedisSessionStore;
  /** Losses, as they were told: `KEY over` or `KEY moved`. */
  readonly lost: string[];
  /** Records that were refused. */
  readonly forged: number;
  /** For whoever needs to publish. */
  readonly published: ReplicaEvent[];
}

export interface SessionReplicaOptions {
  readonly url: string;
  /** Replicas of one prefix share their sessions. */
  readonly prefix: string;
  readonly limits?: Partial<SessionLimits>;
  readonly macKey?: Buffer;
  readonly now?: () => number;
}

/** Replicas on a Redis of this file's own; to be asked for at its top. */
export function replicasOnRedis(): {
  readonly redis: () => TestRedis;
  start(options: Omit<SessionReplicaOptions, 'url'>): Promise<SessionReplica>;
} {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.close());
  return {
    redis: () => redis,
    start: (options) => startSessionReplica({ url: redis.url, ...options }),
  };
}

export function limitsOf(limits: Partial<SessionLimits> = {}): SessionLimits {
  return { idleTimeoutMs: 60_000, maxAgeMs: 60_000, max: 10, maxPerPrincipal: 5, ...limits };
}

/** Of keys that no other test has. */
export function newPrefix(): string {
  serial += 1;
  return `test${serial}:`;
}

export async function startSessionReplica({
  url,
  prefix,
  limits,
  macKey = MAC_KEY,
  now = Date.now,
}: SessionReplicaOptions): Promise<SessionReplica> {
  serial += 1;
  const id = `replica-${serial}`;
  const shared = new RedisStore({ url, keyPrefix: prefix, timeoutMs: 1_000, logger });
  await shared.open();
  const lost: string[] = [];
  let forged = 0;
  const store = new RedisSessionStore({
    connection: shared.connection,
    replica: id,
    macKey,
    limits: limitsOf(limits),
    onForged: () => {
      forged += 1;
    },
    now,
  });
  store.onLost((key, loss) => lost.push(`${key} ${loss}`));
  return {
    id,
    store,
    lost,
    published: [],
    get forged() {
      return forged;
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await shared.close();
    },
  };
}
