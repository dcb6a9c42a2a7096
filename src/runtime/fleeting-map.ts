// A Map of what comes and goes with every call. V8 keeps the tables that a Map has outgrown for a while (roster.ts): what
// these hold of what has gone is an empty box. And there is no table before the first value comes: each takes 150 bytes,
// and a session has many that stay empty.

interface Box<Value> {
  value: Value | undefined;
}

export class FleetingMap<Key extends string | number, Value extends object> {
  #boxes: Map<Key, Box<Value>> | undefined;

  get size(): number {
    return this.#boxes?.size ?? 0;
  }

  get(key: Key): Value | undefined {
    return this.#boxes?.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#boxes ??= new Map();
    this.#boxes.set(key, { value });
  }

  delete(key: Key): void {
    const box = this.#boxes?.get(key);
    if (box === undefined) return;
    box.value = undefined;
    this.#boxes?.delete(key);
  }

  /** All that are there at this moment, the oldest first. */
  values(): Value[] {
    return this.entries().map(([, value]) => value);
  }

  /** The same with their keys. */
  entries(): [Key, Value][] {
    return [...(this.#boxes ?? [])].flatMap(([key, { value }]) =>
      value === undefined ? [] : [[key, value]],
    );
  }
}
