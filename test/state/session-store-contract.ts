// What every store of sessions must do, whatever it is made of.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionLimits, SessionRecord, SessionStore } from '../../src/state/session-store.ts';
import { eventually } from '../support/eventually.ts';
import { failure } from '../support/http-rig.ts';
import { limitsOf } from '../support/session-replicas.ts';

/** Opens an empty store, and closes it with the test. */
export type OpenSessionStore = (t: TestContext, limits: SessionLimits) => Promise<SessionStore>;

/** What cannot be an id, or could mean something to whoever keeps sessions under names. */
export const HOSTILE_IDS = [
  ...['', ' ', '*', '?a=b&c', '../..', 'ä', '\n', '__proto__', 's:*', 'sessions', 'x'.repeat(100_000)],
  ...[`${'a'.repeat(42)}*`, `${'a'.repeat(42)}\n`, `${'a'.repeat(42)}ä`],
];

export function recordOf(principal: string): SessionRecord {
  return { principal, view: undefined, version: '2025-11-25', clientCapabilities: {}, clientInfo: undefined };
}

export function sessionStoreContract(open: OpenSessionStore): void {
  async function openStore(t: TestContext, limits?: Partial<SessionLimits>) {
    const store = await open(t, limitsOf(limits));
    const ended: string[] = [];
    store.onLost((key, loss) => {
      assert.equal(loss, 'over');
      ended.push(key);
    });
    return { store, ended };
  }

  test('an id is 256 random bits, and the key that stands for it elsewhere does not give it away', async (t) => {
    const { store } = await openStore(t);
    const { id, key } = await store.create(recordOf('a'));
    assert.match(id, /^[A-Za-z0-9_-]{43}$/);
    assert.notEqual(key, id);
    assert.equal((await store.find(id))?.key, key);
    assert.equal(await store.find(key), undefined);
  });

  test('a session is found as it was made', async (t) => {
    const { store } = await openStore(t);
    const record = {
      ...recordOf('{"issuer":"https://a.example"} \n'),
      view: 'docs',
      clientCapabilities: { elicitation: {}, experimental: { 'ü\u0000': [1, null, 'x y'] } },
      clientInfo: { name: 'c', version: '1' },
    };
    const created = await store.create(record);
    const found = await store.find(created.id);
    assert.deepEqual(JSON.parse(JSON.stringify(found?.record)), record);
    assert.deepEqual([found?.owner, found?.stamp], [created.owner, created.stamp]);
  });

  test('F02, F05: ids that were never issued are unknown, whatever they look like', async (t) => {
    const { store } = await openStore(t);
    await store.create(recordOf('a'));
    for (const id of [...HOSTILE_IDS, 'a'.repeat(43)]) assert.equal(await store.find(id), undefined);
  });

  test('F04: an idle session ends by itself, and everyone concerned is told once', async (t) => {
    const { store, ended } = await openStore(t, { idleTimeoutMs: 60 });
    const { id, key } = await store.create(recordOf('a'));
    await eventually('it has ended', () => ended.length > 0);
    assert.equal(await store.find(id), undefined);
    assert.deepEqual(ended, [key]);
  });

  test('F04: looking a session up does not keep it alive, using it does, and age ends it all the same', async (t) => {
    const { store, ended } = await openStore(t, { idleTimeoutMs: 300, maxAgeMs: 1_000 });
    const startedAt = performance.now();
    const [used, lookedUp] = await Promise.all([store.create(recordOf('a')), store.create(recordOf('a'))]);
    while (ended.length < 2) {
      store.touch(used.key);
      await store.find(lookedUp.id);
      await delay(10);
    }
    assert.deepEqual(ended, [lookedUp.key, used.key]);
    assert.ok(performance.now() - startedAt >= 990, 'the one that was used lived to its full age');
  });

  test('F04: a deleted session and an expired one go the same way; ending twice is ending once', async (t) => {
    const { store, ended } = await openStore(t);
    const { id, key } = await store.create(recordOf('a'));
    await Promise.all([store.end(key), store.end(key)]);
    await store.end('nobody');
    assert.deepEqual(ended, [key]);
    assert.equal(await store.find(id), undefined);
  });

  test('F04: caps hold for all and for each principal, and every end makes room', async (t) => {
    const { store } = await openStore(t, { max: 3, maxPerPrincipal: 2 });
    const first = await store.create(recordOf('a'));
    await store.create(recordOf('a'));
    await assert.rejects(store.create(recordOf('a')), failure('no-capacity', 'sessions'));
    await store.create(recordOf('b'));
    await assert.rejects(store.create(recordOf('b')), failure('no-capacity', 'sessions'));
    await store.end(first.key);
    await store.create(recordOf('a'));
    await assert.rejects(store.create(recordOf('c')), failure('no-capacity', 'sessions'));
  });

  test('F04: limits that change hold for sessions that are open', async (t) => {
    const { store, ended } = await openStore(t);
    const { key } = await store.create(recordOf('a'));
    store.applyLimits(limitsOf({ idleTimeoutMs: 50, max: 1 }));
    await assert.rejects(store.create(recordOf('b')), failure('no-capacity', 'sessions'));
    await eventually('it has ended', () => ended.length > 0);
    assert.deepEqual(ended, [key]);
  });
}
