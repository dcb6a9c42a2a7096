// How many event streams each caller holds open that belong to no call: subscriptions, and GET streams of sessions.
// One costs little; a caller that opens them without end would cost all others their place.
import { InFlight } from '../access/limits/in-flight.ts';
import { GatewayError } from '../errors.ts';
import type { Place } from '../runtime/roster.ts';

const RETRY_AFTER_MS = 10_000;

export class OpenStreams {
  readonly #open = new InFlight();

  /** Callers that hold any. */
  get callers(): number {
    return this.#open.size;
  }

  /**
   * Counts one more of `principal`, until it leaves.
   *
   * @throws GatewayError no-capacity
   */
  enter(principal: string, max: number): Place {
    if (!this.#open.hasRoom(principal, max)) {
      const text = 'Too many event streams are open; close one, or try again later';
      throw new GatewayError('no-capacity', { text, reason: 'streams', retryAfterMs: RETRY_AFTER_MS });
    }
    return new CountedStream(this.#open, principal);
  }
}

class CountedStream implements Place {
  readonly #open: InFlight;
  readonly #principal: string;
  #isOpen = true;

  constructor(open: InFlight, principal: string) {
    this.#open = open;
    this.#principal = principal;
    open.enter(principal);
  }

  leave(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#open.leave(this.#principal);
    return true;
  }
}
