// What has been found out about tokens, by the hash of each: bounded, and never kept past its time.

export interface CacheEntry {
  /** By `Date.now()`. */
  readonly untilMs: number;
}

interface Kept<Entry> {
  readonly entry: Entry;
  /** Since it was last passed over for one that was not. */
  isUsed: boolean;
}

export class TokenCache<Entry extends CacheEntry> {
  readonly #maxEntries: number;
  /** The longest kept first. To be moved with each use would leave tables behind as runtime/roster.ts tells. */
  readonly #kept = new Map<string, Kept<Entry>>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(tokenId: string, nowMs: number): Entry | undefined {
    const kept = this.#kept.get(tokenId);
    if (kept === undefined) return undefined;
    if (kept.entry.untilMs <= nowMs) {
      this.#kept.delete(tokenId);
      return undefined;
    }
    kept.isUsed = true;
    return kept.entry;
  }

  set(tokenId: string, entry: Entry): void {
    this.#kept.delete(tokenId);
    if (this.#kept.size >= this.#maxEntries) this.#dropOne();
    this.#kept.set(tokenId, { entry, isUsed: false });
  }

  clear(): void {
    this.#kept.clear();
  }

  /** The first that has not been used since it was kept, or since it was passed over here. */
  #dropOne(): void {
    for (const [tokenId, kept] of this.#kept) {
      this.#kept.delete(tokenId);
      if (!kept.isUsed) return;
      kept.isUsed = false;
      this.#kept.set(tokenId, kept);
    }
  }
}
