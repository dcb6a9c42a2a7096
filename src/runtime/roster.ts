// What comes and goes with every call, for as long as it is there. A Set would do, but for V8's collector: the table of
// a Set that has grown old names the one that took its place, so each keeps the next alive, with all that was in it,
// until a full collection. Here nothing is left of what has gone (docs/performance.md; bench: small).

interface Entry<T> {
  readonly item: T;
  index: number;
}

export class Roster<T> implements Iterable<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** @returns what takes it off again, and tells whether it was still there */
  enter(item: T): () => boolean {
    const entry: Entry<T> = { item, index: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#leave(entry);
  }

  /** All that are there at this moment, in no order. */
  [Symbol.iterator](): Iterator<T> {
    return this.#entries.map(({ item }) => item)[Symbol.iterator]();
  }

  #leave(entry: Entry<T>): boolean {
    if (this.#entries[entry.index] !== entry) return false;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      this.#entries[entry.index] = last;
      last.index = entry.index;
    }
    return true;
  }
}
