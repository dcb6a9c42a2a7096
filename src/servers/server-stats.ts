// What is counted of one server's starts and processes, for /status and the metrics.

import type { GroupUsages } from './stdio/group-usage.ts';
import type { StdioStats } from './stdio/stdio-stats.ts';

/** A process, as long as there is one. */
export interface StatsSource {
  readonly pid: number;
  readonly stats: StdioStats;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Codes are a byte, signals are few; a wild server still makes no more labels than this. */
const MAX_EXITS = 50;

export class ServerStats {
  readonly #usages: GroupUsages | undefined;
  readonly #sources = new Map<StatsSource, { cpuSeconds: number }>();
  readonly #exits = new Map<string, number>();
  #endedTotals: Totals = NOTHING;
  #restartsDue = 0;
  starts = 0;
  /** Starts in place of a link that ended by itself, or of a start that failed. */
  restarts = 0;
  /** Until the handshake was done, of the starts that came so far. */
  handshakes = 0;
  handshakeMs = 0;
  lastHandshakeMs: number | undefined;

  constructor(usages: GroupUsages | undefined) {
    this.#usages = usages;
  }

  started(): void {
    this.starts += 1;
    if (this.#restartsDue === 0) return;
    this.#restartsDue -= 1;
    this.restarts += 1;
  }

  opened(durationMs: number): void {
    this.handshakes += 1;
    this.handshakeMs += durationMs;
    this.lastHandshakeMs = durationMs;
  }

  failed(): void {
    this.#restartsDue += 1;
  }

  exited({ code, signal }: ChildExit): void {
    const how = signal ?? `code ${code}`;
    const name = this.#exits.has(how) || this.#exits.size < MAX_EXITS ? how : 'other';
    this.#exits.set(name, (this.#exits.get(name) ?? 0) + 1);
  }

  /** @returns how to say that nothing is left of it */
  track(source: StatsSource): () => void {
    this.#sources.set(source, { cpuSeconds: 0 });
    return () => {
      const seen = this.#sources.get(source);
      if (seen === undefined) return;
      this.#sources.delete(source);
      this.#endedTotals = plus(this.#endedTotals, { ...source.stats, cpuSeconds: seen.cpuSeconds });
    };
  }

  get exits(): ReadonlyMap<string, number> {
    return this.#exits;
  }

  /** Over all processes so far. CPU time of one that ended is as it was last looked at. */
  get totals(): Totals {
    let totals = this.#endedTotals;
    for (const [source, seen] of this.#sources) {
      const usage = this.#usages?.of(source.pid);
      seen.cpuSeconds = Math.max(seen.cpuSeconds, usage?.cpuSeconds ?? 0);
      totals = plus(totals, { ...source.stats, cpuSeconds: seen.cpuSeconds });
    }
    return totals;
  }

  /** Now, over the processes that are alive. */
  get present(): { readonly processes: number; readonly queued: number; readonly rssBytes: number } {
    let [queued, rssBytes] = [0, 0];
    for (const { pid, stats } of this.#sources.keys()) {
      queued += stats.queued;
      rssBytes += this.#usages?.of(pid)?.rssBytes ?? 0;
    }
    return { processes: this.#sources.size, queued, rssBytes };
  }
}

export interface Totals {
  readonly noiseLines: number;
  readonly stderrLines: number;
  readonly lateReplies: number;
  readonly queueWaits: number;
  readonly queueWaitMs: number;
  readonly cpuSeconds: number;
}

const NOTHING: Totals = {
  noiseLines: 0,
  stderrLines: 0,
  lateReplies: 0,
  queueWaits: 0,
  queueWaitMs: 0,
  cpuSeconds: 0,
};

function plus(one: Totals, other: Totals): Totals {
  return {
    noiseLines: one.noiseLines + other.noiseLines,
    stderrLines: one.stderrLines + other.stderrLines,
    lateReplies: one.lateReplies + other.lateReplies,
    queueWaits: one.queueWaits + other.queueWaits,
    queueWaitMs: one.queueWaitMs + other.queueWaitMs,
    cpuSeconds: one.cpuSeconds + other.cpuSeconds,
  };
}
