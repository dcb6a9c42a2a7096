// A Map of what comes and goes with every call. V8 keeps the tables that a Map has outgrown for a while (roster.ts): what
// these hold of what has gone is an empty box.

interface Box<Value> {
  value: Value | undefined;
}

export class FleetingMap<Key extends string | number, Value extends object> {
  readonly #boxes = new Map<Key, Box<Value>>();

  get size(): number {
    return this.#boxes.size;
  }

  get(key: Key): Value | undefined {
    return this.#boxes.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#boxes.set(key, { value });
  }

  delete(key: Key): void {
    const box = this.#boxes.get(key);
    if (box === undefined) return;
    box.value = undefined;
    this.#boxes.delete(key);
  }

  /** All that are there at this moment, the oldest first. */
  values(): Value[] {
    return [...this.#boxes.values()].flatMap(({ value }) => (value === undefined ? [] : [value]));
  }
}
