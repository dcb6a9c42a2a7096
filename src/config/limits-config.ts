// `gateway.limits` and `gateway.redis` as the rest of the code sees them.

export type LimitKeyPart = 'ip' | 'principal' | 'client' | 'group' | 'server' | 'tool';

export interface LimitConfig {
  /** Unlike the name of any other. */
  readonly name: string;
  /** What is counted apart, by all of these together. */
  readonly key: readonly LimitKeyPart[];
  /** The target that it counts. */
  readonly match: string;
  /** Undefined where only `inFlight` limits. */
  readonly max: number | undefined;
  readonly windowMs: number;
  /** Most at a time, on this replica. */
  readonly inFlight: number | undefined;
  /** Undefined: everything counts for one. */
  readonly cost: { readonly call: number; readonly list: number } | undefined;
  /** How much is taken from Redis at once; undefined: each request takes for itself. */
  readonly lease: number | undefined;
}

export interface RedisConfig {
  /** redis:// or rediss://, with its credentials. */
  readonly url: string;
  readonly keyPrefix: string;
  readonly timeoutMs: number;
}
