// Credentials that are kept: obtained once, renewed in time, never beyond their end, and left alone where they cannot
// be had.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CredentialFailure } from '../../../src/servers/credentials/credential.ts';
import { CredentialCache, type Obtaining } from '../../../src/servers/credentials/credential-cache.ts';

const SECOND = 1_000;

/** A cache whose clock stands still, and an endpoint that issues `1`, `2`, `3`. */
function rig(lifetimeMs = 300 * SECOND, maxEntries = 100) {
  let nowMs = 1_000_000;
  let issued = 0;
  let failure: CredentialFailure | undefined;
  const cache = new CredentialCache(() => nowMs, { maxEntries });
  const of = (key: string, more: Partial<Obtaining> = {}): Obtaining => ({
    key,
    async obtain() {
      issued += 1;
      const token = `${issued}`;
      await new Promise(setImmediate);
      if (failure !== undefined) throw failure;
      return { token, expiresAtMs: nowMs + lifetimeMs };
    },
    ...more,
  });
  return {
    cache,
    of,
    get: async (key = 'a', more: Partial<Obtaining> = {}) => (await cache.get(of(key, more))).token,
    pass(ms: number) {
      nowMs += ms;
    },
    fail(reason: CredentialFailure['reason'] | undefined) {
      failure = reason && new CredentialFailure(reason, 'said so');
    },
    get now() {
      return nowMs;
    },
    get issued() {
      return issued;
    },
  };
}

/** What was begun in the background is over: it takes one turn of the loop. */
async function renewed(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
}

test('64 that ask at once wait for one request', async () => {
  const { get, of, cache } = rig();
  const tokens = await Promise.all(Array.from({ length: 64 }, () => cache.get(of('a'))));
  assert.deepEqual(new Set(tokens.map(({ token }) => token)), new Set(['1']));
  assert.equal(await get(), '1');
});

test('each key has its own', async () => {
  const { get } = rig();
  assert.deepEqual([await get('a'), await get('b'), await get('a')], ['1', '2', '1']);
});

test('a new one is obtained before the old one ends, and nobody waits for it', async () => {
  const { get, pass } = rig();
  assert.equal(await get(), '1');
  pass(269 * SECOND);
  assert.equal(await get(), '1');
  pass(2 * SECOND);
  assert.equal(await get(), '1', 'the old one serves meanwhile');
  await renewed();
  assert.equal(await get(), '2');
});

test('one that is about to end is used no more', async () => {
  const { get, pass } = rig();
  await get();
  pass(295 * SECOND);
  assert.equal(await get(), '2');
});

test('a short life is used for most of it', async () => {
  const { get, pass } = rig(4 * SECOND);
  await get();
  pass(2 * SECOND);
  assert.equal(await get(), '1');
  pass(1.8 * SECOND);
  assert.equal(await get(), '2');
});

test('none outlives what it may not outlive, and a later end renews it', async () => {
  const { cache, of, get, pass, now } = rig();
  const latestEndMs = now + 60 * SECOND;
  const credential = await cache.get(of('a', { latestEndMs }));
  assert.equal(credential.expiresAtMs, latestEndMs);
  pass(50 * SECOND);
  await get('a', { latestEndMs });
  await renewed();
  assert.equal(await get('a', { latestEndMs }), '1', 'no other could be had for longer');
  await get('a', { latestEndMs: latestEndMs + 300 * SECOND });
  await renewed();
  assert.equal(await get('a', { latestEndMs }), '2');
});

test('an endpoint that is down is asked once a pause, for everyone, and says when to come back', async () => {
  const made = rig();
  made.fail('endpoint-unavailable');
  const refused = async (key: string) => {
    const thrown = await made.get(key).catch((error: unknown) => error);
    assert.ok(thrown instanceof CredentialFailure);
    return [thrown.reason, thrown.retryAfterMs, made.issued];
  };
  assert.deepEqual(await refused('a'), ['endpoint-unavailable', 1_000, 1]);
  assert.deepEqual(await refused('b'), ['endpoint-unavailable', 1_000, 1]);
  made.pass(1_000);
  assert.deepEqual(await refused('b'), ['endpoint-unavailable', 2_000, 2]);
  made.pass(2_000);
  made.fail(undefined);
  assert.equal(await made.get('a'), '3');
  assert.equal(await made.get('b'), '4');
});

test('what an endpoint refuses to one is not refused to another', async () => {
  const made = rig();
  made.fail('endpoint-refused');
  await assert.rejects(made.get('a'), CredentialFailure);
  made.fail(undefined);
  await assert.rejects(made.get('a'), CredentialFailure);
  assert.equal(await made.get('b'), '2');
  made.pass(1_000);
  assert.equal(await made.get('a'), '3');
});

test('while the endpoint is down, what is still good serves', async () => {
  const made = rig();
  await made.get();
  made.pass(280 * SECOND);
  made.fail('endpoint-unavailable');
  assert.equal(await made.get(), '1');
  await renewed();
  assert.equal(await made.get(), '1');
  made.pass(20 * SECOND);
  await assert.rejects(made.get(), CredentialFailure);
});

test('one that the server refused is forgotten once, and a fresh one is not asked for again', async () => {
  const { cache, of, get, pass } = rig();
  const first = await cache.get(of('a'));
  assert.equal(cache.forget('a', first), false, 'it is as new as any');
  pass(3 * SECOND);
  assert.equal(cache.forget('a', first), true);
  const second = await cache.get(of('a'));
  assert.equal(second.token, '2');
  assert.equal(cache.forget('a', first), true, 'there is a newer one to try');
  assert.equal(await get(), '2', 'which is kept');
});

test('the number that is kept has a bound', async () => {
  const { cache, get } = rig(300 * SECOND, 3);
  for (const key of ['a', 'b', 'c', 'a', 'd']) await get(key);
  assert.equal(cache.size, 3);
  assert.equal(await get('a'), '1');
  assert.equal(await get('b'), '5');
});
