// Counters that take from the store for many requests at once: a request then waits for nothing, and the limit is
// passed by one lease a replica at most. What a window leaves over of a lease is lost.
import type { Grant, Store, Take } from '../../state/store.ts';

export type LeaseOutcome =
  | { readonly taken: true; undo(): void }
  | { readonly taken: false; readonly retryAfterMs: number };

interface Lease {
  /** Below zero: given out ahead of what the store will be asked for. */
  left: number;
  /** By the clock of this process; before the store has said, a window from the first request. */
  endsAt: number;
  /** Counts windows. */
  window: number;
  /** The store gave less than it was asked for, so the window holds no more. */
  exhausted: boolean;
  /** The request to the store that is under way. */
  topUp: Promise<void> | undefined;
}

export interface LeasesOptions {
  readonly store: Store;
  readonly now?: () => number;
  /** Leases held at least before any is forgotten; twice as many at most. */
  readonly maxLeases?: number;
}

const MAX_LEASES = 20_000;

export class Leases {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #maxLeases: number;
  /** Two generations: what was not asked for while the younger one filled up is forgotten with the older one. */
  #younger = new Map<string, Lease>();
  #older = new Map<string, Lease>();

  constructor({ store, now = () => performance.now(), maxLeases = MAX_LEASES }: LeasesOptions) {
    this.#store = store;
    this.#now = now;
    this.#maxLeases = maxLeases;
  }

  get size(): number {
    return this.#younger.size + this.#older.size;
  }

  /**
   * Waits only where more than a whole lease has been given out ahead.
   *
   * @param size of a lease
   * @throws StoreUnavailable
   */
  async take(take: Take, size: number): Promise<LeaseOutcome> {
    for (;;) {
      const taken = this.takeNow(take, size);
      if (taken !== undefined) return taken;
      const lease = this.#leaseOf(take);
      lease.topUp ??= this.#topUp(lease, take, size);
      await lease.topUp;
    }
  }

  /** The same at once; undefined, and nothing taken, where it would have to wait. */
  takeNow(take: Take, size: number): LeaseOutcome | undefined {
    const lease = this.#leaseOf(take);
    if (lease.left < take.amount) {
      if (lease.exhausted) return { taken: false, retryAfterMs: lease.endsAt - this.#now() };
      if (lease.left - take.amount < -size) return undefined;
    }
    lease.left -= take.amount;
    if (!lease.exhausted && lease.left < size / 2 && lease.topUp === undefined) {
      lease.topUp = this.#topUp(lease, take, size);
      // Whoever has to wait for it hears of its failure; the next request asks again.
      lease.topUp.catch(() => {});
    }
    const { window } = lease;
    return {
      taken: true,
      undo() {
        if (lease.window === window) lease.left += take.amount;
      },
    };
  }

  async #topUp(lease: Lease, take: Take, size: number): Promise<void> {
    const amount = Math.max(take.amount, size - lease.left);
    let grant: Grant;
    try {
      grant = await this.#store.takeUpTo({ ...take, amount });
    } finally {
      lease.topUp = undefined;
    }
    lease.left += grant.amount;
    lease.exhausted = grant.amount < amount;
    lease.endsAt = this.#now() + grant.endsInMs;
  }

  #leaseOf({ key, windowMs }: Take): Lease {
    const now = this.#now();
    const lease = this.#younger.get(key) ?? this.#older.get(key) ?? newLease();
    if (lease.endsAt <= now) {
      lease.left = 0;
      lease.exhausted = false;
      lease.endsAt = now + windowMs;
      lease.window += 1;
    }
    if (!this.#younger.has(key)) this.#remember(key, lease);
    return lease;
  }

  #remember(key: string, lease: Lease): void {
    if (this.#younger.size >= this.#maxLeases) {
      this.#older = this.#younger;
      this.#younger = new Map();
    }
    this.#younger.set(key, lease);
  }
}

function newLease(): Lease {
  return { left: 0, endsAt: Number.NEGATIVE_INFINITY, window: 0, exhausted: false, topUp: undefined };
}
