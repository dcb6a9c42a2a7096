// How long is waited before a stream that the other side ended is opened again: longer each time, until one has held
// for a while. To be answered is not enough: a server that agrees and then hangs up would be asked at full speed.

export interface ReopenLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** A stream that lived this long was of use. */
const SUSTAINED_MS = 10_000;

export class ReopenPause {
  readonly #limits: ReopenLimits;
  #nextMs: number;

  constructor(limits: ReopenLimits) {
    this.#limits = limits;
    this.#nextMs = limits.firstMs;
  }

  /** @param livedMs how long the stream that is over now was open; 0 where it never was */
  after(livedMs: number): number {
    if (livedMs >= SUSTAINED_MS) this.#nextMs = this.#limits.firstMs;
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(pauseMs * 2, this.#limits.maxMs);
    return pauseMs;
  }
}
