// What comes and goes with every call, by numbers that are given out here. A Map would do, but for what roster.ts says.

/** Doubled whenever half of the places are taken. */
const FIRST_PLACES = 8;

interface Numbered {
  readonly id: number;
}

export class NumberedTable<T extends Numbered> implements Iterable<T> {
  /** Each item's is the rest of its number. */
  #places: (T | undefined)[] = new Array(FIRST_PLACES).fill(undefined);
  #lastNumber = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The next of 1, 2, 3, ... whose place is free. */
  nextNumber(): number {
    if (this.#size * 2 >= this.#places.length) this.#grow();
    do this.#lastNumber += 1;
    while (this.#places[this.#placeOf(this.#lastNumber)] !== undefined);
    return this.#lastNumber;
  }

  /** @param item its number is the last that was given out */
  add(item: T): void {
    this.#places[this.#placeOf(item.id)] = item;
    this.#size += 1;
  }

  get(id: number): T | undefined {
    const item = this.#places[this.#placeOf(id)];
    return item?.id === id ? item : undefined;
  }

  delete(item: T): void {
    if (this.get(item.id) !== item) return;
    this.#places[this.#placeOf(item.id)] = undefined;
    this.#size -= 1;
  }

  /** All that are there at this moment, in no order. */
  [Symbol.iterator](): Iterator<T> {
    return this.#places.filter((item) => item !== undefined)[Symbol.iterator]();
  }

  #placeOf(id: number): number {
    return id % this.#places.length;
  }

  /** What has different places among few has different ones among twice as many. */
  #grow(): void {
    const items = [...this];
    this.#places = new Array(this.#places.length * 2).fill(undefined);
    for (const item of items) this.#places[this.#placeOf(item.id)] = item;
  }
}
