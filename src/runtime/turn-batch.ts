// Work done for all that one turn of the event loop has brought, at its end: code that runs several times in a row finds
// itself and its data in the processor's caches (docs/performance.md; bench: small).

export class TurnBatch<T> {
  readonly #handle: (item: T) => void;
  #items: T[] = [];
  #isDue = false;

  /** @param handle must not throw: what comes after it in the batch would be lost */
  constructor(handle: (item: T) => void) {
    this.#handle = handle;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.flush());
  }

  /** Does at once what waits. */
  flush(): void {
    const items = this.#items;
    this.#items = [];
    this.#isDue = false;
    for (const item of items) this.#handle(item);
  }
}
