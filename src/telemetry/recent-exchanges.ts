// The last exchanges, for whoever looks on: the very lines of the log, bounded. Failures have a place of their own, so
// that a busy gateway does not wash them away within a second.
import type { ExchangeLine } from './exchange-log.ts';

export interface RecentExchange extends ExchangeLine {
  /** When it was over. */
  readonly at: string;
}

interface Noted {
  readonly atMs: number;
  readonly line: ExchangeLine;
}

const MAX_EXCHANGES = 100;

export class RecentExchanges {
  readonly #now: () => number;
  readonly #all = new Ring<Noted>(MAX_EXCHANGES);
  readonly #failures = new Ring<Noted>(MAX_EXCHANGES);

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  note(line: ExchangeLine): void {
    const noted = { atMs: this.#now(), line };
    this.#all.add(noted);
    if (line.outcome !== 'ok' && line.outcome !== 'cancelled') this.#failures.add(noted);
  }

  /** Newest first. */
  read(): { readonly all: readonly RecentExchange[]; readonly failures: readonly RecentExchange[] } {
    return { all: this.#all.newestFirst().map(shown), failures: this.#failures.newestFirst().map(shown) };
  }
}

function shown({ atMs, line }: Noted): RecentExchange {
  return { at: new Date(atMs).toISOString(), ...line };
}

class Ring<T> {
  readonly #max: number;
  readonly #items: T[] = [];
  #next = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(item: T): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#max;
  }

  newestFirst(): T[] {
    return [...this.#items.slice(this.#next), ...this.#items.slice(0, this.#next)].reverse();
  }
}
