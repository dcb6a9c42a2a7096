// Which lines of refused requests are written. A client that ignores 429 would fill the log (F57); metrics count all.
import type { ExchangeRecord } from './exchange-record.ts';

/** Lines a second for each limit. */
const MAX_LINES = 5;
const PERIOD_MS = 1_000;

interface Period {
  endsAt: number;
  lines: number;
  /** Lines left out since the last one that was written. */
  suppressed: number;
}

export class RefusalSampler {
  readonly #now: () => number;
  /** By the reason of the refusal, of which there are as many as limits. */
  readonly #periods = new Map<string, Period>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns how many lines like it were left out before it; undefined where it is to be left out itself */
  admit({ outcome, reason = '' }: Pick<ExchangeRecord, 'outcome' | 'reason'>): number | undefined {
    if (outcome !== 'rate-limited') return 0;
    const now = this.#now();
    const period = this.#periods.get(reason) ?? { endsAt: 0, lines: 0, suppressed: 0 };
    this.#periods.set(reason, period);
    if (period.endsAt <= now) {
      period.endsAt = now + PERIOD_MS;
      period.lines = 0;
    }
    if (period.lines >= MAX_LINES) {
      period.suppressed += 1;
      return undefined;
    }
    const { suppressed } = period;
    period.lines += 1;
    period.suppressed = 0;
    return suppressed;
  }
}
