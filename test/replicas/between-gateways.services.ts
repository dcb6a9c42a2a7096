// Two gateways with one Redis, and somebody who listens on the network between them.
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { authOf, keyOf } from '../support/access-rig.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { openSession } from '../support/raw-session.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type RunningGateways, runGateways } from '../support/running-gateways.ts';

interface Eavesdropper {
  readonly port: number;
  /** All bytes, both ways. */
  text(): string;
}

/** Hands everything on, and keeps it. */
async function eavesdrop(t: TestContext, target: number): Promise<Eavesdropper> {
  const heard: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const home = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, home],
      [home, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk: Buffer) => heard.push(chunk));
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port, text: () => Buffer.concat(heard).toString('latin1') };
}

interface Pair {
  readonly gateways: RunningGateways;
  readonly wires: readonly Eavesdropper[];
}

async function startPair(t: TestContext, redis: TestRedis): Promise<Pair> {
  const ports = [await freePort(), await freePort()];
  const wires = [await eavesdrop(t, ports[0] ?? 0), await eavesdrop(t, ports[1] ?? 0)];
  const secret = 'a secret of two gateways, 0123456789';
  const gateways = await runGateways(
    { stdio: {}, secrets: [secret], gateway: { auth: authOf({ ann: {}, ben: {} }) } },
    ports.map((port, index) => (config) => ({
      ...config,
      redis: { url: redis.url, keyPrefix: 'test:', timeoutMs: 1_000 },
      replica: { listen: { host: '127.0.0.1', port }, url: `http://127.0.0.1:${wires[index]?.port}`, secret },
    })),
  );
  t.after(() => gateways.close());
  await eventually('they know each other', async () => {
    const statuses = await Promise.all(gateways.members.map(({ adminUrl }) => fetch(`${adminUrl}/status`)));
    const known = await Promise.all(
      statuses.map(async (status) => ((await status.json()) as { replicas: unknown[] }).replicas),
    );
    return known.every(({ length }) => length === 2);
  });
  return { gateways, wires };
}

test('F01 a session is used through either gateway, and no credential is on the wire between them', async (t) => {
  await using redis = await startRedis();
  const { gateways, wires } = await startPair(t, redis);
  const [one, other] = gateways.members;
  const { headers } = keyOf('ann');
  const session = await openSession(`${one?.url}/mcp`, { headers });
  const elsewhere = await openSession(`${other?.url}/mcp`, { headers });
  const here = elsewhere.id;
  elsewhere.id = session.id;
  assert.equal(await elsewhere.tool('echo', { text: 'through the other' }), 'through the other');
  session.id = here;
  assert.equal(await session.tool('echo', { text: 'and back' }), 'and back');

  const traffic = wires.map((wire) => wire.text()).join('');
  assert.match(traffic, /POST \/exchange HTTP\/1\.1/);
  assert.match(traffic, /through the other[\s\S]*and back|and back[\s\S]*through the other/);
  assert.doesNotMatch(traffic, /authorization/i);
  assert.doesNotMatch(traffic, /bearer/i);
  const token = headers.authorization.replace(/^Bearer /, '');
  assert.ok(!traffic.includes(token), 'the token itself');

  const metrics = await (await fetch(`${other?.adminUrl}/metrics`)).text();
  assert.match(metrics, /^portico_replica_forwards_total\{direction="out",outcome="answered"\} \d+$/m);
  assert.match(metrics, /^portico_replica_forwards_total\{direction="in",outcome="answered"\} \d+$/m);
  assert.match(metrics, /^portico_replicas_live 2$/m);
});

test('F05 a session is nobody else’s, through either gateway', async (t) => {
  await using redis = await startRedis();
  const { gateways } = await startPair(t, redis);
  const [one, other] = gateways.members;
  const session = await openSession(`${one?.url}/mcp`, keyOf('ann'));
  const thief = await openSession(`${other?.url}/mcp`, keyOf('ben'));
  thief.id = session.id;
  const { answer } = thief.start('tools/list');
  assert.equal((await answer).status, 404);
});

test('F44 a gateway that ends is off the other’s list at once', async (t) => {
  await using redis = await startRedis();
  const { gateways } = await startPair(t, redis);
  const [one, other] = gateways.members;
  await other?.close();
  await eventually('it is alone', async () => {
    const status = (await (await fetch(`${one?.adminUrl}/status`)).json()) as {
      replicas: { self: boolean }[];
    };
    return status.replicas.length === 1 && status.replicas[0]?.self === true;
  });
});
