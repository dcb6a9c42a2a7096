// The balancer of the tests does what it says, as other tests rely on it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { freePort } from './free-port.ts';
import { RawClient } from './raw-client.ts';
import { startRoundRobinProxy } from './round-robin-proxy.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, name: string) => void;

const sayName: Handler = (request, response, name) => {
  request.resume().on('end', () => response.end(name));
};

/** Two servers that know their names, and how many connections each has had. */
async function twoServers(t: TestContext, handler: Handler = sayName) {
  const connections: string[] = [];
  const servers = await Promise.all(['a', 'b'].map((name) => listening(t, name)));
  async function listening(t: TestContext, name: string): Promise<Server> {
    const server = createServer((request, response) => handler(request, response, name));
    server.on('connection', () => connections.push(name)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close().closeAllConnections());
    return server;
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  const proxy = await startRoundRobinProxy({ ports });
  t.after(() => proxy.close());
  const client = new RawClient(`http://127.0.0.1:${proxy.port}/`, { keepAlive: true });
  t.after(() => client[Symbol.asyncDispose]());
  return { proxy, client, connections, servers };
}

const told = async (client: RawClient) => (await client.send({ body: 'x' })).text();

test('each request goes to the next replica, over a socket of its own', async (t) => {
  const { client, connections, proxy } = await twoServers(t);
  const names = [];
  for (let n = 0; n < 4; n += 1) names.push(await told(client));
  assert.deepEqual(names, ['a', 'b', 'a', 'b']);
  assert.deepEqual(connections, names);
  assert.deepEqual(
    proxy.replicas.map(({ taken }) => taken),
    [2, 2],
  );
});

test('one that is taken out is asked no more, until it is back', async (t) => {
  const { client, proxy } = await twoServers(t);
  const [first] = proxy.replicas;
  assert.ok(first);
  first.isIn = false;
  assert.deepEqual([await told(client), await told(client)], ['b', 'b']);
  first.isIn = true;
  assert.deepEqual(new Set([await told(client), await told(client)]), new Set(['a', 'b']));
});

test('where a replica takes no connection the next one is asked, with the whole body', async (t) => {
  const lengths: number[] = [];
  const { client, proxy, servers } = await twoServers(t, (request, response, name) => {
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
    });
    request.once('end', () => {
      lengths.push(length);
      response.end(name);
    });
  });
  servers[0]?.close();
  for (let n = 0; n < 2; n += 1) {
    const answer = await client.send({ body: Buffer.alloc(300_000) });
    assert.equal(await answer.text(), 'b');
  }
  assert.deepEqual(lengths, [300_000, 300_000]);
  assert.equal(proxy.replicas[0]?.refused, 1);
});

test('a replica that breaks off is not asked again, and the client sees its connection end', async (t) => {
  let asked = 0;
  const { client } = await twoServers(t, (request) => {
    asked += 1;
    request.socket.destroy();
  });
  await assert.rejects(client.send({ body: 'x' }));
  assert.equal(asked, 1);
});

test('bytes come through as they are written, and a client that leaves is noticed', async (t) => {
  const left = Promise.withResolvers<void>();
  const { client } = await twoServers(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    response.once('close', () => left.resolve());
  });
  const exchange = client.begin({ body: 'x' });
  assert.equal(await (await exchange.answer).chunk(), 'data: 1\n\n');
  exchange.abort();
  await left.promise;
});

test('an answer that breaks off is broken off', async (t) => {
  const { client } = await twoServers(t, (_request, response) => {
    response.writeHead(200).write('half', () => response.destroy());
  });
  assert.equal(await (await client.send({ body: 'x' })).ended(), false);
});

test('status, headers, their case and their repetitions stay', async (t) => {
  const seen: string[][] = [];
  const { client } = await twoServers(t, (request, response) => {
    seen.push(request.rawHeaders);
    response.writeHead(418, ['X-Twice', '1', 'X-Twice', '2']).end();
  });
  const answer = await client.send({ body: 'x', headers: { 'X-Case': 'Kept' } });
  await answer.text();
  assert.deepEqual([answer.status, answer.headers['x-twice']], [418, '1, 2']);
  const [headers = []] = seen;
  assert.ok(headers.includes('X-Case') && headers.includes('Kept'));
});

test('with no replica left the connection ends', async () => {
  await using proxy = await startRoundRobinProxy({ ports: [await freePort()] });
  await using client = new RawClient(`http://127.0.0.1:${proxy.port}/`);
  await assert.rejects(client.send({ body: 'x' }));
});
