// Measures contestants against each other: A B A B, all of them in each round, so that what the machine does besides
// befalls all alike, and a ratio is one of neighbours in time.
import { median } from '../test/support/median.ts';
import type { LoadOutcome } from './load/load-job.ts';
import { cpuUsOf, forgetPeak, peakRssMbOf, rssMbOf } from './machine.ts';

export interface LoadShape {
  readonly concurrency: number;
  readonly forMs: number;
  readonly perSecond?: number;
}

export interface Contestant {
  readonly name: string;
  /** Empty where the process is not ours to know. */
  pids(): readonly number[];
  load(shape: LoadShape): Promise<LoadOutcome>;
}

export interface RoundsOptions {
  readonly concurrency: number;
  readonly rounds: number;
  readonly forMs: number;
  /** Whether latency at half the full load is measured too. */
  readonly half: boolean;
}

/** Medians over the rounds. */
export interface Row {
  readonly name: string;
  readonly concurrency: number;
  readonly rps: number;
  /** Of the rates in one round; null where there is no nginx. */
  readonly ratioToNginx: number | null;
  /** The lowest and the highest of it. */
  readonly ratios: readonly [number, number] | null;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly half: { readonly p50Ms: number; readonly p99Ms: number } | undefined;
  readonly cpuUsPerRequest: number | null;
  readonly rssMb: number | null;
  readonly peakRssMb: number | null;
}

interface Sample {
  readonly rps: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUsPerRequest: number | null;
  readonly rssMb: number | null;
  readonly peakRssMb: number | null;
}

/** The first contestant whose name begins so is what ratios are to. */
const BASELINE = 'nginx';

/** @throws Error where an answer was wrong: what answers wrongly is not measured */
export async function runRounds(
  contestants: readonly Contestant[],
  { concurrency, rounds, forMs, half }: RoundsOptions,
): Promise<Row[]> {
  const samples = new Map<Contestant, Sample[]>(contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) {
      samples.get(contestant)?.push(await sampleOf(contestant, { concurrency, forMs }));
    }
  }
  const baseline = samples.get(contestants.find(({ name }) => name.startsWith(BASELINE)) as Contestant);
  const rows: Row[] = [];
  for (const [contestant, measured] of samples) {
    const ratios = baseline && measured.map(({ rps }, round) => rps / (baseline[round]?.rps ?? Number.NaN));
    const rps = median(measured.map((sample) => sample.rps));
    rows.push({
      name: contestant.name,
      concurrency,
      rps,
      ratioToNginx: ratios === undefined ? null : median(ratios),
      ratios: ratios === undefined ? null : [Math.min(...ratios), Math.max(...ratios)],
      p50Ms: median(measured.map(({ p50Ms }) => p50Ms)),
      p99Ms: median(measured.map(({ p99Ms }) => p99Ms)),
      half: half ? await sampleOf(contestant, { concurrency, forMs, perSecond: rps / 2 }) : undefined,
      cpuUsPerRequest: medianOf(measured, 'cpuUsPerRequest'),
      rssMb: medianOf(measured, 'rssMb'),
      peakRssMb: medianOf(measured, 'peakRssMb'),
    });
  }
  return rows;
}

async function sampleOf(contestant: Contestant, shape: LoadShape): Promise<Sample> {
  const pids = contestant.pids();
  forgetPeak(pids);
  const before = cpuUsOf(pids);
  const outcome = await contestant.load(shape);
  const { answered, finished, failed, firstFailure, elapsedMs, p50Ms, p99Ms } = outcome;
  if (failed > 0) {
    throw new Error(`${contestant.name} answered ${failed} of ${failed + finished} wrongly: ${firstFailure}`);
  }
  const ours = pids.length > 0;
  return {
    rps: answered / (elapsedMs / 1_000),
    p50Ms,
    p99Ms,
    cpuUsPerRequest: ours ? (cpuUsOf(pids) - before) / finished : null,
    rssMb: ours ? rssMbOf(pids) : null,
    peakRssMb: ours ? peakRssMbOf(pids) : null,
  };
}

function medianOf(
  samples: readonly Sample[],
  field: 'cpuUsPerRequest' | 'rssMb' | 'peakRssMb',
): number | null {
  const values = samples.map((sample) => sample[field]).filter((value) => value !== null);
  return values.length === 0 ? null : median(values);
}
