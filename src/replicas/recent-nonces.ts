// Remembers which envelopes have been taken, for as long as their time lets them pass. Bounded: when there are too
// many, the oldest are forgotten, and everything as old as they are is refused from then on.

export interface RecentNoncesOptions {
  /** How far the clocks of two replicas may be apart, either way. */
  readonly toleranceMs: number;
  readonly max?: number;
}

/** At some 100 bytes each; 3,000 a second fill it in the minute that each may be remembered. */
const MAX_NONCES = 200_000;
const BUCKET_MS = 5_000;

export type Freshness = 'fresh' | 'time' | 'replayed';

export class RecentNonces {
  readonly #toleranceMs: number;
  readonly #max: number;
  /** By the time that the envelopes name, so that all of one bucket are forgotten at once. */
  readonly #buckets = new Map<number, Set<string>>();
  #size = 0;
  /** What is older could have been here. */
  #forgottenBefore = Number.NEGATIVE_INFINITY;

  constructor({ toleranceMs, max = MAX_NONCES }: RecentNoncesOptions) {
    this.#toleranceMs = toleranceMs;
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes a nonce, once. @param at the time that its envelope names; @param now by the same kind of clock */
  take(nonce: string, at: number, now: number): Freshness {
    if (Math.abs(now - at) > this.#toleranceMs || at < this.#forgottenBefore) return 'time';
    const bucket = Math.floor(at / BUCKET_MS);
    const known = this.#buckets.get(bucket);
    if (known?.has(nonce)) return 'replayed';
    if (known === undefined) this.#forgetOld(now);
    if (this.#size >= this.#max) this.#forgetOldest();
    if (at < this.#forgottenBefore) return 'time';
    const taken = this.#buckets.get(bucket) ?? new Set();
    this.#buckets.set(bucket, taken.add(nonce));
    this.#size += 1;
    return 'fresh';
  }

  #forgetOld(now: number): void {
    for (const bucket of this.#buckets.keys()) {
      if ((bucket + 1) * BUCKET_MS < now - this.#toleranceMs) this.#forget(bucket);
    }
  }

  #forgetOldest(): void {
    const oldest = Math.min(...this.#buckets.keys());
    this.#forget(oldest);
    this.#forgottenBefore = (oldest + 1) * BUCKET_MS;
  }

  #forget(bucket: number): void {
    this.#size -= this.#buckets.get(bucket)?.size ?? 0;
    this.#buckets.delete(bucket);
  }
}
