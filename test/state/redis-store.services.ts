// The store in a real Redis: the contract, and what becomes of a request while Redis is away.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { RedisStore, type RedisStoreOptions } from '../../src/state/redis-store.ts';
import { ForeignValue, StoreUnavailable, type Take } from '../../src/state/store.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createAuthority } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { heldBytes } from '../support/held-memory.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { startSlowProxy } from '../support/slow-proxy.ts';
import { storeContract } from './store-contract.ts';

const PASSWORD = 'p@ss/w:rd';
const TIMEOUT_MS = 100;
/** What the machine may add to a wait when it is busy. */
const SLACK_MS = 150;

let serial = 0;
function counter(changes: Partial<Take> = {}): Take {
  serial += 1;
  return { key: `take ${serial}`, amount: 1, max: 1_000, windowMs: 60_000, ...changes };
}

class Rig implements AsyncDisposable {
  readonly store: RedisStore;
  readonly lines: string[] = [];

  constructor(url: string, changes: Partial<RedisStoreOptions> = {}) {
    this.store = new RedisStore({
      url,
      keyPrefix: 'test:',
      timeoutMs: TIMEOUT_MS,
      logger: createLogger({
        level: 'debug',
        secrets: [],
        destination: { write: (line) => this.lines.push(line) },
      }),
      ...changes,
    });
  }

  static async open(url: string, changes?: Partial<RedisStoreOptions>): Promise<Rig> {
    const rig = new Rig(url, changes);
    await rig.store.open();
    return rig;
  }

  /** How many lines say that. */
  said(words: string): number {
    return this.lines.filter((line) => line.includes(words)).length;
  }

  /** Milliseconds that a take waited, and whether it was answered. */
  async timed(): Promise<{ ms: number; answered: boolean }> {
    const begun = performance.now();
    const answered = await this.store.take([counter()]).then(
      () => true,
      (thrown) => {
        assert.ok(thrown instanceof StoreUnavailable);
        return false;
      },
    );
    return { ms: performance.now() - begun, answered };
  }

  /** Takes until it is known that asking is no use: at most two of them pay, and at most the time allowed. */
  async losesIt(): Promise<void> {
    const waits: number[] = [];
    while (this.store.available) {
      const { ms, answered } = await this.timed();
      assert.equal(answered, false);
      waits.push(ms);
    }
    assert.ok(waits.length <= 2, `${waits.length} takes paid`);
    assert.ok(Math.max(0, ...waits) < TIMEOUT_MS + SLACK_MS, `a take waited ${Math.max(...waits)} ms`);
    for (let n = 0; n < 20; n += 1) {
      const { ms, answered } = await this.timed();
      assert.ok(!answered && ms < SLACK_MS, `a later take waited ${ms} ms`);
    }
    assert.equal(this.said('Redis does not answer'), 1);
  }

  /** Milliseconds until it is available again, of itself. */
  async comesBack(): Promise<number> {
    const begun = performance.now();
    await eventually('it is back', () => this.store.available);
    assert.deepEqual(await this.store.take([counter()]), { taken: true });
    assert.equal(this.said('Redis answers again'), 1);
    return performance.now() - begun;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
  }
}

/** The words with which it refuses a command now. */
function refusal(redis: TestRedis): Promise<string> {
  return redis.command('GET', 'nothing').then(
    () => '',
    (error: Error) => error.message,
  );
}

describe('a store in Redis', () => {
  let redis: TestRedis;
  let rig: Rig;
  before(async () => {
    redis = await startRedis({ password: PASSWORD });
    rig = await Rig.open(redis.url);
  });
  after(async () => {
    await rig.store.close();
    await redis.close();
  });

  storeContract(async () => ({ store: rig.store, pass: delay }));

  test('two clients count as one', async () => {
    await using other = await Rig.open(redis.url);
    const take = counter({ max: 100 });
    const stores = [rig.store, other.store];
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, (_, n) => stores[n % 2]?.take([take]) ?? assert.fail()),
    );
    assert.equal(outcomes.filter(({ taken }) => taken).length, 100);
  });

  test('F55: a key of another kind is the trouble of whoever needs it, and Redis is not away', async () => {
    const take = counter();
    await redis.command('LPUSH', `test:${take.key}`, 'x');
    for (let n = 0; n < 5; n += 1) await assert.rejects(rig.store.take([take]), ForeignValue);
    await assert.rejects(rig.store.takeUpTo(take), ForeignValue);
    assert.ok(rig.store.available);
    assert.equal(rig.said('Redis does not answer'), 0);
    assert.deepEqual(await rig.store.take([counter()]), { taken: true });
    await redis.command('DEL', `test:${take.key}`);
  });

  test('every key has the prefix, and an end', async () => {
    await rig.store.take([counter()]);
    await rig.store.takeUpTo(counter());
    const keys = (await redis.command('KEYS', '*')) as string[];
    assert.ok(keys.length > 2);
    for (const key of keys) {
      assert.ok(key.startsWith('test:'), key);
      // One that has had its end by now is -2.
      assert.notEqual(await redis.command('PTTL', key), -1, key);
    }
  });

  test('replicas are counted while they live', async () => {
    const replicas = async () => {
      await using counting = await Rig.open(redis.url);
      return counting.store.replicas;
    };
    assert.equal(await replicas(), 2);
    const second = await Rig.open(redis.url);
    assert.equal(await replicas(), 3);
    await second.store.close();
    assert.equal(await replicas(), 2);
  });

  test('F55: scripts that a flush took along are there again at once', async () => {
    const take = counter({ max: 1 });
    await rig.store.take([take]);
    await redis.command('FLUSHALL');
    await redis.command('SCRIPT', 'FLUSH');
    assert.deepEqual(await rig.store.take([take]), { taken: true });
    assert.equal((await rig.store.take([take])).taken, false);
    assert.ok(rig.store.available);
  });

  test('a counter that has lost its end gets one', async () => {
    const take = counter({ max: 1 });
    await rig.store.take([take]);
    await redis.command('PERSIST', `test:${take.key}`);
    assert.deepEqual(await rig.store.take([take]), { taken: false, refused: 0, retryAfterMs: 60_000 });
    assert.ok(((await redis.command('PTTL', `test:${take.key}`)) as number) > 0);
  });

  test('F55: a wrong password is no answer, costs no wait and is not logged', async () => {
    await using wrong = await Rig.open(redis.url.replace(encodeURIComponent(PASSWORD), 'not-the-password'));
    assert.equal(wrong.store.available, false);
    const { ms, answered } = await wrong.timed();
    assert.ok(!answered && ms < SLACK_MS);
    assert.equal(wrong.said('WRONGPASS'), 1);
    assert.equal(wrong.said('not-the-password'), 0);
  });
});

describe('TLS', () => {
  test('with an authority of its own', async () => {
    const authority = createAuthority();
    const { cert, key } = authority.issueServer();
    await using redis = await startRedis({
      connect: { tls: { ca: authority.cert } },
      files: { 'cert.pem': cert, 'key.pem': key, 'ca.pem': authority.cert },
      arguments: (folder, port) => [
        ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no'],
        ...['--tls-cert-file', `${folder}/cert.pem`, '--tls-key-file', `${folder}/key.pem`],
        ...['--tls-ca-cert-file', `${folder}/ca.pem`],
      ],
    });
    await using trusting = await Rig.open(redis.url, { ca: authority.cert });
    assert.deepEqual(await trusting.store.take([counter()]), { taken: true });
    await using doubting = await Rig.open(redis.url);
    assert.equal(doubting.store.available, false);
  });
});

describe('F55: Redis is away', () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.close());

  test('at the start: the start goes on, and it is found when it comes', async () => {
    await using late = await startRedis({ absent: true });
    await using rig = await Rig.open(late.url);
    assert.equal(rig.store.available, false);
    await rig.losesIt();
    await late.start();
    assert.ok((await rig.comesBack()) < 1_500);
  });

  test('stopped, and started again', async () => {
    await using rig = await Rig.open(redis.url);
    await redis.stop();
    await rig.losesIt();
    await redis.start();
    assert.ok((await rig.comesBack()) < 1_500);
  });

  test('paused: its socket is open, and nobody answers', async () => {
    await using rig = await Rig.open(redis.url);
    await redis.pause();
    await rig.losesIt();
    await redis.resume();
    assert.ok((await rig.comesBack()) < 1_500);
  });

  test('with many requests at once, none waits longer than one of them', async () => {
    await using rig = await Rig.open(redis.url);
    await redis.pause();
    const waits = await Promise.all(Array.from({ length: 64 }, () => rig.timed()));
    await redis.resume();
    for (const { ms, answered } of waits) assert.ok(!answered && ms < TIMEOUT_MS + SLACK_MS, `${ms} ms`);
  });

  test('paused while it is closed: the end does not wait for it', async () => {
    const rig = await Rig.open(redis.url);
    await redis.pause();
    const begun = performance.now();
    await rig.store.close();
    assert.ok(performance.now() - begun < 1_000);
    await redis.resume();
  });

  test('a primary that became a replica refuses to write, until it is one again', async () => {
    await using rig = await Rig.open(redis.url);
    await redis.command('REPLICAOF', '127.0.0.1', '1');
    await rig.losesIt();
    assert.equal(rig.said('READONLY'), 1);
    await redis.command('REPLICAOF', 'NO', 'ONE');
    assert.ok((await rig.comesBack()) < 1_500);
  });

  test('slow: 300 ms for an answer', async () => {
    await using proxy = await startSlowProxy(redis.port);
    await using rig = await Rig.open(`redis://127.0.0.1:${proxy.port}`);
    proxy.delayMs = 300;
    await rig.losesIt();
    proxy.delayMs = 0;
    assert.ok((await rig.comesBack()) < 1_500);
  });

  test('behind a firewall that has forgotten the connection: a new one is made', async () => {
    await using proxy = await startSlowProxy(redis.port);
    await using rig = await Rig.open(`redis://127.0.0.1:${proxy.port}`);
    proxy.forgetConnections();
    await rig.losesIt();
    assert.ok((await rig.comesBack()) < 3_500);
  });

  test('full: what it refuses to store is no answer', async () => {
    await using rig = await Rig.open(redis.url);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await rig.losesIt();
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    assert.ok((await rig.comesBack()) < 1_500);
  });

  test('loading its data: it lets us in, and answers nothing', async () => {
    await using loading = await startRedis({
      arguments: (_folder, port) => [
        ...['--port', String(port), '--loading-process-events-interval-bytes', '1024'],
        ...['--key-load-delay', '300000'],
      ],
    });
    for (let n = 0; n < 10; n += 1)
      await loading.command('SET', `key ${n}`, randomBytes(2_048).toString('latin1'));
    await loading.command('SAVE');
    await loading.stop();
    const started = loading.start();
    await eventually('it loads', async () => (await refusal(loading)).startsWith('LOADING'));
    await using rig = await Rig.open(loading.url);
    assert.equal(rig.store.available, false);
    await rig.losesIt();
    await started;
    assert.ok((await rig.comesBack()) < 1_500);
  });

  test('commands that nobody waits for any more are not kept', async () => {
    await using proxy = await startSlowProxy(redis.port);
    await using rig = await Rig.open(`redis://127.0.0.1:${proxy.port}`);
    proxy.delayMs = 60_000;
    await rig.losesIt();
    const before = heldBytes();
    for (let n = 0; n < 20_000; n += 1) await rig.store.take([counter()]).catch(() => {});
    assert.ok(heldBytes() - before < 2e6);
  });

  test('a store that was never opened ends all the same, and twice', async () => {
    const rig = new Rig(redis.url);
    assert.equal(rig.store.available, false);
    await rig.store.close();
    await rig.store.close();
  });
});
