import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { MemorySessionStore } from '../../src/state/memory-session-store.ts';
import type { SessionLimits, SessionRecord } from '../../src/state/session-store.ts';
import { failure } from '../support/http-rig.ts';

const recordOf = (principal: string): SessionRecord => ({
  principal,
  view: undefined,
  version: '2025-11-25',
  clientCapabilities: {},
  clientInfo: undefined,
});

function openStore(t: TestContext, limits: Partial<SessionLimits> = {}) {
  const store = new MemorySessionStore({
    idleTimeoutMs: 60_000,
    maxAgeMs: 60_000,
    max: 10,
    maxPerPrincipal: 5,
    ...limits,
  });
  const ended: string[] = [];
  store.onLost((key) => ended.push(key));
  t.after(() => store.close());
  return { store, ended };
}

test('an id is 256 random bits, and the key that stands for it elsewhere does not give it away', async (t) => {
  const { store } = openStore(t);
  const { id, key } = await store.create(recordOf('a'));
  assert.match(id, /^[A-Za-z0-9_-]{43}$/);
  assert.notEqual(key, id);
  assert.equal((await store.find(id))?.key, key);
  assert.equal(await store.find(key), undefined);
});

test('F02, F05: ids that were never issued are unknown, whatever they look like, and allocate nothing', async (t) => {
  const { store } = openStore(t);
  await store.create(recordOf('a'));
  const hostile = [
    '',
    ' ',
    '*',
    '?a=b&c',
    '../..',
    'a'.repeat(43),
    'ä',
    '\n',
    '__proto__',
    'x'.repeat(100_000),
  ];
  for (const id of hostile) assert.equal(await store.find(id), undefined);
  assert.equal(store.size, 1);
});

test('F04: an idle session ends by itself, and everyone concerned is told once', async (t) => {
  const { store, ended } = openStore(t, { idleTimeoutMs: 60 });
  const { id, key } = await store.create(recordOf('a'));
  while (store.size > 0) await delay(5);
  assert.deepEqual(ended, [key]);
  assert.equal(await store.find(id), undefined);
});

test('F04: looking a session up does not keep it alive, using it does, and age ends it all the same', async (t) => {
  const { store, ended } = openStore(t, { idleTimeoutMs: 150, maxAgeMs: 500 });
  const startedAt = performance.now();
  const [used, lookedUp] = await Promise.all([store.create(recordOf('a')), store.create(recordOf('a'))]);
  while (store.size > 0) {
    store.touch(used.key);
    await store.find(lookedUp.id);
    await delay(10);
  }
  assert.deepEqual(ended, [lookedUp.key, used.key]);
  assert.ok(performance.now() - startedAt >= 500, 'the one that was used lived to its full age');
});

test('F04: a deleted session and an expired one go the same way; ending twice is ending once', async (t) => {
  const { store, ended } = openStore(t);
  const { key } = await store.create(recordOf('a'));
  await Promise.all([store.end(key), store.end(key)]);
  await store.end('nobody');
  assert.deepEqual(ended, [key]);
});

test('F04: caps hold for all and for each principal, and every end makes room', async (t) => {
  const { store } = openStore(t, { max: 3, maxPerPrincipal: 2 });
  const first = await store.create(recordOf('a'));
  await store.create(recordOf('a'));
  await assert.rejects(store.create(recordOf('a')), failure('no-capacity', 'sessions'));
  await store.create(recordOf('b'));
  await assert.rejects(store.create(recordOf('b')), failure('no-capacity', 'sessions'));
  await store.end(first.key);
  await store.create(recordOf('a'));
  assert.equal(store.size, 3);
});
