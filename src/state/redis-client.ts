// The client library of Redis, loaded with the first client: who has no Redis should not wait for it at start.
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

const require = createRequire(import.meta.url);
/** How long `connected` waits for the first answer. */
const OPEN_TIMEOUT_MS = 1_000;
let loaded: typeof import('ioredis') | undefined;

export function redisClient(): typeof import('ioredis').Redis {
  loaded ??= require('ioredis') as typeof import('ioredis');
  return loaded.Redis;
}

/** Connects. Resolves with `opened`, or when it has become plain that it will take longer. Never rejects. */
export async function connected(client: Redis, opened: Promise<void>): Promise<void> {
  client.connect().catch(() => {});
  const late = new AbortController();
  const patience = delay(OPEN_TIMEOUT_MS, undefined, { signal: late.signal }).catch(() => {});
  await Promise.race([opened, patience]);
  late.abort();
}

/** Resolves when nothing of its connection is left. */
export async function disconnected(client: Redis): Promise<void> {
  // Before `connect` there is nothing to end; between two tries no stream tells of the end.
  const ended = ['wait', 'end', 'close', 'reconnecting'].includes(client.status)
    ? Promise.resolve()
    : new Promise((resolve) => client.once('end', resolve));
  client.disconnect();
  await ended;
}
