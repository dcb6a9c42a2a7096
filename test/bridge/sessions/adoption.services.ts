// Legacy sessions on several replicas, with a real Redis between them: where each lives, and who goes on with it.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { type Principal, principalKey } from '../../../src/access/principal.ts';
import { SealedState } from '../../../src/bridge/seals/sealed-state.ts';
import { type AdoptionTerms, LegacySessions } from '../../../src/bridge/sessions/legacy-sessions.ts';
import type { Exchange } from '../../../src/pipeline/exchange.ts';
import type { GatewayContext } from '../../../src/pipeline/gateway-context.ts';
import { endElsewhere } from '../../../src/pipeline/session-elsewhere.ts';
import { BufferBudget } from '../../../src/state/buffer-budget.ts';
import type { StoredSession } from '../../../src/state/session-store.ts';
import { recordOf } from '../../state/session-store-contract.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { newPrefix, type SessionReplica, startSessionReplica } from '../../support/session-replicas.ts';

let redis: TestRedis;
before(async () => {
  redis = await startRedis();
});
after(() => redis.close());

/** Nothing is called at servers here. */
const TERMS: AdoptionTerms = {
  sole: undefined,
  servers: new Map(),
  caller: {
    key: 'a',
    issuer: '',
    subject: 'a',
    clientId: '',
    scopes: [],
    groups: [],
    expiresAtMs: undefined,
    token: () => undefined,
  },
  chooserFor: () => assert.fail('no link is opened'),
};

interface Home {
  readonly replica: SessionReplica;
  readonly sessions: LegacySessions;
}

async function start(t: TestContext, prefix: string): Promise<Home> {
  const replica = await startSessionReplica({ url: redis.url, prefix, limits: { idleTimeoutMs: 5_000 } });
  const sessions = new LegacySessions(replica.store, {
    replay: { bytes: 1_000_000, forMs: 60_000 },
    budget: new BufferBudget(1_000_000),
    questionPatienceMs: 1_000,
    state: new SealedState(Buffer.alloc(32, 1)),
    idleTimeoutMs: 5_000,
    replicas: { id: replica.id, publish: (event) => void replica.published.push(event) },
  });
  t.after(async () => {
    await sessions.close();
    await replica[Symbol.asyncDispose]();
  });
  return { replica, sessions };
}

/** One that has a session, and another one that may get it. */
async function pair(t: TestContext) {
  const prefix = newPrefix();
  const [owner, other] = await Promise.all([start(t, prefix), start(t, prefix)]);
  const { id, session } = await owner.sessions.open(recordOf('a'), undefined);
  const found = async (at: Home = other) => {
    const located = await at.sessions.locate(id, 'a', undefined);
    assert.equal(located?.at, 'elsewhere');
    return located as typeof located & { at: 'elsewhere'; stored: StoredSession };
  };
  return { prefix, owner, other, id, session, found };
}

test('F01: a session is here on the replica that opened it, and elsewhere on any other', async (t) => {
  const { owner, other, id, session, found } = await pair(t);
  const here = await owner.sessions.locate(id, 'a', undefined);
  assert.ok(here?.at === 'here' && here.session === session);
  assert.equal((await found()).owner, owner.replica.id);
  assert.equal(await other.sessions.find(id, 'a', undefined), undefined);
});

test('F05: to another principal, or on another view, it does not exist on any replica', async (t) => {
  const { owner, other, id } = await pair(t);
  for (const { sessions } of [owner, other]) {
    assert.equal(await sessions.locate(id, 'b', undefined), undefined);
    assert.equal(await sessions.locate(id, 'a', 'docs'), undefined);
  }
});

test('F01: a successor knows what the session had come to, and its events have ids of their own', async (t) => {
  const { owner, other, id, session, found } = await pair(t);
  session.initialized = true;
  session.logLevel = 'warning';
  await eventually('it is on record', async () => (await found()).stored.state.logLevel === 'warning');
  const adopted = await other.sessions.adopt((await found()).stored, TERMS);
  assert.ok(adopted?.at === 'here');
  assert.deepEqual([adopted.session.initialized, adopted.session.logLevel], [true, 'warning']);
  const eventId = session.streams.open().nextEventId();
  assert.ok(session.streams.find(eventId) !== undefined);
  assert.equal(adopted.session.streams.find(eventId), undefined);
  assert.deepEqual(other.replica.published, [
    { kind: 'session-moved', key: session.key, owner: other.replica.id },
  ]);
  owner.sessions.noteMoved(session.key);
  await eventually('the former owner has dropped it', () => session.ended.aborted);
  assert.equal(owner.sessions.size, 0);
  const here = await other.sessions.locate(id, 'a', undefined);
  assert.ok(here?.at === 'here' && here.session === adopted.session);
});

test('F01: many requests at many replicas adopt it once', async (t) => {
  const { prefix, found } = await pair(t);
  const homes = await Promise.all(Array.from({ length: 5 }, () => start(t, prefix)));
  const tries = homes.flatMap((home) => [home, home]);
  const adopted = await Promise.all(
    tries.map(async (home) => home.sessions.adopt((await found(home)).stored, TERMS)),
  );
  const sessions = new Set(adopted.map((one) => (one?.at === 'here' ? one.session : undefined)));
  sessions.delete(undefined);
  assert.equal(sessions.size, 1);
  const owners = new Set(adopted.map((one, n) => (one?.at === 'here' ? tries[n]?.replica.id : one?.owner)));
  assert.equal(owners.size, 1);
  assert.deepEqual(homes.map(({ sessions: { size } }) => size).sort(), [0, 0, 0, 0, 1]);
});

test('F01: a session with a child process of its own dies with its owner', async (t) => {
  const { owner, other, id, session, found } = await pair(t);
  const late = (await found()).stored;
  await session.kept.claimProcess();
  assert.equal(await other.sessions.adopt((await found()).stored, TERMS), undefined);
  assert.equal(await owner.sessions.locate(id, 'a', undefined), undefined);
  assert.ok(session.ended.aborted);
  assert.equal(await other.sessions.adopt(late, TERMS), undefined);
  assert.equal(other.sessions.size, 0);
});

test('F01: who learns only when it has taken a session over that a child has died with it lets it go', async (t) => {
  const { other, id, session, found } = await pair(t);
  const { stored } = await found();
  await session.kept.claimProcess();
  assert.equal(await other.sessions.adopt(stored, TERMS), undefined);
  assert.equal(await other.sessions.locate(id, 'a', undefined), undefined);
  assert.equal(other.sessions.size, 0);
});

test('F04: a session that is forgotten for its owner’s sake is gone for all of them', async (t) => {
  const { owner, other, id, session, found } = await pair(t);
  await other.sessions.forget((await found()).stored);
  assert.deepEqual(other.replica.published, [{ kind: 'session-ended', key: session.key }]);
  assert.equal(await other.sessions.locate(id, 'a', undefined), undefined);
  owner.sessions.noteEnded(session.key);
  await eventually('its owner has dropped it', () => owner.sessions.size === 0 && session.ended.aborted);
});

test('F04: a session that somebody takes up while it is deleted elsewhere ends there', async (t) => {
  const prefix = newPrefix();
  const [owner, other, third] = await Promise.all([start(t, prefix), start(t, prefix), start(t, prefix)]);
  const principal = { issuer: '', subject: 'a', clientId: '' } as Principal;
  const key = principalKey(principal);
  const { id } = await owner.sessions.open(recordOf(key), undefined);
  const before = await third.sessions.locate(id, key, undefined);
  assert.ok(before?.at === 'elsewhere');
  const adopted = await other.sessions.adopt(before.stored, TERMS);
  assert.ok(adopted?.at === 'here');
  assert.equal(await third.sessions.forget(before.stored), false);
  assert.deepEqual(third.replica.published, [], 'nothing has ended');
  // Nobody can be reached.
  const replicas = { lookFor: async () => undefined };
  const gateway = { sessions: third.sessions, replicas } as unknown as GatewayContext;
  const exchange = { principal, view: undefined } as unknown as Exchange;
  assert.equal(await endElsewhere(gateway, exchange, { ...before, id }), false);
  for (const { sessions } of [owner, other, third])
    assert.equal(await sessions.locate(id, key, undefined), undefined);
  await eventually('who took it up has dropped it', () => other.sessions.size === 0);
});

test('word of a move that came late moves nothing', async (t) => {
  const { owner, id, session } = await pair(t);
  owner.sessions.noteMoved(session.key);
  owner.sessions.noteEnded(session.key);
  await owner.replica.store.check(session.key);
  const here = await owner.sessions.locate(id, 'a', undefined);
  assert.ok(here?.at === 'here' && here.session === session);
});

test('what its owner has lost without a word, it takes up again', async (t) => {
  const { owner, other, id, session, found } = await pair(t);
  await other.sessions.adopt((await found()).stored, TERMS);
  owner.sessions.noteMoved(session.key);
  await eventually('it is dropped', () => owner.sessions.size === 0);
  const back = await owner.sessions.adopt((await found(owner)).stored, TERMS);
  assert.ok(back?.at === 'here' && back.session !== session);
  assert.equal((await found()).owner, owner.replica.id);
  assert.equal(await owner.sessions.find(id, 'a', undefined), back.session);
});

test('F44: a replica that ends leaves its sessions to the others, but for those with a child process', async (t) => {
  const { owner, other, id, found } = await pair(t);
  const withChild = await owner.sessions.open(recordOf('a'), undefined);
  await withChild.session.kept.claimProcess();
  const leaving = await owner.sessions.open(recordOf('a'), undefined);
  leaving.session.leaving = true;
  await owner.sessions.close();
  assert.equal((await found()).owner, undefined);
  for (const gone of [withChild.id, leaving.id]) {
    assert.equal(await other.sessions.locate(gone, 'a', undefined), undefined);
  }
  const adopted = await other.sessions.adopt((await found()).stored, TERMS);
  assert.equal(adopted?.at, 'here');
  assert.equal(await other.sessions.find(id, 'a', undefined), adopted?.at === 'here' && adopted.session);
});

test('F44: a replica that is ending takes nothing over', async (t) => {
  const { other, found } = await pair(t);
  const { stored } = await found();
  await other.sessions.close();
  await assert.rejects(other.sessions.adopt(stored, TERMS), /Shutting down/);
});
