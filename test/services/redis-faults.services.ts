// What callers notice of a sick Redis (F55, F56), as a table. docs/operations.md has the table of one run;
// PORTICO_WRITE_DOCS=1 writes it anew. Else the page is held against this run in all but the milliseconds.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { limitConfig } from '../access/limits/limits-rig.ts';
import { eventually } from '../support/eventually.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { type FaultRow, PAGE, withTable, wordsInPage, wordsOf } from './fault-table.ts';
import { BUSY_MS, type MeasuredCalls, measureCalls, SLACK_MS } from './measured-calls.ts';
import { REDIS_STATES, type SickRedis, startSickRedis, urlOf } from './redis-states.ts';

const TABLE = 'redis-faults';
const TIMEOUT_MS = 100;
/** In the order in which they are made: those that may notice nothing come while nobody has noticed yet. */
const KINDS = ['unlimited modern call', 'legacy call', 'limited call'] as const;
type Kind = (typeof KINDS)[number];

describe('F55, F56: a sick Redis', () => {
  let at: SickRedis;
  let healthy: Record<Kind, MeasuredCalls>;
  const rows: FaultRow[] = [];

  before(async () => {
    at = await startSickRedis();
    await using rig = await Rig.start(at.redis.url);
    await rig.measureAll();
    healthy = await rig.measureAll();
  });
  after(async () => {
    await at[Symbol.asyncDispose]();
    if (process.env.PORTICO_WRITE_DOCS === '1')
      await writeFile(PAGE, withTable(await readFile(PAGE, 'utf8'), TABLE, rows));
  });

  for (const state of REDIS_STATES) {
    test(`${state.name}: every call is answered, two wait at most, and it comes back by itself`, async () => {
      if (state.fromStart) await state.break(at);
      await using rig = await Rig.start(urlOf(state, at));
      if (!state.fromStart) await state.break(at);
      const sick = await rig.measureAll(state.isOver ? KINDS.toReversed() : KINDS);
      await state.mend(at);
      const mendedAt = performance.now();
      await rig.untilAvailable();
      const recoveryMs = state.isHarmless ? undefined : performance.now() - mendedAt;
      for (const kind of KINDS) {
        const { firstMs, p99Ms, statuses } = sick[kind];
        assert.deepEqual(statuses, [200], kind);
        // Who asks Redis waits for it, once; who does not may be held up by other processes, but not twice in a row.
        if (kind === 'limited call') assert.ok(Math.max(...firstMs) < TIMEOUT_MS + BUSY_MS, `${firstMs} ms`);
        else assert.ok(Math.min(...firstMs) < SLACK_MS, `${kind}: ${firstMs} ms`);
        assert.ok(p99Ms < SLACK_MS, `${kind}: ${p99Ms} ms at p99`);
        const { medianMs } = healthy[kind];
        const addedMs = Math.max(0, p99Ms - healthy[kind].p99Ms);
        const row = { state: state.name, call: kind, statuses, addedMs, recoveryMs };
        rows.push({ ...row, firstMs: firstMs.map((ms) => Math.max(0, ms - medianMs)) });
      }
      assert.ok((recoveryMs ?? 0) < (state.backWithinMs ?? 2_000), `it took ${recoveryMs} ms to come back`);
      const outages = rig.said('Redis does not answer');
      assert.equal(rig.said('Redis answers again'), outages);
      if (state.isOver) assert.ok(outages <= 1);
      else assert.equal(outages, state.isHarmless ? 0 : 1);
    });
  }

  test('F56: meanwhile a limit holds here, at the share of a replica; then it holds in Redis again', async () => {
    await using rig = await Rig.start(at.redis.url, { max: 30 });
    const passed = async (times: number) => {
      let ok = 0;
      for (let n = 0; n < times; n += 1) ok += (await rig.call('limited call')) === 200 ? 1 : 0;
      return ok;
    };
    assert.equal(await passed(10), 10);
    await at.redis.pause();
    assert.equal(await passed(50), 30);
    const metrics = await (await fetch(`${rig.gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^portico_limit_fallbacks_total [45]\d$/m);
    assert.match(metrics, /^portico_store_available 0$/m);
    await at.redis.resume();
    await rig.untilAvailable();
    assert.ok((await passed(50)) <= 20, 'what was taken before is still taken');
  });

  test('unlimited modern calls, pings and notifications ask nothing of Redis', async () => {
    await using rig = await Rig.start(at.redis.url);
    const asked = async () => {
      const stats = String(await at.redis.command('INFO', 'commandstats'));
      return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    };
    const before = await asked();
    await rig.call('limited call');
    assert.equal((await asked()) - before, 1, 'a limited one asks once');
    const begun = performance.now();
    for (let n = 0; n < 50; n += 1) {
      await rig.call('unlimited modern call');
      await rig.call('legacy call');
      await rig.session.ask('ping');
      await rig.session.notify('notifications/cancelled', { requestId: 99 });
    }
    const announcements = Math.ceil((performance.now() - begun) / 5_000);
    assert.ok((await asked()) - before - 1 <= announcements);
  });

  test('the page has the table of such a run', async () => {
    assert.equal(rows.length, REDIS_STATES.length * KINDS.length);
    if (process.env.PORTICO_WRITE_DOCS === '1') return;
    assert.equal(wordsInPage(await readFile(PAGE, 'utf8'), TABLE), wordsOf(rows));
  });
});

class Rig implements AsyncDisposable {
  readonly gateway: StartedGateway;
  readonly session: RawSession;
  readonly #modern: ModernClient;

  private constructor(gateway: StartedGateway, session: RawSession) {
    this.gateway = gateway;
    this.session = session;
    this.#modern = new ModernClient(gateway.url, { keepAlive: true });
  }

  static async start(url: string, { max = 1_000_000 } = {}): Promise<Rig> {
    const gateway = await startGateway({
      stdio: { switches: ['--era=legacy'], isolation: 'shared' },
      gateway: {
        redis: { url, keyPrefix: `portico ${randomUUID()}:`, timeoutMs: TIMEOUT_MS },
        limits: [limitConfig({ name: 'echoes', match: 'faulty/echo', max })],
      },
    });
    return new Rig(gateway, await openSession(gateway.url, { keepAlive: true }));
  }

  /** Resolves with the HTTP status. */
  async call(kind: Kind): Promise<number> {
    const echo = { name: 'echo', arguments: { text: 'x' } };
    const other = { name: 'wait', arguments: { ms: 0 } };
    const client = kind === 'legacy call' ? this.session : this.#modern;
    const answer = await client.start('tools/call', kind === 'limited call' ? echo : other).answer;
    await answer.whole();
    return answer.status;
  }

  async measureAll(order: readonly Kind[] = KINDS): Promise<Record<Kind, MeasuredCalls>> {
    const measured: Partial<Record<Kind, MeasuredCalls>> = {};
    for (const kind of order) measured[kind] = await measureCalls(() => this.call(kind));
    return measured as Record<Kind, MeasuredCalls>;
  }

  async untilAvailable(): Promise<void> {
    await eventually('Redis counts again', async () => (await this.gateway.status()).store.available);
  }

  /** How many log lines say that. */
  said(words: string): number {
    return this.gateway.logs.filter(({ msg }) => String(msg).includes(words)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#modern[Symbol.asyncDispose]();
    await this.session[Symbol.asyncDispose]();
    await this.gateway.close();
  }
}
