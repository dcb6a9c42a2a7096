// What callers notice of a sick Redis (F55, F56), as a table. docs/operations.md has the table of one run.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { limitConfig } from '../access/limits/limits-rig.ts';
import { eventually } from '../support/eventually.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { faultMatrix, TIMEOUT_MS } from './fault-matrix.ts';
import { type MeasuredCalls, measureKinds } from './measured-calls.ts';
import { REDIS_STATES, urlOf } from './redis-states.ts';

/** In the order in which they are made: those that may notice nothing come while nobody has noticed yet. */
const KINDS = ['unlimited modern call', 'legacy call', 'limited call'] as const;
type Kind = (typeof KINDS)[number];

describe('F55, F56: a sick Redis', () => {
  const matrix = faultMatrix<Kind>({
    name: 'redis-faults',
    waiting: ['limited call'],
    async measureHealthy(url) {
      await using rig = await Rig.start(url);
      await rig.measureAll();
      return await rig.measureAll();
    },
  });

  for (const state of REDIS_STATES) {
    test(`${state.name}: every call is answered, two wait at most, and it comes back by itself`, async () => {
      const { at } = matrix;
      if (state.fromStart) await state.break(at);
      await using rig = await Rig.start(urlOf(state, at));
      if (!state.fromStart) await state.break(at);
      const sick = await rig.measureAll(state.isOver ? KINDS.toReversed() : KINDS);
      const recoveryMs = await matrix.recover(state, rig);
      matrix.keep({ state, kinds: KINDS, sick, recoveryMs, statusOf: () => 200 });
      const outages = rig.said('Redis does not answer');
      assert.equal(rig.said('Redis answers again'), outages);
      if (state.isOver) assert.ok(outages <= 1);
      else assert.equal(outages, state.isHarmless ? 0 : 1);
    });
  }

  test('F56: meanwhile a limit holds here, at the share of a replica; then it holds in Redis again', async () => {
    const { at } = matrix;
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
    const { at } = matrix;
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

  test('the page has the table of such a run', () => matrix.holdPage(REDIS_STATES.length * KINDS.length));
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

  measureAll(order: readonly Kind[] = KINDS): Promise<Record<Kind, MeasuredCalls>> {
    return measureKinds(order, (kind) => this.call(kind));
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
