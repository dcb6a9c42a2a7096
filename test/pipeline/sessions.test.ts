// Legacy sessions from the outside: who may use one, and what ends it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { RawClient, type RawRequest } from '../support/raw-client.ts';
import { ModernClient, openSession, RawSession, requestText } from '../support/raw-session.ts';
import { LIST_LINKS, onEachReplica, PROCESSES } from '../support/replicas-wanted.ts';
import { BY_METHOD, NEVER_ISSUED } from '../support/session-requests.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

const SESSIONS = {
  idleTimeoutMs: 60_000,
  maxAgeMs: 600_000,
  max: 1_000,
  maxPerPrincipal: 1_000,
  replay: { bytes: 100_000, forMs: 60_000 },
};
const GARBAGE = [
  'x',
  'A'.repeat(42),
  'A'.repeat(44),
  '%00',
  'a/b',
  'a?b=c&d',
  '*',
  'A=='.padEnd(43, 'A'),
  '{}',
];

async function httpGateway(t: TestContext, sessions: Partial<typeof SESSIONS> = {}): Promise<StartedGateway> {
  const server = await startFaultyHttpServer({ era: 'legacy' });
  const gateway = await startGateway({
    http: { url: server.url },
    gateway: { sessions: { ...SESSIONS, ...sessions } },
  });
  t.after(async () => {
    await gateway.close();
    await server.close();
  });
  return gateway;
}

for (const [method, request] of BY_METHOD) {
  const inSession = (id: string): RawRequest => ({ ...request, headers: { 'mcp-session-id': id } });

  test(`F02: a ${method} without a session id is told to initialize, and none is made`, async (t) => {
    const gateway = await httpGateway(t);
    await using client = new RawClient(gateway.url);
    const answer = await client.send(request);
    // A GET without a session may as well come from a client of the other era: there is no stream for it.
    assert.equal(answer.status, method === 'GET' ? 405 : 400);
    const { id, error } = await answer.json();
    assert.equal(error?.code, -32600);
    assert.equal(id ?? null, method === 'POST' ? 7 : null);
    assert.equal((await gateway.status()).sessions, 0);
  });

  test(`F02: a ${method} with an id that is no session's is a 404, whatever the id looks like`, async (t) => {
    const gateway = await httpGateway(t);
    await using client = new RawClient(gateway.url);
    for (const id of [NEVER_ISSUED, ...GARBAGE]) {
      const answer = await client.send(inSession(id));
      assert.equal(answer.status, 404, id);
      assert.equal((await answer.json()).error?.code, 4040);
    }
    assert.equal((await gateway.status()).sessions, 0);
  });

  test(`F02, F04: a ${method} in a session that was deleted or has expired is a 404`, async (t) => {
    const gateway = await httpGateway(t);
    await using session = await openSession(gateway.url);
    assert.equal(await session.delete(), 204);
    assert.equal((await session.send(inSession(session.id))).status, 404);
    const impatient = await httpGateway(t, { idleTimeoutMs: 100 });
    await using idle = await openSession(impatient.url);
    while ((await impatient.status()).sessions > 0) await delay(10);
    assert.equal((await idle.send(inSession(idle.id))).status, 404);
  });
}

test('F04: what has become of a session its client is not told, and the record of the request is', async (t) => {
  const gateway = await httpGateway(t, { idleTimeoutMs: 300 });
  await using deleted = await openSession(gateway.url);
  await deleted.delete();
  await using idle = await openSession(gateway.url);
  while ((await gateway.status()).sessions > 0) await delay(10);
  await using unknown = await openSession(gateway.url);
  unknown.id = NEVER_ISSUED;
  const errors: unknown[] = [];
  for (const session of [deleted, idle, unknown]) {
    // The replica that it lived on is among those that are asked.
    await onEachReplica(async () => errors.push((await session.ask('tools/list')).error));
  }
  assert.deepEqual(new Set(errors.map((error) => JSON.stringify(error))).size, 1, 'told alike');
  // Written once the answer is out.
  const lines = () => gateway.logs.filter(({ outcome }) => outcome === 'session-unknown');
  await eventually('each request is on record', () => lines().length === errors.length);
  const reasons = new Set(lines().map(({ reason }) => reason));
  assert.deepEqual(reasons, new Set(['deleted', 'expired', undefined]));
});

test('F02: initialize opens a new session whatever stale id it carries', async (t) => {
  const gateway = await httpGateway(t);
  await using session = await openSession(gateway.url);
  const stale = session.id;
  await session.delete();
  for (const id of [stale, NEVER_ISSUED, 'x']) {
    await using again = new RawSession(gateway.url, { headers: { 'mcp-session-id': id } });
    const answer = await again.initialize('2025-11-25', {});
    assert.equal(answer.result?.protocolVersion, '2025-11-25');
    assert.match(again.id, /^[\x21-\x7e]{43}$/);
    assert.notEqual(again.id, stale);
  }
});

test('F02: a server that keeps nothing for a session serves clients that send no id', async (t) => {
  const server = await startFaultyHttpServer({ era: 'modern' });
  const gateway = await startGateway({ http: { url: server.url } });
  t.after(async () => {
    await gateway.close();
    await server.close();
  });
  await using session = await openSession(gateway.url, { initialized: false });
  session.id = '';
  const headers = { 'mcp-protocol-version': '2025-11-25' };
  await using client = new RawClient(gateway.url, { headers });
  const body = requestText('"no session"', 'tools/call', { name: 'echo', arguments: { text: 'here' } });
  const { response } = await (await client.send({ body })).whole();
  assert.equal(response.id, 'no session');
  assert.deepEqual(response.result?.content, [{ type: 'text', text: 'here' }]);
});

test('F01: a session works over a fresh socket for each request, and over one for all', async (t) => {
  const gateway = await httpGateway(t);
  for (const keepAlive of [false, true]) {
    await using session = await openSession(gateway.url, { keepAlive });
    for (const text of ['a', 'b', 'c']) assert.equal(await session.tool('echo', { text }), text);
    assert.equal(await session.delete(), 204);
  }
});

test('F02: a session belongs to its view', async (t) => {
  const gateway = await httpGateway(t);
  await using session = await openSession(gateway.url);
  const { headers } = session;
  const answer = await session.send({
    url: `${gateway.url}/faulty`,
    headers,
    body: requestText('1', 'tools/list', {}),
  });
  assert.equal(answer.status, 404);
  assert.equal((await answer.json()).error?.code, 4040);
});

test('F04: caps refuse with 503 and Retry-After, say nothing of counts, and every end makes room', async (t) => {
  const gateway = await httpGateway(t, { max: 3 });
  const sessions = [];
  for (let i = 0; i < 3; i += 1) sessions.push(await openSession(gateway.url));
  await using client = new RawSession(gateway.url);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const refused = await client.send({ body: requestText('1', 'initialize', params) });
  assert.equal(refused.status, 503);
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
  const { error, id } = await refused.json();
  assert.equal(id, 1);
  assert.equal(error?.code, 5030);
  assert.doesNotMatch(JSON.stringify(error), /\b3\b|session/i);
  assert.equal(await sessions[0]?.delete(), 204);
  await using other = await openSession(gateway.url);
  assert.equal(await other.tool('echo', { text: 'in' }), 'in');
});

test('F04: a flood of initialize is refused past the cap, and the server behind sees none of it', async (t) => {
  const server = await startFaultyHttpServer({ era: 'legacy' });
  const gateway = await startGateway({
    http: { url: server.url },
    gateway: { sessions: { ...SESSIONS, maxPerPrincipal: 10 } },
  });
  t.after(async () => {
    await gateway.close();
    await server.close();
  });
  await using client = new RawClient(gateway.url);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const body = requestText('1', 'initialize', params);
  const answers = await Promise.all(Array.from({ length: 100 }, () => client.send({ body })));
  await Promise.all(answers.map((answer) => answer.text()));
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  assert.equal(answers.filter(({ status }) => status === 503).length, 90);
  assert.equal(server.requests('initialize').length, LIST_LINKS, 'for the lists');
});

test('F04: abandoned sessions leave nothing: no child, no stream, no session', async (t) => {
  const gateway = await startGateway({
    stdio: { switches: ['--era=legacy'], maxLinks: 8 },
    gateway: { sessions: { ...SESSIONS, idleTimeoutMs: 1_000 } },
  });
  t.after(() => gateway.close());
  const clients = await Promise.all(Array.from({ length: 4 }, () => openSession(gateway.url)));
  await Promise.all(clients.map((client) => client.tool('echo', { text: 'hello' })));
  const listening = await Promise.all(clients.map((client) => client.listen()));
  assert.equal(gateway.children().length, LIST_LINKS + 4, 'one for each session, and for the lists');
  assert.equal(await clients[0]?.delete(), 204);
  assert.equal(await listening[0]?.ended(), true, 'the end of a session ends its stream in good order');
  for (const client of clients) await client[Symbol.asyncDispose]();
  while ((await gateway.status()).sessions > 0 || gateway.children().length > LIST_LINKS) await delay(20);
});

test('F04: a session with a call in flight, or with a stream open, is not idle', async (t) => {
  // Neither may be idle for as long before it is in use, whatever else the machine does.
  const idleTimeoutMs = 250 * PROCESSES;
  const gateway = await httpGateway(t, { idleTimeoutMs });
  await using listening = await openSession(gateway.url);
  const stream = await listening.listen();
  await using calling = await openSession(gateway.url);
  assert.equal(await calling.tool('wait', { ms: 3 * idleTimeoutMs }), 'waited');
  assert.equal(await listening.tool('echo', { text: 'still here' }), 'still here');
  stream.abort();
});

test('F04: age ends a session that is in use, its stream included', async (t) => {
  const gateway = await httpGateway(t, { maxAgeMs: 400 });
  await using session = await openSession(gateway.url);
  const stream = await session.listen();
  assert.equal(await stream.ended(), true);
  assert.equal((await session.say(requestText('1', 'ping', {}))).status, 404);
});

test('F04: a session that ends while its child starts leaves no child behind', async (t) => {
  const gateway = await startGateway({ stdio: { switches: ['--era=legacy', '--start-delay=400'] } });
  t.after(() => gateway.close());
  await using session = await openSession(gateway.url);
  const calling = session.start('tools/call', { name: 'echo', arguments: { text: 'x' } });
  while (gateway.children().length < LIST_LINKS + 1) await delay(5);
  assert.equal(await session.delete(), 204);
  assert.equal(
    (await (await calling.answer).messages()).length,
    0,
    'nobody answers for a session that is over',
  );
  while (gateway.children().length > LIST_LINKS) await delay(10);
});

test('F15, F32: a session that ends before its child is even asked for gets none', async (t) => {
  const gateway = await startGateway({ stdio: { switches: ['--era=legacy', '--start-delay=300'] } });
  t.after(() => gateway.close());
  await using session = await openSession(gateway.url);
  // The catalogue dies, so that the call below has to wait for a new one before it can ask for its own.
  const [catalogue] = gateway.children();
  process.kill(catalogue ?? 0, 'SIGKILL');
  await gateway.logged(({ msg }) => msg === 'link ended');
  const calling = session.start('tools/call', { name: 'echo', arguments: { text: 'x' } });
  while ((await gateway.status()).servers.faulty?.starting !== 1) await delay(5);
  assert.equal(await session.delete(), 204);
  const { response } = await (await calling.answer).whole();
  assert.equal(response.error?.code, 4040);
  // The one that died, and no other, has been started again.
  await eventually('there are as many as list, and none is on its way', async () => {
    const { servers } = await gateway.status();
    const { starting, starts } = servers.faulty ?? {};
    return starting === 0 && starts === LIST_LINKS + 1 && gateway.children().length === LIST_LINKS;
  });
});

test('F10: a client that leaves right after initialize harms nobody', async (t) => {
  const gateway = await httpGateway(t);
  await using rude = new RawClient(gateway.url);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  for (let i = 0; i < 10; i += 1) {
    const exchange = rude.begin({ body: requestText('1', 'initialize', params) });
    exchange.request.once('finish', () => exchange.abort());
    await exchange.closed;
  }
  await using modern = new ModernClient(gateway.url);
  assert.equal(await modern.tool('echo', { text: 'fine' }), 'fine');
});
