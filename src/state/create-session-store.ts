// Where a config has its sessions: in the Redis that replicas share, or in process.
import type { Metrics } from '../telemetry/metrics.ts';
import { MemorySessionStore } from './memory-session-store.ts';
import { RedisSessionStore } from './redis-session-store.ts';
import { RedisStore } from './redis-store.ts';
import type { SessionLimits, SessionStore } from './session-store.ts';
import type { Store } from './store.ts';

export interface SessionStoreOptions {
  readonly store: Store;
  /** Undefined where there are no others. */
  readonly replica: { readonly id: string; readonly macKey: Buffer } | undefined;
  readonly limits: SessionLimits;
  readonly metrics: Metrics;
}

export function createSessionStore({ store, replica, limits, metrics }: SessionStoreOptions): SessionStore {
  const forged = metrics.counter(
    'portico_session_records_refused_total',
    'Records of sessions in Redis that no replica has written as they are',
  );
  if (replica === undefined || !(store instanceof RedisStore)) return new MemorySessionStore(limits);
  const { id, macKey } = replica;
  const { connection } = store;
  return new RedisSessionStore({ connection, replica: id, macKey, limits, onForged: () => forged.inc() });
}
