// Every state of a sick Redis against every kind of call (F55, F56): what each run is held to, and the page's table of
// them all. PORTICO_WRITE_DOCS=1 writes it anew; else the page is held against the run in all but the milliseconds.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before } from 'node:test';
import { type FaultRow, PAGE, withTable, wordsInPage, wordsOf } from './fault-table.ts';
import { BUSY_MS, type MeasuredCalls, SLACK_MS } from './measured-calls.ts';
import { type RedisState, type SickRedis, startSickRedis } from './redis-states.ts';

/** For the gateways of a rig: how long they wait for Redis. */
export const TIMEOUT_MS = 100;

type Measured<Kind extends string> = Readonly<Record<Kind, MeasuredCalls>>;

export interface FaultMatrixOptions<Kind extends string> {
  /** Of the table, and of the file of its tests. */
  readonly name: string;
  /** Those that ask Redis, and wait for it once. */
  readonly waiting: readonly Kind[];
  /** At a Redis that is well. */
  measureHealthy(url: string): Promise<Measured<Kind>>;
}

export interface FaultRun<Kind extends string> {
  readonly state: RedisState;
  readonly kinds: readonly Kind[];
  readonly sick: Measured<Kind>;
  readonly recoveryMs: number | undefined;
  /** What every call of that kind has to be answered with. */
  statusOf(kind: Kind): number;
}

export interface FaultMatrix<Kind extends string> {
  readonly at: SickRedis;
  /** Mends it. How long the rig then takes to have it again; undefined where it never went away. */
  recover(state: RedisState, rig: { untilAvailable(): Promise<void> }): Promise<number | undefined>;
  /** Holds a run to its bounds; its rows are the table's. */
  keep(run: FaultRun<Kind>): void;
  holdPage(rowCount: number): Promise<void>;
}

/** Its hooks are those of the suite in which it is made. */
export function faultMatrix<Kind extends string>(options: FaultMatrixOptions<Kind>): FaultMatrix<Kind> {
  const { name, waiting } = options;
  const rows: FaultRow[] = [];
  let at: SickRedis;
  let healthy: Measured<Kind>;

  before(async () => {
    at = await startSickRedis();
    healthy = await options.measureHealthy(at.redis.url);
  });
  after(async () => {
    await at[Symbol.asyncDispose]();
    if (process.env.PORTICO_WRITE_DOCS === '1')
      await writeFile(PAGE, withTable(await readFile(PAGE, 'utf8'), name, rows));
  });

  return {
    get at() {
      return at;
    },
    async recover(state, rig) {
      await state.mend(at);
      const mendedAt = performance.now();
      await rig.untilAvailable();
      return state.isHarmless ? undefined : performance.now() - mendedAt;
    },
    keep({ state, kinds, sick, recoveryMs, statusOf }) {
      for (const kind of kinds) {
        const { firstMs, p99Ms, statuses } = sick[kind];
        assert.deepEqual(statuses, [statusOf(kind)], kind);
        // Who asks Redis waits for it, once; who does not may be held up by other processes, but not twice in a row.
        if (waiting.includes(kind))
          assert.ok(Math.max(...firstMs) < TIMEOUT_MS + BUSY_MS, `${kind}: ${firstMs} ms`);
        else assert.ok(Math.min(...firstMs) < SLACK_MS, `${kind}: ${firstMs} ms`);
        assert.ok(p99Ms < SLACK_MS, `${kind}: ${p99Ms} ms at p99`);
        const { medianMs } = healthy[kind];
        rows.push({
          ...{ state: state.name, call: kind, statuses, recoveryMs },
          addedMs: Math.max(0, p99Ms - healthy[kind].p99Ms),
          firstMs: firstMs.map((ms) => Math.max(0, ms - medianMs)),
        });
      }
      assert.ok((recoveryMs ?? 0) < (state.backWithinMs ?? 2_000), `it took ${recoveryMs} ms to come back`);
    },
    async holdPage(rowCount) {
      assert.equal(rows.length, rowCount);
      if (process.env.PORTICO_WRITE_DOCS === '1') return;
      assert.equal(wordsInPage(await readFile(PAGE, 'utf8'), name), wordsOf(rows));
    },
  };
}
