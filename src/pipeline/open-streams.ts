// How many event streams each caller holds open that belong to no call: subscriptions, and GET streams of sessions.
// One costs little; a caller that opens them without end would cost all others their place.
import { InFlight } from '../access/limits/in-flight.ts';
import { GatewayError } from '../errors.ts';

const RETRY_AFTER_MS = 10_000;

export class OpenStreams {
  readonly #open = new InFlight();

  /** Callers that hold any. */
  get callers(): number {
    return this.#open.size;
  }

  /**
   * Counts one more of `principal`. Returns the way to count it no more; calling that again does nothing.
   *
   * @throws GatewayError no-capacity
   */
  enter(principal: string, max: number): () => void {
    if (!this.#open.hasRoom(principal, max)) {
      const text = 'Too many event streams are open; close one, or try again later';
      throw new GatewayError('no-capacity', { text, reason: 'streams', retryAfterMs: RETRY_AFTER_MS });
    }
    this.#open.enter(principal);
    let entered = true;
    return () => {
      if (entered) this.#open.leave(principal);
      entered = false;
    };
  }
}
