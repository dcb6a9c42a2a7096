// What comes and goes with every call, for as long as it is there. A Set would do, but for V8's collector: the table of
// a Set that has grown old names the one that took its place, so each keeps the next alive, with all that was in it,
// until a full collection. Here nothing is left of what has gone (docs/performance.md; bench: small).

export interface Place {
  /** Takes what was entered off again. @returns whether it was still there */
  leave(): boolean;
}

/** A class rather than a closure: each call has several. */
class Entry<T> implements Place {
  readonly item: T;
  index: number;
  readonly #entries: Entry<T>[];

  constructor(item: T, entries: Entry<T>[]) {
    this.item = item;
    this.index = entries.length;
    this.#entries = entries;
  }

  leave(): boolean {
    const entries = this.#entries;
    if (entries[this.index] !== this) return false;
    const last = entries.pop();
    if (last !== undefined && last !== this) {
      entries[this.index] = last;
      last.index = this.index;
    }
    return true;
  }
}

export class Roster<T> implements Iterable<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  enter(item: T): Place {
    const entry = new Entry(item, this.#entries);
    this.#entries.push(entry);
    return entry;
  }

  /** All that are there at this moment, in no order. */
  [Symbol.iterator](): Iterator<T> {
    return this.#entries.map(({ item }) => item)[Symbol.iterator]();
  }
}
