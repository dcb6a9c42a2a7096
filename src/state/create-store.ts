// The store that a config asks for, and what is told of it in metrics.
import type { GatewayConfig } from '../config/config.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { MemoryStore } from './memory-store.ts';
import { RedisStore } from './redis-store.ts';
import type { Store } from './store.ts';

export interface StoreSurroundings {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export function createStore(
  { redis, outbound }: Pick<GatewayConfig, 'redis' | 'outbound'>,
  { logger, metrics }: StoreSurroundings,
): Store {
  const store =
    redis === undefined ? new MemoryStore() : new RedisStore({ ...redis, ca: outbound.ca, logger });
  metrics.watch({
    name: 'portico_store_available',
    help: 'Whether the store that replicas share answers: 1, or 0',
    read: () => (store.available ? 1 : 0),
  });
  metrics.watch({
    name: 'portico_replicas',
    help: 'Replicas that share the store, as last heard',
    read: () => store.replicas,
  });
  return store;
}
