// What callers notice of a sick Redis (F55, F56), as a table. docs/operations.md has the table of one run;
// PORTICO_WRITE_DOCS=1 writes it anew. Else the page is held against this run in all but the milliseconds.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { limitConfig } from '../access/limits/limits-rig.ts';
import { eventually } from '../support/eventually.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type SlowProxy, startSlowProxy } from '../support/slow-proxy.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { type FaultRow, PAGE, withTable, wordsInPage, wordsOf } from './fault-table.ts';

const TIMEOUT_MS = 100;
const CALLS = 100;
/** What a call takes, and this machine may add to it when it is busy. */
const SLACK_MS = 80;
/** What other processes may add to a single call where there are many. */
const BUSY_MS = 400;
/** In the order in which they are made: those that may notice nothing come while nobody has noticed yet. */
const KINDS = ['unlimited modern call', 'legacy call', 'limited call'] as const;
type Kind = (typeof KINDS)[number];

interface State {
  readonly name: string;
  /** Where the gateway is told that Redis is. */
  url(): string;
  break(): Promise<unknown>;
  mend(): Promise<unknown>;
  /** It is broken before the gateway starts. */
  readonly fromStart?: true;
  /** It has never been away. */
  readonly isHarmless?: true;
  /** It is back already, and perhaps before anybody has asked for it. */
  readonly isOver?: true;
}

describe('F55, F56: a sick Redis', () => {
  let redis: TestRedis;
  let proxy: SlowProxy;
  let healthy: Record<Kind, Measured>;
  const rows: FaultRow[] = [];

  before(async () => {
    redis = await startRedis({
      arguments: (_folder, port) => [
        ...['--port', String(port)],
        ...['--user', 'portico', 'on', '>right', '~*', '&*', '+@all'],
      ],
    });
    proxy = await startSlowProxy(redis.port);
    await using rig = await Rig.start(redis.url);
    await rig.measureAll();
    healthy = await rig.measureAll();
  });
  after(async () => {
    await proxy[Symbol.asyncDispose]();
    await redis.close();
    if (process.env.PORTICO_WRITE_DOCS === '1')
      await writeFile(PAGE, withTable(await readFile(PAGE, 'utf8'), rows));
  });

  const url = () => redis.url;
  const STATES: readonly State[] = [
    { name: 'absent at start', url, break: () => redis.stop(), mend: () => redis.start(), fromStart: true },
    { name: 'refused', url, break: () => redis.stop(), mend: () => redis.start() },
    { name: 'paused', url, break: () => redis.pause(), mend: () => redis.resume() },
    {
      name: '300 ms slow',
      url: () => `redis://127.0.0.1:${proxy.port}`,
      async break() {
        proxy.delayMs = 300;
      },
      async mend() {
        proxy.delayMs = 0;
      },
    },
    {
      name: 'READONLY',
      url,
      break: () => redis.command('REPLICAOF', '127.0.0.1', '1'),
      mend: () => redis.command('REPLICAOF', 'NO', 'ONE'),
    },
    {
      name: 'auth failure',
      url: () => `redis://portico:right@127.0.0.1:${redis.port}`,
      async break() {
        await redis.command('ACL', 'SETUSER', 'portico', 'resetpass', '>wrong');
        await redis.command('CLIENT', 'KILL', 'USER', 'portico');
      },
      mend: () => redis.command('ACL', 'SETUSER', 'portico', 'resetpass', '>right'),
    },
    {
      name: 'flushed',
      url,
      async break() {
        await redis.command('FLUSHALL');
        await redis.command('SCRIPT', 'FLUSH');
      },
      mend: async () => {},
      isHarmless: true,
    },
    {
      name: 'restarted',
      url,
      async break() {
        await redis.stop();
        await redis.start();
      },
      mend: async () => {},
      isOver: true,
    },
  ];

  for (const state of STATES) {
    test(`${state.name}: every call is answered, two wait at most, and it comes back by itself`, async () => {
      if (state.fromStart) await state.break();
      await using rig = await Rig.start(state.url());
      if (!state.fromStart) await state.break();
      const sick = await rig.measureAll(state.isOver ? KINDS.toReversed() : KINDS);
      await state.mend();
      const mendedAt = performance.now();
      await rig.untilAvailable();
      const recoveryMs = state.isHarmless ? undefined : performance.now() - mendedAt;
      for (const kind of KINDS) {
        const { firstMs, p99Ms } = sick[kind];
        // Who asks Redis waits for it, once; who does not may be held up by other processes, but not twice in a row.
        if (kind === 'limited call') assert.ok(Math.max(...firstMs) < TIMEOUT_MS + BUSY_MS, `${firstMs} ms`);
        else assert.ok(Math.min(...firstMs) < SLACK_MS, `${kind}: ${firstMs} ms`);
        assert.ok(p99Ms < SLACK_MS, `${kind}: ${p99Ms} ms at p99`);
        const { medianMs } = healthy[kind];
        const addedMs = Math.max(0, p99Ms - healthy[kind].p99Ms);
        const row = { state: state.name, call: kind, status: 200, addedMs, recoveryMs };
        rows.push({ ...row, firstMs: firstMs.map((ms) => Math.max(0, ms - medianMs)) });
      }
      assert.ok((recoveryMs ?? 0) < 2_000, `it took ${recoveryMs} ms to come back`);
      const outages = rig.said('Redis does not answer');
      assert.equal(rig.said('Redis answers again'), outages);
      if (state.isOver) assert.ok(outages <= 1);
      else assert.equal(outages, state.isHarmless ? 0 : 1);
    });
  }

  test('F56: meanwhile a limit holds here, at the share of a replica; then it holds in Redis again', async () => {
    await using rig = await Rig.start(redis.url, { max: 30 });
    const passed = async (times: number) => {
      let ok = 0;
      for (let n = 0; n < times; n += 1) ok += (await rig.call('limited call')) === 200 ? 1 : 0;
      return ok;
    };
    assert.equal(await passed(10), 10);
    await redis.pause();
    assert.equal(await passed(50), 30);
    const metrics = await (await fetch(`${rig.gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^portico_limit_fallbacks_total [45]\d$/m);
    assert.match(metrics, /^portico_store_available 0$/m);
    await redis.resume();
    await rig.untilAvailable();
    assert.ok((await passed(50)) <= 20, 'what was taken before is still taken');
  });

  test('unlimited modern calls, pings and notifications ask nothing of Redis', async () => {
    await using rig = await Rig.start(redis.url);
    const asked = async () => {
      const stats = String(await redis.command('INFO', 'commandstats'));
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
    assert.equal(rows.length, STATES.length * KINDS.length);
    if (process.env.PORTICO_WRITE_DOCS === '1') return;
    assert.equal(wordsInPage(await readFile(PAGE, 'utf8')), wordsOf(rows));
  });
});

interface Measured {
  readonly firstMs: readonly number[];
  /** Of the calls after them. */
  readonly medianMs: number;
  readonly p99Ms: number;
}

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

  async measureAll(order: readonly Kind[] = KINDS): Promise<Record<Kind, Measured>> {
    const measured: Partial<Record<Kind, Measured>> = {};
    for (const kind of order) measured[kind] = await this.#measure(kind);
    return measured as Record<Kind, Measured>;
  }

  async #measure(kind: Kind): Promise<Measured> {
    const firstMs = [await this.#timed(kind), await this.#timed(kind)];
    // Redis would be in the way of every try; another process on this machine is not.
    let then = await this.#percentiles(kind);
    for (let tries = 1; tries < 5 && then.p99Ms >= SLACK_MS; tries += 1) then = await this.#percentiles(kind);
    return { firstMs, ...then };
  }

  async #percentiles(kind: Kind): Promise<Pick<Measured, 'medianMs' | 'p99Ms'>> {
    const times: number[] = [];
    for (let n = 0; n < CALLS; n += 1) times.push(await this.#timed(kind));
    times.sort((one, other) => one - other);
    const atPercentile = (percent: number) => times[Math.ceil((CALLS * percent) / 100) - 1] ?? 0;
    return { medianMs: atPercentile(50), p99Ms: atPercentile(99) };
  }

  async #timed(kind: Kind): Promise<number> {
    const begun = performance.now();
    assert.equal(await this.call(kind), 200, kind);
    return performance.now() - begun;
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
