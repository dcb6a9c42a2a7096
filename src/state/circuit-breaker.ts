// Decides when it is no use to ask: after a number of failures in a row, until a probe has succeeded. Knows neither
// clock nor wire.

export class CircuitBreaker {
  readonly #threshold: number;
  #failures = 0;
  #open: boolean;

  /** @param threshold failures in a row that open it */
  constructor(threshold: number, { open }: { open: boolean }) {
    this.#threshold = threshold;
    this.#open = open;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** An answer ends the row of failures; only a probe closes what is open, not an answer that came late. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** @returns whether this failure opened it */
  failed(): boolean {
    this.#failures += 1;
    if (this.#open || this.#failures < this.#threshold) return false;
    this.#open = true;
    return true;
  }

  /** @returns whether it had been open */
  probed(): boolean {
    const wasOpen = this.#open;
    this.#failures = 0;
    this.#open = false;
    return wasOpen;
  }
}
