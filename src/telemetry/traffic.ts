// How many requests each server was sent in the last quarter of an hour, how many failed and how long they took, in
// steps of 15 s. An exchange costs three additions into one array, whatever is looked at later.
import type { ExchangeRecord } from './exchange-record.ts';
import { binOf, countIn, LATENCY_BINS, quantileOf } from './latency-bins.ts';
import { isTimed } from './timed-methods.ts';

export interface TrafficSeries {
  /** One number a step, the oldest first; the last step is still under way. */
  readonly requests: readonly number[];
  readonly failed: readonly number[];
  /** As near as the bins are narrow; null where nothing ended. */
  readonly p50Ms: readonly (number | null)[];
  readonly p99Ms: readonly (number | null)[];
  /** Over all steps. */
  readonly total: TrafficTotal;
}

export interface TrafficTotal {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export const STEP_MS = 15_000;
export const STEPS = 60;
const FAILED = 0;
const FIRST_BIN = 1;
const WIDTH = FIRST_BIN + LATENCY_BINS;

type Noted = Pick<ExchangeRecord, 'method' | 'server' | 'startedAt' | 'durationMs' | 'outcome' | 'isError'>;

export class Traffic {
  readonly #servers = new Map<string, Steps>();

  /** A settled exchange; those that no server was asked for are nobody's. */
  note({ method, server, startedAt, durationMs, outcome, isError }: Noted): void {
    if (server === undefined || durationMs === undefined || !isTimed(method)) return;
    let steps = this.#servers.get(server);
    if (steps === undefined) {
      steps = new Steps();
      this.#servers.set(server, steps);
    }
    const isFailed = (outcome !== 'ok' && outcome !== 'cancelled') || isError === true;
    steps.add(startedAt + durationMs, durationMs, isFailed);
  }

  /** Forgets servers that are no more. */
  keepOnly(servers: ReadonlySet<string>): void {
    for (const server of this.#servers.keys()) if (!servers.has(server)) this.#servers.delete(server);
  }

  /** @param nowMs on the clock of the records */
  of(server: string, nowMs: number): TrafficSeries {
    const counts = new Uint32Array(STEPS * WIDTH);
    this.#servers.get(server)?.addTo(counts, nowMs);
    return seriesOf(counts);
  }

  /** Of all servers together. */
  sum(nowMs: number): TrafficSeries {
    const sum = new Uint32Array(STEPS * WIDTH);
    for (const steps of this.#servers.values()) steps.addTo(sum, nowMs);
    return seriesOf(sum);
  }
}

/** A ring: what a step holds of the quarter of an hour before is thrown away when it is written to, and not read. */
class Steps {
  readonly #counts = new Uint32Array(STEPS * WIDTH);
  /** Which step since the beginning of time stands in each place. */
  readonly #numbers = new Float64Array(STEPS).fill(-1);

  add(nowMs: number, durationMs: number, isFailed: boolean): void {
    const number = Math.floor(nowMs / STEP_MS);
    const place = number % STEPS;
    const offset = place * WIDTH;
    if (this.#numbers[place] !== number) {
      this.#numbers[place] = number;
      this.#counts.fill(0, offset, offset + WIDTH);
    }
    this.#increase(offset + FIRST_BIN + binOf(durationMs));
    if (isFailed) this.#increase(offset + FAILED);
  }

  /** Adds all steps up to this moment, the oldest first. */
  addTo(sum: Uint32Array, nowMs: number): void {
    const last = Math.floor(nowMs / STEP_MS);
    for (let step = 0; step < STEPS; step += 1) {
      const number = last - STEPS + 1 + step;
      const place = number % STEPS;
      if (number < 0 || this.#numbers[place] !== number) continue;
      addUp(sum, step * WIDTH, this.#counts.subarray(place * WIDTH, (place + 1) * WIDTH));
    }
  }

  #increase(index: number): void {
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }
}

function seriesOf(counts: Uint32Array): TrafficSeries {
  const all = new Uint32Array(WIDTH);
  const steps = Array.from({ length: STEPS }, (_, step) => {
    const one = counts.subarray(step * WIDTH, (step + 1) * WIDTH);
    addUp(all, 0, one);
    return totalOf(one);
  });
  return {
    requests: steps.map(({ requests }) => requests),
    failed: steps.map(({ failed }) => failed),
    p50Ms: steps.map(({ p50Ms }) => p50Ms),
    p99Ms: steps.map(({ p99Ms }) => p99Ms),
    total: totalOf(all),
  };
}

function totalOf(counts: Uint32Array): TrafficTotal {
  const bins = counts.subarray(FIRST_BIN);
  return {
    requests: countIn(bins),
    failed: counts[FAILED] ?? 0,
    p50Ms: quantileOf(bins, 0.5),
    p99Ms: quantileOf(bins, 0.99),
  };
}

// Plain loops: iterators over so many numbers would take ten times as long, while calls wait.

function addUp(sum: Uint32Array, offset: number, counts: Uint32Array): void {
  for (let index = 0; index < counts.length; index += 1) {
    sum[offset + index] = (sum[offset + index] ?? 0) + (counts[index] ?? 0);
  }
}
