// Counters whose windows all have one length, in this process. That the oldest is then the first to end is what makes
// it cheap to be rid of those that are over. A linked list, since a Map is slow to tell its oldest after many deletions.

export interface Window {
  readonly key: string;
  used: number;
  /** On the clock of whoever asks. */
  readonly endsAt: number;
}

interface Entry extends Window {
  older: Entry | undefined;
  newer: Entry | undefined;
}

/** How many of the oldest counters are looked at for the one to give up. */
const CANDIDATES = 16;

export class WindowCounters {
  readonly #windowMs: number;
  readonly #entries = new Map<string, Entry>();
  #oldest: Entry | undefined;
  #newest: Entry | undefined;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The window of that key, if one is running. */
  find(key: string, now: number): Window | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.endsAt > now ? entry : undefined;
  }

  begin(key: string, amount: number, now: number): void {
    const over = this.#entries.get(key);
    if (over !== undefined) this.#drop(over);
    const entry: Entry = {
      key,
      used: amount,
      endsAt: now + this.#windowMs,
      older: this.#newest,
      newer: undefined,
    };
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
    this.#entries.set(key, entry);
  }

  dropEnded(now: number): void {
    while (this.#oldest !== undefined && this.#oldest.endsAt <= now) this.#drop(this.#oldest);
  }

  /**
   * Gives one up, the least used of the oldest: a spray of keys that are used once pushes out its own kind, and not the
   * counter of somebody who is at a limit.
   */
  dropOne(): void {
    let least = this.#oldest;
    let candidate = least?.newer;
    for (let seen = 1; candidate !== undefined && seen < CANDIDATES; seen += 1) {
      if (least === undefined || candidate.used < least.used) least = candidate;
      candidate = candidate.newer;
    }
    if (least !== undefined) this.#drop(least);
  }

  #drop(entry: Entry): void {
    const { key, older, newer } = entry;
    this.#entries.delete(key);
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
