// Holds what is said on a stream before its beginning is out: each change once, and no more than fits.
import type { StreamMessage } from '../protocol/json-rpc.ts';
import { writeJson } from '../protocol/json-text.ts';
import type { StopSignal } from '../runtime/stop.ts';

const MAX_HELD_CHARACTERS = 1024 * 1024;

export class HeldStream {
  readonly #send: (message: StreamMessage) => void;
  readonly #maxCharacters: number;
  readonly #full = new AbortController();
  /** By what it says: a change that is told twice is still one change. */
  #held: Map<string, StreamMessage> | undefined = new Map();
  #characters = 0;

  /** @param maxCharacters of JSON text */
  constructor(send: (message: StreamMessage) => void, maxCharacters: number = MAX_HELD_CHARACTERS) {
    this.#send = send;
    this.#maxCharacters = maxCharacters;
  }

  /** Aborts when no more is held: what the beginning waits for is to be waited for no longer. */
  get full(): StopSignal {
    return this.#full.signal;
  }

  send(message: StreamMessage): void {
    if (this.#held === undefined) {
      this.#send(message);
      return;
    }
    const text = writeJson(message);
    if (this.#full.signal.aborted || this.#held.has(text)) return;
    this.#held.set(text, message);
    this.#characters += text.length;
    if (this.#characters >= this.#maxCharacters) this.#full.abort();
  }

  /** The beginning is out. */
  release(): void {
    const held = this.#held?.values() ?? [];
    this.#held = undefined;
    for (const message of held) this.#send(message);
  }
}
