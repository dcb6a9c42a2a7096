// How many requests run at a time, by counter, on this replica.

interface Counter {
  running: number;
}

/** Counters that are kept though they count nothing. One made and dropped with each request: see runtime/roster.ts. */
const MAX_IDLE = 1_000;

export class InFlight {
  #counters = new Map<string, Counter>();
  #busy = 0;

  /** Counters that count something. */
  get size(): number {
    return this.#busy;
  }

  /** Counters that are held, those that count nothing among them. */
  get held(): number {
    return this.#counters.size;
  }

  hasRoom(counter: string, max: number): boolean {
    return (this.#counters.get(counter)?.running ?? 0) < max;
  }

  enter(counter: string): void {
    const entered = this.#counters.get(counter) ?? this.#begin(counter);
    if (entered.running === 0) this.#busy += 1;
    entered.running += 1;
  }

  leave(counter: string): void {
    const left = this.#counters.get(counter);
    if (left === undefined || left.running === 0) return;
    left.running -= 1;
    if (left.running === 0) this.#busy -= 1;
  }

  #begin(name: string): Counter {
    if (this.#counters.size - this.#busy >= MAX_IDLE) {
      this.#counters = new Map([...this.#counters].filter(([, { running }]) => running > 0));
    }
    const counter = { running: 0 };
    this.#counters.set(name, counter);
    return counter;
  }
}
