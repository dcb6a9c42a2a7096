// What callers of two replicas notice of a sick Redis (F55, F56), as a table: sessions of the older revisions need it,
// and nothing else does. docs/operations.md has the table of one run.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { STORE_UNAVAILABLE } from '../../src/protocol/error-codes.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import type { RawAnswer } from '../support/raw-answer.ts';
import { RawClient } from '../support/raw-client.ts';
import {
  ModernClient,
  openSession,
  RawSession,
  requestText,
  type SessionOptions,
} from '../support/raw-session.ts';
import { type StartedReplicas, startReplicas } from '../support/start-replicas.ts';
import type { StatusReport } from '../support/started-gateway.ts';
import { faultMatrix, TIMEOUT_MS } from './fault-matrix.ts';
import { type MeasuredCalls, measureKinds } from './measured-calls.ts';
import { REDIS_STATES, type RedisState, urlOf } from './redis-states.ts';

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};
const TOOLS = { notifications: { toolsListChanged: true } };
/** In the order in which they are made: those that may notice nothing come while nobody has noticed yet. */
const KINDS = [
  'modern call',
  'listen stream',
  'admin',
  'legacy call',
  'legacy call, session elsewhere',
  'legacy initialize',
] as const;
type Kind = (typeof KINDS)[number];
const IN_A_SESSION: readonly Kind[] = ['legacy call', 'legacy call, session elsewhere'];
const NEEDS_REDIS: readonly Kind[] = [...IN_A_SESSION, 'legacy initialize'];

describe('F55, F56: a sick Redis behind two replicas', () => {
  const matrix = faultMatrix<Kind>({
    name: 'redis-replica-faults',
    waiting: NEEDS_REDIS,
    async measureHealthy(url) {
      await using rig = await Rig.start(url);
      await rig.openSessions();
      await rig.measureAll(KINDS);
      return await rig.measureAll(KINDS);
    },
  });

  for (const state of REDIS_STATES) {
    test(`${state.name}: sessions are told so at once, all else goes on, and it comes back by itself`, async () => {
      const { at } = matrix;
      if (state.fromStart) await state.break(at);
      await using rig = await Rig.start(urlOf(state, at));
      // Where it was never there nobody has a session yet.
      const kinds = KINDS.filter((kind) => !state.fromStart || !IN_A_SESSION.includes(kind));
      if (!state.fromStart) await rig.openSessions();
      // The stream of a session that Redis has lost ends with it.
      const hasSession = !state.fromStart && !state.isHarmless && !state.isOver;
      await using running = await rig.beginWhatLasts(hasSession);
      if (!state.fromStart) await state.break(at);
      if (state.isOver) await rig.notice();
      const sick = await rig.measureAll(state.isReadable ? kinds.toReversed() : kinds);
      await running.goesOn();
      if (!state.isHarmless && !state.isOver) await rig.untilNoticed();
      const recoveryMs = await matrix.recover(state, rig);
      matrix.keep({ state, kinds, sick, recoveryMs, statusOf: (kind) => statusOf(kind, state) });
      if (state.isEmptied) {
        if (!state.fromStart)
          assert.equal(await rig.callAgain('legacy call'), 404, 'it is gone, and says so');
        await rig.openSessions();
      }
      for (const kind of KINDS)
        assert.equal(await rig.callAgain(kind), 200, `${kind}, afterwards: ${rig.lastWords}`);
    });
  }

  test('the page has the table of such a run', () =>
    matrix.holdPage(REDIS_STATES.length * KINDS.length - IN_A_SESSION.length));
});

function statusOf(kind: Kind, { isHarmless, isOver }: RedisState): number {
  if (!NEEDS_REDIS.includes(kind)) return 200;
  if (!isHarmless && !isOver) return 503;
  return IN_A_SESSION.includes(kind) ? 404 : 200;
}

interface Lasting extends AsyncDisposable {
  /** Rejects where what was begun before Redis fell ill did not last. */
  goesOn(): Promise<void>;
}

class Rig implements AsyncDisposable {
  readonly #replicas: StartedReplicas;
  readonly #server: FaultyHttpServer;
  /** The URL that all is asked at: of the first replica. */
  readonly #url: string;
  readonly #modern: ModernClient;
  readonly #plain: RawClient;
  #here: RawSession | undefined;
  #elsewhere: RawSession | undefined;

  private constructor(replicas: StartedReplicas, server: FaultyHttpServer) {
    this.#replicas = replicas;
    this.#server = server;
    this.#url = this.#urlOf(0);
    this.#modern = new ModernClient(this.#url, { keepAlive: true });
    this.#plain = new RawClient(this.#url, { keepAlive: true });
  }

  static async start(url: string): Promise<Rig> {
    const server = await startFaultyHttpServer({ era: 'legacy' });
    const redis = { url, keyPrefix: `portico ${randomUUID()}:`, timeoutMs: TIMEOUT_MS };
    const replay = { bytes: 1024 * 1024, forMs: 60_000 };
    const sessions = { idleTimeoutMs: 60_000, maxAgeMs: 600_000, max: 100_000, maxPerPrincipal: 100_000 };
    const replicas = await startReplicas({
      count: 2,
      redis,
      http: { url: server.url },
      gateway: { sessions: { ...sessions, replay } },
    });
    return new Rig(replicas, server);
  }

  #urlOf(index: number): string {
    return `${this.#replicas.replicas[index]?.url}/mcp`;
  }

  /** One that is the first replica's, and one of the second, which is then asked for at the first. */
  async openSessions(): Promise<void> {
    await this.untilAvailable();
    this.#here = await openInTime(this.#url, { keepAlive: true });
    await using there = await openInTime(this.#urlOf(1));
    await there.tool('echo', { text: 'its link is there' });
    this.#elsewhere = await openSession(this.#url, { keepAlive: true });
    this.#elsewhere.id = there.id;
  }

  /** Resolves with the HTTP status. */
  async call(kind: Kind): Promise<number> {
    const echo = ['tools/call', { name: 'echo', arguments: { text: 'x' } }] as const;
    switch (kind) {
      case 'modern call':
        return toEnd(await this.#modern.start(...echo).answer);
      case 'listen stream':
        return toAcknowledgement(await this.#modern.start('subscriptions/listen', TOOLS).answer);
      case 'admin':
        return toText(
          await this.#plain.send({ method: 'GET', url: `${this.#replicas.replicas[0]?.adminUrl}/status` }),
        );
      case 'legacy call':
        return toEnd(await inSession(this.#here).start(...echo).answer);
      case 'legacy call, session elsewhere':
        return toEnd(await inSession(this.#elsewhere).start(...echo).answer);
      case 'legacy initialize':
        return toEnd(await this.#plain.send({ body: requestText('1', 'initialize', INITIALIZE) }));
    }
  }

  /** Redis would be in the way of every try; another process on this machine, which makes it late once, is not. */
  async callAgain(kind: Kind): Promise<number> {
    let status = await this.call(kind);
    for (let tries = 1; tries < 3 && status === 503; tries += 1) status = await this.call(kind);
    return status;
  }

  measureAll(order: readonly Kind[]): Promise<Record<Kind, MeasuredCalls>> {
    return measureKinds(order, (kind) => this.call(kind));
  }

  /** A listen stream and, where there are sessions, the stream of one: they have to outlast it all. */
  async beginWhatLasts(withSession: boolean): Promise<Lasting> {
    const client = new ModernClient(this.#url);
    const streams = [await client.start('subscriptions/listen', TOOLS).answer];
    await streams[0]?.message();
    const listening = new RawSession(this.#url);
    if (withSession) {
      listening.id = inSession(this.#here).id;
      listening.version = inSession(this.#here).version;
      streams.push(await listening.listen());
    }
    return {
      goesOn: async () => {
        const heard = streams.map((stream) => stream.message());
        let left = streams.length;
        for (const each of heard) void each.then(() => (left -= 1));
        await eventually('what lasts hears of a change', () => {
          this.#server.announce({ method: 'notifications/tools/list_changed' });
          return left === 0;
        });
        for (const message of await Promise.all(heard))
          assert.equal(message?.method, 'notifications/tools/list_changed');
      },
      async [Symbol.asyncDispose]() {
        for (const stream of streams) stream.abort();
        await client[Symbol.asyncDispose]();
        await listening[Symbol.asyncDispose]();
      },
    };
  }

  get lastWords(): string {
    return this.#replicas.logs
      .slice(-5)
      .map((line) => JSON.stringify(line))
      .join('\n');
  }

  /** That it was away has been noticed, and that it is back. */
  async notice(): Promise<void> {
    await this.call('legacy initialize');
    await this.untilAvailable();
  }

  /** By both: one that nobody asks may else find out when all is well, and by what is still on its way from before. */
  async untilNoticed(): Promise<void> {
    for (const [index, { adminUrl }] of this.#replicas.replicas.entries()) {
      await using client = new RawClient(this.#urlOf(index), { keepAlive: true });
      await eventually('a replica has noticed', async () => {
        await toEnd(await client.send({ body: requestText('1', 'initialize', INITIALIZE) }));
        const { store } = (await (await fetch(`${adminUrl}/status`)).json()) as StatusReport;
        return !store.available;
      });
    }
  }

  async untilAvailable(): Promise<void> {
    await eventually(
      'both replicas have Redis again',
      async () => (await this.#replicas.status()).store.available,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of [this.#modern, this.#plain, this.#here, this.#elsewhere])
      await client?.[Symbol.asyncDispose]();
    await this.#replicas.close();
    await this.#server.close();
  }
}

/** On a busy machine Redis, too, may now and then be late. */
async function openInTime(url: string, options: SessionOptions = {}): Promise<RawSession> {
  let session: RawSession | undefined;
  await eventually('a session is open', async () => {
    session = await openSession(url, options).catch((thrown: unknown) => {
      if (!String(thrown).includes(String(STORE_UNAVAILABLE))) throw thrown;
      return undefined;
    });
    return session !== undefined;
  });
  return inSession(session);
}

function inSession(session: RawSession | undefined): RawSession {
  if (session === undefined) throw new Error('no session was opened');
  return session;
}

async function toEnd(answer: RawAnswer): Promise<number> {
  await answer.whole();
  return answer.status;
}

async function toText(answer: RawAnswer): Promise<number> {
  await answer.text();
  return answer.status;
}

async function toAcknowledgement(answer: RawAnswer): Promise<number> {
  await answer.message();
  answer.abort();
  return answer.status;
}
