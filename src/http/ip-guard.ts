// The guard at the edge: how many requests an address may make, whoever is behind it, before anything of it is read. It
// counts in this process first, so that a flood costs no round trip; then, where there are several replicas, for all.
import rateLimit, { type RateLimitOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Arrival } from '../access/limits/limit.ts';
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

/** Throws where an address has made too many requests. */
export type GuardAddress = (request: FastifyRequest) => Promise<void>;

export interface IpGuards {
  /**
   * Guards by these limits. One of the same name and window goes on counting from where another guard of it is.
   * Undefined where nothing is to be guarded.
   */
  guard(options: IpGuardOptions): GuardAddress | undefined;
}

interface Count {
  /** Of its limit. */
  readonly name: string;
  max: number;
  readonly take: ReturnType<FastifyInstance['createRateLimit']>;
}

/** To be made before the routes that are guarded. */
export async function createIpGuards(app: FastifyInstance): Promise<IpGuards> {
  await app.register(rateLimit, { global: false });
  let counts = new Map<string, Count>();

  function countOf({ name, max = 0, windowMs }: LimitConfig): [string, Count] {
    const key = `${name} ${windowMs}`;
    const known = counts.get(key);
    if (known !== undefined) {
      known.max = max;
      return [key, known];
    }
    const count: Count = {
      name,
      max,
      take: app.createRateLimit({ ...COUNTING, max: () => count.max, timeWindow: windowMs }),
    };
    return [key, count];
  }

  return {
    guard({ guards, admitAddress }) {
      counts = new Map(guards.map(countOf));
      if (guards.length === 0) return undefined;
      const held = [...counts.values()];
      return async (request) => {
        for (const { name, take } of held) {
          const counted = await take(request);
          if (counted.isAllowed || !counted.isExceeded) continue;
          throw new GatewayError('rate-limited', { reason: `rate:${name}`, retryAfterMs: counted.ttl });
        }
        await admitAddress?.(request.edge.arrival);
      };
    },
  };
}

const COUNTING: RateLimitOptions = {
  cache: MAX_ADDRESSES,
  keyGenerator: ({ edge }: FastifyRequest) => edge.arrival.address,
};
