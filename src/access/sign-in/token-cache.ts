// What has been found out about tokens, by the hash of each: bounded, and never kept past its time.

export interface CacheEntry {
  /** By `Date.now()`. */
  readonly untilMs: number;
}

export class TokenCache<Entry extends CacheEntry> {
  readonly #maxEntries: number;
  /** In the order of last use. */
  readonly #entries = new Map<string, Entry>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(tokenId: string, nowMs: number): Entry | undefined {
    const entry = this.#entries.get(tokenId);
    if (entry === undefined) return undefined;
    this.#entries.delete(tokenId);
    if (entry.untilMs <= nowMs) return undefined;
    this.#entries.set(tokenId, entry);
    return entry;
  }

  set(tokenId: string, entry: Entry): void {
    this.#entries.delete(tokenId);
    this.#entries.set(tokenId, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
  }

  clear(): void {
    this.#entries.clear();
  }
}
