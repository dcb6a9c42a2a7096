// From open to ended: what an HTTP transport owes its calls and its closer, whichever protocol it speaks.
import type { HttpServerConfig } from '../../config/config.ts';
import type { GatewayError } from '../../errors.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { CallSlots } from '../call-slots.ts';
import type { ServerMessage, TransportEvents } from '../transport.ts';

export class TransportLife {
  readonly slots: CallSlots;
  /** Messages of the server that were dropped: they named nothing of ours, or were none at all. */
  strayMessages = 0;
  readonly #events: TransportEvents;
  readonly #logger: Logger;
  readonly #controller = new AbortController();
  #working = 0;
  /** Of those who wait for all work to be over. */
  #onSettled: (() => void)[] = [];
  #ended: GatewayError | undefined;

  constructor(config: HttpServerConfig, { events, logger }: { events: TransportEvents; logger: Logger }) {
    this.slots = new CallSlots(config);
    this.#events = events;
    this.#logger = logger;
  }

  /** Why nothing more is sent. */
  get ended(): GatewayError | undefined {
    return this.#ended;
  }

  /** Aborts at the end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @returns true for the first caller only */
  end(because: GatewayError): boolean {
    if (this.#ended !== undefined) return false;
    this.#ended = because;
    this.slots.close(because);
    this.#controller.abort(because);
    return true;
  }

  /** Work in the background that `settled` waits for. It must not reject. */
  track(work: Promise<void>): void {
    void work.then(this.hold());
  }

  /** The same for work that says itself when it is over, once. */
  hold(): () => void {
    this.#working += 1;
    return () => {
      this.#working -= 1;
      if (this.#working > 0) return;
      const listeners = this.#onSettled;
      this.#onSettled = [];
      for (const listener of listeners) listener();
    };
  }

  settled(): Promise<void> {
    if (this.#working === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onSettled.push(resolve);
    return promise;
  }

  /** Hands over a message that names no call. A listener that throws must not cost the others their stream. */
  tell(message: ServerMessage): void {
    try {
      this.#events.onUnsolicited(message);
    } catch (thrown) {
      this.#logger.error({ err: thrown }, 'a message of the server could not be handled');
    }
  }

  /** Told once to whoever runs the gateway, then counted: a server that does it does it all the time. */
  stray(): void {
    this.strayMessages += 1;
    if (this.strayMessages === 1) this.#logger.warn('the server sent a message that belongs to nothing');
  }
}
