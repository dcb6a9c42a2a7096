// The guard at the edge: how many requests an address may make, whoever is behind it, before anything of it is read. It
// counts in this process first, so that a flood costs no round trip; then, where there are several replicas, for all.
import rateLimit, { type RateLimitOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Arrival } from '../access/limit.ts';
import type { LimitConfig } from '../config/limits-config.ts';
import { GatewayError } from '../errors.ts';

export interface IpGuardOptions {
  readonly guards: readonly LimitConfig[];
  /**
   * Counts for all replicas; undefined where there is one.
   *
   * @throws GatewayError rate-limited
   */
  admitAddress?: ((arrival: Arrival) => Promise<void>) | undefined;
}

/** Addresses that are remembered; beyond them those not heard of for longest are forgotten. */
const MAX_ADDRESSES = 50_000;

/** To be made before the routes that it guards. Undefined where nothing is to be guarded. */
export async function createIpGuard(
  app: FastifyInstance,
  { guards, admitAddress }: IpGuardOptions,
): Promise<onRequestAsyncHookHandler | undefined> {
  if (guards.length === 0) return undefined;
  await app.register(rateLimit, { global: false });
  const counts = guards.map((guard) => ({ guard, count: app.createRateLimit(countingOptions(guard)) }));
  return async (request) => {
    for (const { guard, count } of counts) {
      const counted = await count(request);
      if (counted.isAllowed || !counted.isExceeded) continue;
      throw new GatewayError('rate-limited', { reason: `rate:${guard.name}`, retryAfterMs: counted.ttl });
    }
    await admitAddress?.(request.edge.arrival);
  };
}

function countingOptions({ max = 0, windowMs }: LimitConfig): RateLimitOptions {
  return {
    max,
    timeWindow: windowMs,
    cache: MAX_ADDRESSES,
    keyGenerator: ({ edge }: FastifyRequest) => edge.arrival.address,
  };
}
