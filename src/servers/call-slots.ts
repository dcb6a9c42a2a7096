// How many calls one link carries at a time. The rest wait in bounded lines, one for each caller, which are served in
// turn: nobody's hundred calls hold up another's one. Whoever waits too long, or finds no room, is told to come back.
import { GatewayError } from '../errors.ts';
import type { StopSignal } from '../runtime/stop.ts';

export interface CallSlotsOptions {
  readonly maxInFlight: number;
  readonly queue: { readonly max: number; readonly timeoutMs: number };
}

/** Gives the slot back; calling it again does nothing. */
export type ReleaseSlot = () => void;

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
}

export interface QueueStats {
  /** Calls that had to wait, and how long in all. */
  readonly waits: number;
  readonly waitedMs: number;
}

/** What a refused caller is told; a slot frees up as calls end, which nobody can foresee better. */
const RETRY_AFTER_MS = 1_000;
/** One caller may hold all slots but this part, which is there for the others; of few slots none is kept back. */
const KEPT_FOR_OTHERS = 1 / 8;

export class CallSlots {
  readonly #options: CallSlotsOptions;
  readonly #maxOfOne: number;
  /** By caller, in the order of their turns. A set keeps the order of arrival, and leaving its middle costs nothing. */
  readonly #lines = new Map<string | undefined, Set<Waiter>>();
  readonly #held = new Map<string | undefined, number>();
  #inFlight = 0;
  #waiting = 0;
  #waits = 0;
  #waitedMs = 0;
  #closedBecause: GatewayError | undefined;

  constructor(options: CallSlotsOptions) {
    const { maxInFlight } = options;
    this.#options = options;
    this.#maxOfOne = maxInFlight - Math.floor(maxInFlight * KEPT_FOR_OTHERS);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get stats(): QueueStats {
    return { waits: this.#waits, waitedMs: this.#waitedMs };
  }

  /**
   * A slot that is free, as one mostly is; undefined where it has to be waited for.
   *
   * @param caller among whom slots are shared out; undefined for Portico itself
   * @throws GatewayError no-capacity, the error that the slots were closed with, or the signal's reason
   */
  acquireNow(signal: StopSignal, caller?: string): ReleaseSlot | undefined {
    signal.throwIfAborted();
    if (this.#closedBecause) throw this.#closedBecause;
    if (!this.#mayHave(caller)) return undefined;
    this.#take(caller);
    return this.#releaseOnce(caller);
  }

  /** The same, and waits. */
  async acquire(signal: StopSignal, caller?: string): Promise<ReleaseSlot> {
    const free = this.acquireNow(signal, caller);
    if (free !== undefined) return free;
    await this.#wait(signal, caller);
    return this.#releaseOnce(caller);
  }

  /** Refuses everyone who waits, and everyone who comes. Idempotent; calls in flight are not touched. */
  close(because: GatewayError): void {
    this.#closedBecause ??= because;
    for (const line of [...this.#lines.values()]) {
      for (const waiter of [...line]) waiter.refuse(this.#closedBecause);
    }
  }

  async #wait(signal: StopSignal, caller: string | undefined): Promise<void> {
    const { max, timeoutMs } = this.#options.queue;
    if (this.#waiting >= max && !this.#makeRoom(caller)) throw noCapacity('queue-full');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Leaves the line at once, not a tick later: a slot handed to someone who has left would be lost for good.
    const refuse = (error: unknown) => {
      if (this.#leave(caller, waiter)) reject(error);
    };
    const waiter: Waiter = { admit: resolve, refuse };
    const onAbort = () => refuse(signal.reason);
    const timer = setTimeout(() => refuse(noCapacity('queue-timeout')), timeoutMs);
    signal.addEventListener('abort', onAbort);
    const startedAt = performance.now();
    this.#join(caller, waiter);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#waits += 1;
      this.#waitedMs += performance.now() - startedAt;
    }
  }

  #mayHave(caller: string | undefined): boolean {
    const maxOfThis = caller === undefined ? this.#options.maxInFlight : this.#maxOfOne;
    return this.#inFlight < this.#options.maxInFlight && (this.#held.get(caller) ?? 0) < maxOfThis;
  }

  #take(caller: string | undefined): void {
    this.#inFlight += 1;
    this.#held.set(caller, (this.#held.get(caller) ?? 0) + 1);
  }

  #join(caller: string | undefined, waiter: Waiter): void {
    const line = this.#lines.get(caller) ?? new Set();
    this.#lines.set(caller, line.add(waiter));
    this.#waiting += 1;
  }

  #leave(caller: string | undefined, waiter: Waiter): boolean {
    const line = this.#lines.get(caller);
    if (!line?.delete(waiter)) return false;
    if (line.size === 0) this.#lines.delete(caller);
    this.#waiting -= 1;
    return true;
  }

  /** The last of the longest line gives way to a caller whose own is shorter. */
  #makeRoom(caller: string | undefined): boolean {
    const [longest] = [...this.#lines.values()].sort((one, other) => other.size - one.size);
    if (longest === undefined || longest.size <= (this.#lines.get(caller)?.size ?? 0) + 1) return false;
    [...longest].at(-1)?.refuse(noCapacity('queue-full'));
    return true;
  }

  #releaseOnce(caller: string | undefined): ReleaseSlot {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#inFlight -= 1;
      const left = (this.#held.get(caller) ?? 1) - 1;
      if (left === 0) this.#held.delete(caller);
      else this.#held.set(caller, left);
      this.#passOn();
    };
  }

  /** A slot goes straight to the next in turn: it is never free in between, so nobody can jump the queue. */
  #passOn(): void {
    for (const [caller, line] of this.#lines) {
      const [next] = line;
      if (next === undefined || !this.#mayHave(caller)) continue;
      this.#leave(caller, next);
      // Its caller's turn is over: the rest of the line stands behind the others.
      if (this.#lines.delete(caller)) this.#lines.set(caller, line);
      this.#take(caller);
      next.admit();
      return;
    }
  }
}

function noCapacity(reason: 'queue-full' | 'queue-timeout'): GatewayError {
  return new GatewayError('no-capacity', { reason, retryAfterMs: RETRY_AFTER_MS });
}
