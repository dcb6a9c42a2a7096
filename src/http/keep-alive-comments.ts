// One timer for the keep-alive comments of every event stream: streams sit in slots, each tick serves one slot.
// A stream's first comment comes with its headers; this is for all that follow.
import { type Place, Roster } from '../runtime/roster.ts';

/** So many that 5,000 streams are served fifty at a time: all at once they would hold every call up for 0.2 s. */
const SLOTS = 100;
/** So few are served in no time. */
const MIN_SLOT_SIZE = 16;

export interface KeptAlive {
  writeComment(): void;
}

export class KeepAliveComments {
  readonly #slots = Array.from({ length: SLOTS }, () => new Roster<KeptAlive>());
  readonly #tickMs: number;
  #cursor = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param intervalMs how often each stream is served */
  constructor(intervalMs: number) {
    this.#tickMs = Math.max(1, Math.round(intervalMs / SLOTS));
  }

  /** How many streams are being kept alive. */
  get size(): number {
    return this.#slots.reduce((sum, slot) => sum + slot.size, 0);
  }

  /** Has it write a comment once an interval, until it leaves. */
  add(stream: KeptAlive): Place {
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
    return this.#slotWithRoom().enter(stream);
  }

  /**
   * The slot that is served last, a whole interval from now; of many streams that open at once, most come in earlier
   * ones: 600 in one took 25 ms (bench:streams).
   */
  #slotWithRoom(): Roster<KeptAlive> {
    const fair = Math.max(MIN_SLOT_SIZE, Math.ceil((this.size + 1) / SLOTS));
    let slot = this.#cursor;
    while (this.#slotAt(slot).size >= fair) slot = (slot + SLOTS - 1) % SLOTS;
    return this.#slotAt(slot);
  }

  #slotAt(index: number): Roster<KeptAlive> {
    return this.#slots[index] as Roster<KeptAlive>;
  }

  #tick(): void {
    if (this.size === 0) {
      this.#stop();
      return;
    }
    this.#cursor = (this.#cursor + 1) % SLOTS;
    for (const stream of this.#slotAt(this.#cursor)) stream.writeComment();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
