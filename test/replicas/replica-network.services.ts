// Replicas that find each other, and tell each other news, in a real Redis that comes and goes.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ReplicaClient } from '../../src/replicas/replica-client.ts';
import { replicaKeys } from '../../src/replicas/replica-keys.ts';
import { createReplicaMetrics } from '../../src/replicas/replica-metrics.ts';
import { ReplicaNetwork } from '../../src/replicas/replica-network.ts';
import { type ReplicaEvent, ReplicaUnreachable } from '../../src/replicas/replicas.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { RedisStore } from '../../src/state/redis-store.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { SECRET, sentExchange } from '../support/replica-wire.ts';

interface Member {
  readonly network: ReplicaNetwork;
  readonly heard: { readonly event: ReplicaEvent; readonly from: string }[];
  close(): Promise<void>;
}

async function join(t: TestContext, redis: TestRedis, id: string, secret = SECRET): Promise<Member> {
  const logger = createLogger({ level: 'silent', secrets: [] });
  const options = { url: redis.url, keyPrefix: 'test:', timeoutMs: 1_000, logger };
  const store = new RedisStore(options);
  const keys = replicaKeys(secret);
  const budget = new BufferBudget(1024 * 1024);
  const port = await freePort();
  const network = new ReplicaNetwork({
    ...{ id, keys, logger },
    config: { listen: { host: '127.0.0.1', port }, url: `http://127.0.0.1:${port}`, secret },
    client: new ReplicaClient({ self: id, keys, budget, maxFrameBytes: () => 1_000 }),
    metrics: createReplicaMetrics(createMetrics({ processMetrics: false })),
    redis: { ...options, connection: store.connection },
  });
  const heard: Member['heard'] = [];
  network.onEvent((event, from) => heard.push({ event, from }));
  await store.open();
  await network.open();
  const close = async () => {
    await network.close();
    await store.close();
  };
  t.after(close);
  return { network, heard, close };
}

const idsOf = ({ network }: Member) => network.live.map(({ id }) => id).sort();

async function know(members: readonly Member[], ids: readonly string[]): Promise<void> {
  for (const member of members) {
    await eventually(`${member.network.id} knows ${ids}`, () => idsOf(member).join() === ids.join());
  }
}

test('replicas know of each other as soon as one joins, and of its end as soon as it leaves', async (t) => {
  await using redis = await startRedis();
  const a = await join(t, redis, 'a');
  const b = await join(t, redis, 'b');
  const c = await join(t, redis, 'c');
  await know([a, b, c], ['a', 'b', 'c']);
  for (const key of ['x', 'y', 'z']) {
    assert.equal(new Set([a, b, c].map(({ network }) => network.homeOf(key))).size, 1, key);
  }
  await c.network.leave();
  // What leaves is still found, for what lives there.
  assert.equal(b.network.find('c')?.self, false);
  await c.close();
  await know([a, b], ['a', 'b']);
});

test('news reaches all others, once, and not the one who told it', async (t) => {
  await using redis = await startRedis();
  const a = await join(t, redis, 'a');
  const b = await join(t, redis, 'b');
  const c = await join(t, redis, 'c');
  const news: ReplicaEvent = { kind: 'session-ended', key: 'k' };
  const told = (member: Member) => member.heard.filter(({ event }) => event.kind === news.kind);
  a.network.publish(news);
  a.network.publish({ kind: 'session-moved', key: 'k', owner: 'a' });
  for (const one of [b, c]) {
    await eventually('both are heard', () => one.heard.some(({ event }) => event.kind === 'session-moved'));
    assert.deepEqual(told(one), [{ event: news, from: 'a' }]);
  }
  assert.deepEqual(told(a), []);
});

test('whoever has another secret is neither known nor heard, though it has the same Redis', async (t) => {
  await using redis = await startRedis();
  const a = await join(t, redis, 'a');
  const foreign = await join(t, redis, 'foreign', `${SECRET}!`);
  const b = await join(t, redis, 'b');
  foreign.network.publish({ kind: 'session-ended', key: 'forged' });
  await redis.command('PUBLISH', 'test:replicas:events', 'garbage');
  await redis.command('ZADD', 'test:replicas:live', 9e15, 'garbage');
  b.network.publish({ kind: 'session-ended', key: 'real' });
  await eventually('the real one is heard', () =>
    a.heard.some(({ event }) => event.kind === 'session-ended' && event.key === 'real'),
  );
  assert.ok(a.heard.every(({ from }) => from === 'b'));
  await a.network.leave();
  assert.deepEqual(idsOf(a), ['a', 'b']);
  assert.deepEqual(idsOf(foreign), ['foreign']);
});

test('F55 without Redis the last list holds; when it is back, empty, news goes round again', async (t) => {
  await using redis = await startRedis();
  const a = await join(t, redis, 'a');
  const b = await join(t, redis, 'b');
  await know([a, b], ['a', 'b']);
  await redis.stop();
  a.network.publish({ kind: 'session-ended', key: 'lost' });
  assert.deepEqual(idsOf(a), ['a', 'b']);
  await redis.start();
  let count = 0;
  await eventually('b hears of a again', () => {
    count += 1;
    a.network.publish({ kind: 'session-ended', key: `again ${count}` });
    return b.heard.some(({ event }) => event.kind === 'session-ended' && event.key.startsWith('again'));
  });
  assert.deepEqual(idsOf(a), ['a', 'b']);
  assert.deepEqual(idsOf(b), ['a', 'b']);
});

test('F55 a Redis that was never there keeps nobody from starting or ending', async (t) => {
  await using redis = await startRedis({ absent: true });
  const a = await join(t, redis, 'a');
  assert.deepEqual(idsOf(a), ['a']);
  assert.equal(a.network.homeOf('x'), 'a');
  await redis.start();
  const b = await join(t, redis, 'b');
  await know([a, b], ['a', 'b']);
});

test('F01 a replica that died is left out at the first message for it, here and now', async (t) => {
  await using redis = await startRedis();
  const a = await join(t, redis, 'a');
  const b = await join(t, redis, 'b');
  await know([a, b], ['a', 'b']);
  const { signal } = new AbortController();
  await assert.rejects(a.network.forward('b', sentExchange(), signal), ReplicaUnreachable);
  assert.equal(a.network.find('b'), undefined);
  assert.equal(a.network.homeOf('whatever belongs to b or a'), 'a');
  await assert.rejects(a.network.forward('nobody', sentExchange(), signal), ReplicaUnreachable);
});
