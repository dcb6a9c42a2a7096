// One timer for the keep-alive comments of every event stream: streams sit in slots, each tick serves one slot.
// A stream's first comment comes with its headers; this is for all that follow.
import { Roster } from '../runtime/roster.ts';

/** So many that 5,000 streams are served fifty at a time: all at once they would hold every call up for 0.2 s. */
const SLOTS = 100;

export class KeepAliveComments {
  readonly #slots = Array.from({ length: SLOTS }, () => new Roster<() => void>());
  readonly #tickMs: number;
  #cursor = 0;
  #size = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param intervalMs how often each stream is served */
  constructor(intervalMs: number) {
    this.#tickMs = Math.max(1, Math.round(intervalMs / SLOTS));
  }

  /** How many streams are being kept alive. */
  get size(): number {
    return this.#size;
  }

  /** Calls `comment` once an interval until the returned function is called. */
  add(comment: () => void): () => void {
    const slot = this.#slots[this.#cursor];
    if (slot === undefined) return () => {};
    const leave = slot.enter(comment);
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
    return () => {
      if (!leave()) return;
      this.#size -= 1;
      if (this.#size === 0) this.#stop();
    };
  }

  #tick(): void {
    this.#cursor = (this.#cursor + 1) % SLOTS;
    for (const comment of this.#slots[this.#cursor] ?? []) comment();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
