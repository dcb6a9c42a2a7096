// Writes to a response at the pace of whoever reads it: what it has not read yet is counted and bounded, and a reader
// that takes nothing for too long is given up.
import type { ServerResponse } from 'node:http';
import type { BufferHold } from '../state/buffer-budget.ts';

export interface PacedResponseOptions {
  readonly response: ServerResponse;
  /** What the reader has not read yet counts here. */
  readonly hold: BufferHold;
  readonly maxQueuedBytes: number;
  readonly stallTimeoutMs: number;
}

export class PacedResponse {
  readonly #options: PacedResponseOptions;
  readonly #response: ServerResponse;
  readonly #onTooSlow: () => void;
  #drained: PromiseWithResolvers<void> | undefined;

  /** @param onTooSlow ends the response: there is no more room for what its reader leaves unread */
  constructor(options: PacedResponseOptions, onTooSlow: () => void) {
    this.#options = options;
    this.#response = options.response;
    this.#onTooSlow = onTooSlow;
  }

  /** @returns a promise to await when the reader is slow, undefined while it keeps up */
  write(text: string): Promise<void> | undefined {
    if (this.#response.writableLength > this.#options.maxQueuedBytes) return this.#giveUp();
    if (this.#response.write(text)) return undefined;
    if (!this.#account()) return this.#giveUp();
    if (this.#drained === undefined) {
      this.#drained = Promise.withResolvers<void>();
      this.#response.once('drain', () => this.#onDrain());
    }
    return this.#drained.promise;
  }

  /** What the response is about: it goes out however much is unread. */
  writeLast(text: string): void {
    this.#response.write(text);
    this.#account();
  }

  /** @param last goes out at once, in as many pieces as it has */
  end(...last: readonly (string | Buffer)[]): void {
    for (const piece of last.slice(0, -1)) this.#response.write(piece);
    this.#response.end(last.at(-1) ?? '');
    this.#account();
  }

  /** Nobody is left to read anything. */
  closed(): void {
    this.#options.hold.resize(0);
    this.#drained?.resolve();
  }

  /** Counts what the reader has not read yet; false where there is no room for it. */
  #account(): boolean {
    const { writableLength, writableHighWaterMark } = this.#response;
    if (writableLength <= writableHighWaterMark) return true;
    this.#startStallClock();
    return this.#options.hold.resize(writableLength);
  }

  /** Most readers are never waited for: nothing is listened to before. */
  #startStallClock(): void {
    const response = this.#response;
    if (response.listenerCount('timeout') === 0) response.on('timeout', this.#onTooSlow);
    response.socket?.setTimeout(this.#options.stallTimeoutMs);
  }

  #giveUp(): undefined {
    this.#onTooSlow();
  }

  #onDrain(): void {
    this.#response.socket?.setTimeout(0);
    this.#options.hold.resize(0);
    this.#drained?.resolve();
    this.#drained = undefined;
  }
}
