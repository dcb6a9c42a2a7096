// `portico doctor`, a real Redis, and real replicas.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { doctor } from '../../src/cli/doctor.ts';
import { writeConfig } from '../config/written-config.ts';
import { freePort } from '../support/free-port.ts';
import { startRedis } from '../support/redis.ts';
import { redisOfTheFile } from '../support/replica-pair.ts';
import { REPLICA_SECRET } from '../support/replicas-wanted.ts';
import { startReplicas } from '../support/start-replicas.ts';

for (const [password, exitCode, told] of [
  ['right-password', 0, /redis .* ok +answers and counts\n/],
  ['wrong-password', 1, /redis .* FAILED .*\n +Check gateway\.redis\.url/],
] as const) {
  test(`Redis is asked to count, with the ${password}`, async (t) => {
    await using redis = await startRedis({ password: 'right-password' });
    const url = `redis://:${password}@127.0.0.1:${redis.port}`;
    const { file } = await writeConfig(t, JSON.stringify({ mcpServers: {}, gateway: { redis: { url } } }));
    let text = '';
    const output = { write: (written: string) => (text += written) };
    assert.equal(await doctor({ file, env: {}, stdout: output, stderr: output }), exitCode, text);
    assert.match(text, told);
    assert.doesNotMatch(text, /(right|wrong)-password/);
  });
}

interface Replica {
  readonly redis: { readonly url: string; readonly keyPrefix: string };
  readonly port: number;
  readonly url?: string;
  readonly secret?: string;
}

async function examined(t: TestContext, { redis: { url, keyPrefix }, port, ...replica }: Replica) {
  const gateway = {
    redis: { url, keyPrefix },
    replica: {
      listen: { host: '127.0.0.1', port },
      url: `http://127.0.0.1:${port}`,
      secret: REPLICA_SECRET,
      ...replica,
    },
  };
  const { file } = await writeConfig(t, JSON.stringify({ mcpServers: {}, gateway }));
  let text = '';
  const output = { write: (written: string) => (text += written) };
  const exitCode = await doctor({ file, env: {}, stdout: output, stderr: output });
  assert.doesNotMatch(text, /secret-of-all/);
  return { exitCode, text };
}

async function running(t: TestContext) {
  const redis = await redisOfTheFile();
  const service = await startReplicas({ count: 2, redis, stdio: { switches: ['--era=modern'] } });
  t.after(() => service.close());
  const portsOfLive = async () => {
    const status = await (await fetch(`${service.replicas[0]?.adminUrl}/status`)).json();
    const { replicas = [] } = status as { replicas?: { url: string }[] };
    return replicas.map(({ url }) => Number(new URL(url).port));
  };
  return { redis, portsOfLive, ports: await portsOfLive() };
}

test('a replica that does not serve yet is reached from outside, and the others from it; none hears of it', async (t) => {
  const { redis, ports, portsOfLive } = await running(t);
  const port = await freePort();
  const { exitCode, text } = await examined(t, { redis, port });
  assert.equal(exitCode, 0, text);
  assert.match(text, /replica http:\S+ +ok +leads to gateway\.replica\.listen; nobody serves there yet\n/);
  assert.match(text, /replica the others +ok +2 live, each of them answers\n/);
  assert.deepEqual(await portsOfLive(), ports);
  assert.equal(ports.length, 2);
});

test('one that serves is reached where it serves', async (t) => {
  const { redis, ports } = await running(t);
  const { exitCode, text } = await examined(t, { redis, port: ports[0] ?? 0 });
  assert.equal(exitCode, 0, text);
  assert.match(text, /replica http:\S+ +ok +the replica that serves there answers\n/);
  assert.match(text, /replica the others +ok +1 live, each of them answers\n/);
});

test('a URL that leads nowhere, or to another replica, and another secret are told apart', async (t) => {
  const { redis, ports } = await running(t);
  const nowhere = await examined(t, {
    ...{ redis, port: await freePort(), url: `http://127.0.0.1:${await freePort()}` },
  });
  assert.equal(nowhere.exitCode, 1);
  assert.match(nowhere.text, /FAILED .*ECONNREFUSED.*\n +Its port has to be open from replica to replica/);
  const url = `http://127.0.0.1:${ports[0]}`;
  const elsewhere = await examined(t, { redis, port: await freePort(), url });
  assert.match(elsewhere.text, /FAILED .*the replica answered 403.*\n +gateway\.replica\.secret has to be/);
  const secret = `${REPLICA_SECRET} of others`;
  const foreign = await examined(t, { redis, port: await freePort(), secret });
  assert.match(
    foreign.text,
    /the others +FAILED +2 in Redis with another secret\n +gateway\.replica\.secret/,
  );
  const taken = await examined(t, { redis, port: ports[0] ?? 0, secret });
  assert.match(taken.text, /FAILED .*EADDRINUSE.*\n +Something listens at gateway\.replica\.listen/);
});
