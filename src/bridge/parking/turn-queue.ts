// One at a time, first come first served, nobody longer in line than they care to be.
import { GatewayError } from '../../errors.ts';
import type { StopSignal } from '../../runtime/stop.ts';

export class TurnQueue {
  readonly #line: { admit: () => void }[] = [];
  #taken = false;

  /**
   * @returns the way to give the turn back; calling it again does nothing
   * @throws GatewayError no-capacity after `patienceMs`, or the signal's reason
   */
  async take(signal: StopSignal, patienceMs: number): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#taken) await this.#wait(signal, patienceMs);
    this.#taken = true;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken = false;
      this.#line.shift()?.admit();
    };
  }

  get waiting(): number {
    return this.#line.length;
  }

  async #wait(signal: StopSignal, patienceMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const place = {
      // The turn passes on before the next line of code runs, so that nobody slips in between.
      admit: () => {
        this.#taken = true;
        resolve();
      },
    };
    this.#line.push(place);
    // Out of the line at once: whoever has given up must not be handed the turn.
    const leave = (reason: unknown) => {
      const index = this.#line.indexOf(place);
      if (index < 0) return;
      this.#line.splice(index, 1);
      reject(reason);
    };
    const onAbort = () => leave(signal.reason);
    const text = 'Another call to this server waits for an answer of yours; try again later';
    const onTimeout = () =>
      leave(new GatewayError('no-capacity', { text, reason: 'turn', retryAfterMs: 5_000 }));
    const timer = setTimeout(onTimeout, patienceMs);
    signal.addEventListener('abort', onAbort);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }
}
