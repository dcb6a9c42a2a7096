// Sessions in a real Redis: the contract, what it holds, and what somebody can do who writes to it.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { LATE_WORD_MS } from '../../src/state/owned-sessions.ts';
import { RedisSessionStore } from '../../src/state/redis-session-store.ts';
import { RedisStore } from '../../src/state/redis-store.ts';
import { NEW_STATE, type StoredSession } from '../../src/state/session-store.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../support/eventually.ts';
import { failure } from '../support/http-rig.ts';
import { startRedis } from '../support/redis.ts';
import { limitsOf, newPrefix, replicasOnRedis } from '../support/session-replicas.ts';
import { HOSTILE_IDS, recordOf, sessionStoreContract } from './session-store-contract.ts';

const MAC_KEY = randomBytes(32);
const logger = createLogger({ level: 'silent', secrets: [] });

const { redis, start: startReplica } = replicasOnRedis();

async function keys(prefix: string): Promise<string[]> {
  const found = (await redis().command('KEYS', `${prefix}*`)) as string[];
  return found.map((key) => key.slice(prefix.length)).sort();
}

async function textOf(prefix: string, { key }: StoredSession): Promise<string> {
  return (await redis().command('GET', `${prefix}s:${key}`)) as string;
}

describe('sessions in Redis', () => {
  sessionStoreContract(async (t: TestContext, limits) => {
    const { store, ...replica } = await startReplica({ prefix: newPrefix(), limits });
    t.after(() => replica[Symbol.asyncDispose]());
    return store;
  });
});

describe('what Redis holds of sessions', () => {
  test('neither an id nor a principal in a key, and every key has an end', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix, limits: { idleTimeoutMs: 20_000 } });
    const { id, key } = await one.store.create(recordOf('subject'));
    assert.deepEqual(
      (await keys(prefix)).filter((name) => name !== 'replicas').map((name) => name.replace(/:.*/, '')),
      ['s', 'sessions', 'sp'],
    );
    for (const name of await keys(prefix)) {
      assert.ok(!name.includes(id) && !name.includes('subject'), name);
      const livesMs = (await redis().command('PTTL', `${prefix}${name}`)) as number;
      assert.ok(livesMs > 0 && livesMs <= 20_000 + LATE_WORD_MS, `${name} lives ${livesMs} ms`);
    }
    assert.ok(!(await textOf(prefix, { key } as StoredSession)).includes(id));
  });

  test('F02, F05: ids that were never issued allocate nothing, and what cannot be one is not even asked for', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix });
    const known = await keys(prefix);
    const asked = async () =>
      Number(/cmdstat_get:calls=(\d+)/.exec(String(await redis().command('INFO', 'commandstats')))?.[1] ?? 0);
    const before = await asked();
    for (const id of HOSTILE_IDS) assert.equal(await one.store.find(id), undefined);
    assert.equal(await asked(), before);
    for (let n = 0; n < 200; n += 1)
      assert.equal(await one.store.find(randomBytes(32).toString('base64url')), undefined);
    assert.equal(await asked(), before + 200);
    assert.deepEqual(await keys(prefix), known);
  });

  test('F04: what has ended leaves nothing behind, however it ended', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix, limits: { idleTimeoutMs: 150 } });
    const [first] = await Promise.all(
      ['a', 'a', 'b'].map((principal) => one.store.create(recordOf(principal))),
    );
    await one.store.end(first?.key ?? '');
    await eventually('all have ended', async () => one.lost.length === 3);
    await eventually('nothing is left', async () =>
      (await keys(prefix)).every((name) => name === 'replicas'),
    );
  });

  test('F04: a session lives in Redis as long as it is used, and never past its age', async () => {
    const prefix = newPrefix();
    let now = 1_000_000;
    await using one = await startReplica({
      prefix,
      limits: { idleTimeoutMs: 5_000, maxAgeMs: 60_000 },
      now: () => now,
    });
    const { key, id } = await one.store.create(recordOf('a'));
    const livesMs = async () => (await redis().command('PTTL', `${prefix}s:${key}`)) as number;
    assert.ok((await livesMs()) <= 5_000 + LATE_WORD_MS);
    now += 58_000;
    one.store.touch(key);
    await one.store.check(key);
    const left = await livesMs();
    assert.ok(left > 1_000 && left <= 2_000, `${left} ms are left`);
    now += 3_000;
    assert.equal(await one.store.find(id), undefined);
    assert.deepEqual(one.lost, [`${key} over`]);
  });

  test('what becomes of a session leaves it the time that it had', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix, limits: { idleTimeoutMs: 20_000 } });
    const { key } = await one.store.create(recordOf('a'));
    await one.store.save(key, { ...NEW_STATE, initialized: true });
    const livesMs = async () => (await redis().command('PTTL', `${prefix}s:${key}`)) as number;
    assert.ok((await livesMs()) > 0, 'written');
    await redis().command('PEXPIRE', `${prefix}s:${key}`, 5_000);
    one.store.touch(key);
    await one.store.leave(key);
    assert.ok((await livesMs()) > 5_000, 'its last use counts');
  });

  test('what is too large to be kept of a session is left out, and the rest is kept', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix });
    const { id, key } = await one.store.create(recordOf('a'));
    const subscriptions = { docs: ['x'.repeat(100_000)] };
    await one.store.save(key, { ...NEW_STATE, logLevel: 'debug', subscriptions });
    const state = (await one.store.find(id))?.state;
    assert.deepEqual([state?.logLevel, state?.subscriptions], ['debug', {}]);
  });

  test('a session whose record is gone makes room for another at once', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix, limits: { max: 1 } });
    const { key } = await one.store.create(recordOf('a'));
    await redis().command('DEL', `${prefix}s:${key}`);
    await one.store.check(key);
    assert.deepEqual(one.lost, [`${key} over`]);
    await one.store.create(recordOf('a'));
  });

  test('F04: age ends a session that is used all the time', async () => {
    let now = 1_000_000;
    await using one = await startReplica({
      prefix: newPrefix(),
      limits: { idleTimeoutMs: 500, maxAgeMs: 60_000 },
      now: () => now,
    });
    const { key } = await one.store.create(recordOf('a'));
    now += 60_001;
    await eventually('it has ended', () => {
      one.store.touch(key);
      return one.lost.length > 0;
    });
    assert.deepEqual(one.lost, [`${key} over`]);
  });

  test('word of a use that comes late does not count from when it came', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix, limits: { idleTimeoutMs: 5_000 } });
    const { key } = await one.store.create(recordOf('a'));
    one.store.touch(key);
    // Time itself: nothing happens that could be awaited.
    await delay(400);
    await one.store.check(key);
    const livesMs = (await redis().command('PTTL', `${prefix}s:${key}`)) as number;
    assert.ok(livesMs <= 5_000 + LATE_WORD_MS - 300, `${livesMs} ms are left`);
  });

  test('a clock that goes ahead gives no session more time', async () => {
    const prefix = newPrefix();
    await using ahead = await startReplica({ prefix, now: () => Date.now() + 3_600_000 });
    await using one = await startReplica({ prefix });
    const { id } = await ahead.store.create(recordOf('a'));
    const taken = await one.store.take((await one.store.find(id)) ?? assert.fail());
    one.store.touch(taken?.key ?? '');
    await one.store.check(taken?.key ?? '');
    assert.ok(((await redis().command('PTTL', `${prefix}s:${taken?.key}`)) as number) <= 60_000);
  });

  test('a client that says too much of itself is refused, for each of its requests would read it', async () => {
    await using one = await startReplica({ prefix: newPrefix() });
    const record = { ...recordOf('a'), clientInfo: { name: 'x'.repeat(70_000) } };
    await assert.rejects(one.store.create(record), failure('params-invalid'));
  });
});

async function putList(key: string): Promise<void> {
  await redis().command('DEL', key);
  await redis().command('LPUSH', key, 'x');
}

describe('somebody else who writes to Redis', () => {
  async function victim(prefix: string) {
    const replica = await startReplica({ prefix });
    const [mine, theirs] = await Promise.all(['a', 'b'].map((name) => replica.store.create(recordOf(name))));
    assert.ok(mine && theirs);
    return { replica, mine, theirs };
  }

  test('F05: whatever is changed in a record makes it as absent, and is counted', async () => {
    const prefix = newPrefix();
    const { replica, mine, theirs } = await victim(prefix);
    await using _ = replica;
    const [text, other] = await Promise.all([textOf(prefix, mine), textOf(prefix, theirs)]);
    const [owner, mac, ...json] = text.split(' ');
    const forgeries = [
      other,
      text.replace('"principal":"a"', '"principal":"b"'),
      text.replace('"createdAt":1', '"createdAt":2'),
      `${owner}x ${mac} ${json.join(' ')}`,
      ` ${mac} ${json.join(' ')}`,
      `${owner} ${'A'.repeat(43)} ${json.join(' ')}`,
      `${owner} ${'ä'.repeat(43)} ${json.join(' ')}`,
      `${text} `,
      json.join(' '),
      'null',
      '',
      'x'.repeat(1_000_000),
    ];
    for (const forgery of forgeries) {
      await redis().command('SET', `${prefix}s:${mine.key}`, forgery);
      assert.equal(await replica.store.find(mine.id), undefined, forgery.slice(0, 100));
    }
    assert.equal(replica.forged, forgeries.length);
    assert.equal((await replica.store.find(theirs.id))?.record.principal, 'b');
  });

  test('F05: a record under the key of other replicas’ secret is none', async () => {
    const prefix = newPrefix();
    await using foreign = await startReplica({ prefix, macKey: randomBytes(32) });
    await using replica = await startReplica({ prefix });
    const { id } = await foreign.store.create(recordOf('a'));
    assert.equal(await replica.store.find(id), undefined);
    assert.equal(replica.forged, 1);
  });

  test('F05, F55: a value of another kind under the name of a session is no session, and Redis is not away', async () => {
    const prefix = newPrefix();
    const { replica, mine, theirs } = await victim(prefix);
    await using _ = replica;
    const found = (await replica.store.find(mine.id)) ?? assert.fail();
    await putList(`${prefix}s:${mine.key}`);
    for (let n = 0; n < 5; n += 1) assert.equal(await replica.store.find(mine.id), undefined);
    assert.equal(replica.forged, 5);
    assert.deepEqual(replica.lost, [`${mine.key} over`]);
    assert.equal(await replica.store.take(found), undefined);
    assert.equal(await replica.store.remove(found), true);
    assert.equal((await replica.store.find(theirs.id))?.record.principal, 'b');
  });

  test('F55: an owner that looks after a session learns that it is none any more', async () => {
    const prefix = newPrefix();
    const { replica, mine, theirs } = await victim(prefix);
    await using _ = replica;
    for (const { key } of [mine, theirs]) await putList(`${prefix}s:${key}`);
    await replica.store.check(mine.key);
    await replica.store.save(theirs.key, { ...NEW_STATE, logLevel: 'info' });
    assert.deepEqual(replica.lost, [`${mine.key} over`, `${theirs.key} over`]);
  });

  test('F55: keys of another kind in the place of what counts sessions and replicas are dropped', async () => {
    const prefix = newPrefix();
    const { replica } = await victim(prefix);
    await using _ = replica;
    const sets = (await keys(prefix)).filter((name) => !name.startsWith('s:'));
    assert.deepEqual(
      sets.map((name) => name.replace(/:.*/, '')),
      ['replicas', 'sessions', 'sp', 'sp'],
    );
    for (const name of sets) await putList(`${prefix}${name}`);
    await replica.store.create(recordOf('a'));
    await using other = await startReplica({ prefix });
    await other.store.create(recordOf('b'));
    const kinds = await Promise.all(sets.map((name) => redis().command('TYPE', `${prefix}${name}`)));
    assert.deepEqual(kinds, ['zset', 'zset', 'zset', 'zset']);
  });
});

describe('F55: Redis is away', () => {
  test('every question fails at once after the first two, an end is an end, and Redis hears of it later', async () => {
    await using away = await startRedis();
    const shared = new RedisStore({ url: away.url, keyPrefix: 'away:', timeoutMs: 100, logger });
    await shared.open();
    const store = new RedisSessionStore({
      connection: shared.connection,
      replica: 'one',
      macKey: MAC_KEY,
      limits: limitsOf(),
      onForged: () => {},
    });
    const lost: string[] = [];
    store.onLost((key, loss) => lost.push(`${key} ${loss}`));
    const [ended, kept] = await Promise.all([store.create(recordOf('a')), store.create(recordOf('a'))]);
    await away.pause();
    await eventually('it is known', async () => {
      await assert.rejects(store.find(kept.id), failure('store-unavailable'));
      return !shared.available;
    });
    const begunAt = performance.now();
    await assert.rejects(store.create(recordOf('a')), failure('store-unavailable'));
    await assert.rejects(
      store.save(kept.key, { ...NEW_STATE, logLevel: 'info' }),
      failure('store-unavailable'),
    );
    await store.end(ended.key);
    assert.ok(performance.now() - begunAt < 100);
    assert.deepEqual(lost, [`${ended.key} over`]);
    await away.resume();
    await eventually('it answers', () =>
      store.find(kept.id).then(
        () => true,
        () => false,
      ),
    );
    assert.equal(await store.find(ended.id), undefined, 'though its record is there');
    store.touch(kept.key);
    const using_ = setInterval(() => store.touch(kept.key), 50);
    // From here on it tells soon; the record would be there for a minute, and does not just run out.
    store.applyLimits(limitsOf({ idleTimeoutMs: 1_000 }));
    await eventually(
      'it has heard of the end',
      async () => (await away.command('EXISTS', `away:s:${ended.key}`)) === 0,
    );
    await eventually(
      'it has heard of the level',
      async () => (await store.find(kept.id))?.state.logLevel === 'info',
    );
    assert.equal(await store.find(ended.id), undefined);
    clearInterval(using_);
    await store.close();
    await shared.close();
  });

  test('F55: after a flush sessions are gone, and their owner learns of it', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix, limits: { idleTimeoutMs: 1_000 } });
    const { key } = await one.store.create(recordOf('a'));
    await redis().command('FLUSHALL');
    one.store.touch(key);
    await eventually('it knows', () => one.lost.length > 0);
    assert.deepEqual(one.lost, [`${key} over`]);
  });
});
