// How many calls one link carries at a time. The rest wait in a bounded line, first come first served; whoever waits
// too long, or finds the line full, is told to come back later.
import { GatewayError } from '../errors.ts';

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

/** What a refused caller is told; a slot frees up as calls end, which nobody can foresee better. */
const RETRY_AFTER_MS = 1_000;

export class CallSlots {
  readonly #options: CallSlotsOptions;
  /** In order of arrival; a set, so that leaving from the middle costs nothing. */
  readonly #waiting = new Set<Waiter>();
  #inFlight = 0;
  #closedBecause: GatewayError | undefined;

  constructor(options: CallSlotsOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for a slot.
   *
   * @throws GatewayError no-capacity, the error that the slots were closed with, or the signal's reason
   */
  async acquire(signal: AbortSignal): Promise<ReleaseSlot> {
    signal.throwIfAborted();
    if (this.#closedBecause) throw this.#closedBecause;
    if (this.#inFlight < this.#options.maxInFlight) this.#inFlight += 1;
    else await this.#wait(signal);
    return this.#releaseOnce();
  }

  /** Refuses everyone who waits, and everyone who comes. Idempotent; calls in flight are not touched. */
  close(because: GatewayError): void {
    this.#closedBecause ??= because;
    for (const waiter of [...this.#waiting]) waiter.refuse(this.#closedBecause);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { max, timeoutMs } = this.#options.queue;
    if (this.#waiting.size >= max) throw noCapacity('queue-full');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Leaves the line at once, not a tick later: a slot handed to someone who has left would be lost for good.
    const refuse = (error: unknown) => {
      if (this.#waiting.delete(waiter)) reject(error);
    };
    const waiter: Waiter = { admit: resolve, refuse };
    const onAbort = () => refuse(signal.reason);
    const timer = setTimeout(() => refuse(noCapacity('queue-timeout')), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting.add(waiter);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  #releaseOnce(): ReleaseSlot {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#passOn();
    };
  }

  /** The slot goes straight to the next in line: it is never free in between, so nobody can jump the queue. */
  #passOn(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      next.admit();
      return;
    }
    this.#inFlight -= 1;
  }
}

function noCapacity(reason: 'queue-full' | 'queue-timeout'): GatewayError {
  return new GatewayError('no-capacity', { reason, retryAfterMs: RETRY_AFTER_MS });
}
