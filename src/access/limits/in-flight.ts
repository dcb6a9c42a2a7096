// How many requests run at a time, by counter, on this replica. A counter exists while it counts something.

export class InFlight {
  readonly #running = new Map<string, number>();

  /** Counters that count something. */
  get size(): number {
    return this.#running.size;
  }

  hasRoom(counter: string, max: number): boolean {
    return (this.#running.get(counter) ?? 0) < max;
  }

  enter(counter: string): void {
    this.#running.set(counter, (this.#running.get(counter) ?? 0) + 1);
  }

  leave(counter: string): void {
    const left = (this.#running.get(counter) ?? 0) - 1;
    if (left > 0) this.#running.set(counter, left);
    else this.#running.delete(counter);
  }
}
