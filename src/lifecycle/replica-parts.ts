// What makes this replica one of several, as long as the process lives; nothing of it where it is the only one.
import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { ReplicaConfig } from '../config/replica-config.ts';
import type { HandOverFault } from '../http/read-handed-over.ts';
import { ReplicaClient } from '../replicas/replica-client.ts';
import { type ReplicaKeys, replicaKeys } from '../replicas/replica-keys.ts';
import { createReplicaMetrics, type ReplicaMetrics } from '../replicas/replica-metrics.ts';
import { ReplicaNetwork } from '../replicas/replica-network.ts';
import type { BufferBudget } from '../state/buffer-budget.ts';
import { RedisStore } from '../state/redis-store.ts';
import type { Store } from '../state/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface ReplicaParts {
  readonly config: ReplicaConfig;
  readonly keys: ReplicaKeys;
  readonly network: ReplicaNetwork;
  readonly metrics: ReplicaMetrics;
  /** A request to the listener for replicas was not taken: counts it, and says so once in a while. */
  onRefused(reason: HandOverFault): void;
  /** What of another config concerns what lives on. */
  applyConfig(config: Config): void;
}

export interface ReplicaPartsOptions {
  readonly config: Config;
  readonly store: Store;
  readonly budget: BufferBudget;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Long enough never to be given twice, and fit for a key, a file's name or a log. */
const ID_BYTES = 12;
/** Whoever sends garbage does not fill the log. */
const WARN_EVERY_MS = 600_000;
/** What to do about those that do not go by themselves. */
const ADVICE: Readonly<Partial<Record<HandOverFault, string>>> = {
  signature: 'gateway.replica.secret has to be the same on all replicas',
  time: 'keep the clocks of all replicas in step (NTP): they differ by more than 30 s',
  shape: 'run one version of Portico on all replicas',
  size: 'gateway.bodyLimit has to be the same on all replicas',
};
/** For what stands around a message in a frame. */
const FRAME_BYTES = 64 * 1024;

export function createReplicaParts({
  config,
  store,
  budget,
  logger,
  metrics,
}: ReplicaPartsOptions): ReplicaParts | undefined {
  const { replica, redis, outbound } = config.gateway;
  if (replica === undefined || redis === undefined || !(store instanceof RedisStore)) return undefined;
  const id = randomBytes(ID_BYTES).toString('base64url');
  const keys = replicaKeys(replica.secret);
  const { ca } = outbound;
  const replicaMetrics = createReplicaMetrics(metrics);
  let maxFrameBytes = longestFrame(config);
  const client = new ReplicaClient({ self: id, keys, ca, budget, maxFrameBytes: () => maxFrameBytes });
  const network = new ReplicaNetwork({
    ...{ id, keys, client, logger, config: replica, metrics: replicaMetrics },
    redis: { url: redis.url, keyPrefix: redis.keyPrefix, ca, connection: store.connection },
  });
  metrics.watch({
    name: 'portico_replicas_live',
    help: 'Replicas that can be handed messages, as last heard, this one among them',
    read: () => network.live.length,
  });
  const warned = new Map<HandOverFault, number>();
  return {
    config: replica,
    keys,
    network,
    metrics: replicaMetrics,
    onRefused(reason) {
      replicaMetrics.onRefused(reason);
      const now = performance.now();
      if (now < (warned.get(reason) ?? Number.NEGATIVE_INFINITY) + WARN_EVERY_MS) return;
      warned.set(reason, now);
      const advice = ADVICE[reason];
      logger.warn(
        { reason, ...(advice && { advice }) },
        'a request to the listener for replicas was not taken',
      );
    },
    applyConfig(changed) {
      maxFrameBytes = longestFrame(changed);
    },
  };
}

/** An answer may hold what several servers have said, written anew. */
function longestFrame({ servers }: Config): number {
  return servers.reduce((sum, { maxMessageBytes }) => sum + 2 * maxMessageBytes, FRAME_BYTES);
}
