// The store of a single replica: counters in this process, bounded in number. Also what stands in while Redis is away.
import type { Grant, Store, Take, TakeOutcome } from './store.ts';
import { type Window, WindowCounters } from './window-counters.ts';

/** Some 25 MB where all are in use. */
const MAX_COUNTERS = 100_000;

export interface MemoryStoreOptions {
  /** Whoever sprays keys cannot fill the memory; beyond it, the least used counters are given up. */
  readonly maxCounters?: number;
  /** Milliseconds, never going back. */
  readonly now?: () => number;
}

export class MemoryStore implements Store {
  readonly available = true;
  readonly replicas = 1;
  readonly #maxCounters: number;
  readonly #now: () => number;
  readonly #byLength = new Map<number, WindowCounters>();

  constructor({ maxCounters = MAX_COUNTERS, now = () => performance.now() }: MemoryStoreOptions = {}) {
    this.#maxCounters = maxCounters;
    this.#now = now;
  }

  /** Counters that are held. */
  get size(): number {
    let size = 0;
    for (const counters of this.#byLength.values()) size += counters.size;
    return size;
  }

  async take(takes: readonly Take[]): Promise<TakeOutcome> {
    return this.takeNow(takes);
  }

  takeNow(takes: readonly Take[]): TakeOutcome {
    const now = this.#now();
    let refusal: { refused: number; retryAfterMs: number } | undefined;
    for (let index = 0; index < takes.length; index += 1) {
      const take = takes[index] as Take;
      const window = this.#counters(take.windowMs).find(take.key, now);
      if ((window?.used ?? 0) + take.amount <= take.max) continue;
      const retryAfterMs = endsIn(window, take, now);
      if (refusal === undefined || retryAfterMs > refusal.retryAfterMs) {
        refusal = { refused: index, retryAfterMs };
      }
    }
    if (refusal !== undefined) return { taken: false, ...refusal };
    for (const take of takes) this.#add(take, take.amount, now);
    return { taken: true };
  }

  async takeUpTo(take: Take): Promise<Grant> {
    const now = this.#now();
    const used = this.#counters(take.windowMs).find(take.key, now)?.used ?? 0;
    const amount = Math.min(take.amount, Math.max(0, take.max - used));
    if (amount > 0) this.#add(take, amount, now);
    return { amount, endsInMs: endsIn(this.#counters(take.windowMs).find(take.key, now), take, now) };
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    this.#byLength.clear();
  }

  #add({ key, windowMs }: Take, amount: number, now: number): void {
    const counters = this.#counters(windowMs);
    const running = counters.find(key, now);
    if (running !== undefined) {
      running.used += amount;
      return;
    }
    counters.dropEnded(now);
    if (this.size >= this.#maxCounters) this.#largest().dropOne();
    counters.begin(key, amount, now);
  }

  #counters(windowMs: number): WindowCounters {
    const known = this.#byLength.get(windowMs);
    if (known !== undefined) return known;
    const counters = new WindowCounters(windowMs);
    this.#byLength.set(windowMs, counters);
    return counters;
  }

  #largest(): WindowCounters {
    return [...this.#byLength.values()].reduce((one, other) => (other.size > one.size ? other : one));
  }
}

function endsIn(window: Window | undefined, { windowMs }: Take, now: number): number {
  return window === undefined ? windowMs : window.endsAt - now;
}
