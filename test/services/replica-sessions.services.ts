// Legacy sessions of two replicas with one Redis (F01 to F05): each of them is as good for every request as the one that
// opened the session, to its owner and to nobody else, and neither of them keeps what is over.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { sessionLimits } from '../support/legacy-http.ts';
import { RawClient } from '../support/raw-client.ts';
import { openSession, RawSession, requestText, through } from '../support/raw-session.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { BY_METHOD, NEVER_ISSUED } from '../support/session-requests.ts';
import { type ReplicasOptions, type StartedReplicas, startReplicas } from '../support/start-replicas.ts';
import { faultyConfig } from '../support/stdio-rig.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../support/two-callers.ts';

const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
const INITIALIZE = requestText('1', 'initialize', CLIENT);
const CHILD = { switches: ['--era=legacy'] };

let redis: TestRedis;
let rigs = 0;
before(async () => {
  redis = await startRedis();
});
after(() => redis.close());

interface Behind {
  readonly service: StartedReplicas;
  /** The endpoint of one replica. */
  at(index: number): string;
  /** Keys in Redis. */
  keys(): Promise<string[]>;
}

async function replicas(t: TestContext, options: Omit<ReplicasOptions, 'count'> = {}): Promise<Behind> {
  rigs += 1;
  const keyPrefix = `rig ${rigs}:`;
  const service = await startReplicas({
    count: 2,
    redis: { url: redis.url, keyPrefix, timeoutMs: 2_000 },
    ...options,
  });
  t.after(() => service.close());
  return {
    service,
    at: (index) => `${service.replicas[index]?.url}/mcp`,
    keys: async () => (await redis.command('KEYS', `${keyPrefix}s*`)) as string[],
  };
}

/** A legacy server over HTTP behind two replicas. */
async function httpReplicas(
  t: TestContext,
  options: Omit<ReplicasOptions, 'count'> = {},
): Promise<Behind & { server: FaultyHttpServer }> {
  const server = await startFaultyHttpServer({ era: 'legacy' });
  const behind = await replicas(t, { http: { url: server.url }, ...options });
  t.after(() => server.close());
  return { server, ...behind };
}

const sessionsOf = async (url: string | undefined) =>
  ((await (await fetch(`${url}/status`)).json()) as { sessions: number }).sessions;

test('F01: a session works over fresh sockets to whichever replica, and its DELETE at any ends all of it', async (t) => {
  const { service, server, keys } = await httpReplicas(t);
  await using session = await openSession(service.url);
  const stream = await session.listen();
  for (const text of ['a', 'b', 'c', 'd']) assert.equal(await session.tool('echo', { text }), text);
  await server.until(() => server.listening === 3);
  server.announce({ method: 'notifications/tools/list_changed' });
  assert.equal((await stream.message())?.method, 'notifications/tools/list_changed');
  const taken = service.balancer.replicas.map((replica) => replica.taken);
  assert.ok(Math.min(...taken) >= 3, `${taken}`);
  assert.equal(await session.delete(), 204);
  assert.equal(await stream.ended(), true);
  await eventually('the server behind has been told', () => server.sessions.size === 2);
  assert.deepEqual(await keys(), []);
});

for (const wrong of [0, 1]) {
  test(`F01: a session with a child of its own has one, and a DELETE at replica ${wrong} ends it`, async (t) => {
    const { service, at } = await replicas(t, { stdio: CHILD });
    await using session = await openSession(at(1 - wrong));
    await using elsewhere = through(at(wrong), session);
    const pids = new Set<unknown>();
    for (const each of [session, elsewhere, session, elsewhere])
      pids.add(JSON.parse(await each.tool('environment')).pid);
    assert.equal(pids.size, 1);
    assert.equal(await elsewhere.delete(), 204);
    await eventually(
      'its child is gone, those of the lists alone stay',
      () => service.children().length <= 2,
    );
    for (const each of [session, elsewhere])
      assert.equal((await each.say(requestText('1', 'ping', {}))).status, 404);
    await eventually('no replica counts it', async () => (await service.status()).sessions === 0);
  });
}

for (const [method, request] of BY_METHOD) {
  test(`F02: each replica answers a ${method} with a bad session id alike`, async (t) => {
    const { at, service, keys } = await httpReplicas(t, { gateway: sessionLimits({ idleTimeoutMs: 2_500 }) });
    await using deleted = await openSession(at(0));
    assert.equal(await through(at(1), deleted).delete(), 204);
    await using expired = await openSession(at(0));
    await eventually('it has expired', async () => (await keys()).length === 0);
    const bad = [NEVER_ISSUED, deleted.id, expired.id, 'x', 'A'.repeat(42), '%00', 'a/b', '{}'];
    for (const index of [0, 1]) {
      await using client = new RawClient(at(index));
      const none = await client.send(request);
      await none.text();
      assert.equal(none.status, method === 'GET' ? 405 : 400);
      for (const id of bad) {
        const answer = await client.send({ ...request, headers: { 'mcp-session-id': id } });
        assert.equal(answer.status, 404, id);
        assert.equal((await answer.json()).error?.code, 4040);
      }
    }
    assert.equal((await service.status()).sessions, 0);
  });
}

test('F02: of an earlier process, a session with a child is a 404 at the others; initialize opens a new one', async (t) => {
  const { service, at } = await replicas(t, { stdio: CHILD });
  await using session = await openSession(at(0));
  await session.tool('echo', { text: 'its child is there' });
  await service.replicas[0]?.close();
  for (const [method, request] of BY_METHOD) {
    const answer = await session.send({ ...request, url: at(1), headers: session.headers });
    assert.equal(answer.status, 404, method);
    assert.equal((await answer.json()).error?.code, 4040);
  }
  await using again = new RawSession(at(1), { headers: { 'mcp-session-id': session.id } });
  assert.equal((await again.initialize('2025-11-25', {})).result?.protocolVersion, '2025-11-25');
  assert.notEqual(again.id, session.id);
});

test('F02: of an earlier process, a session with a server over HTTP goes on at the others', async (t) => {
  const { service, at, server } = await httpReplicas(t);
  await using session = await openSession(at(0));
  await session.tool('echo', { text: 'its link is there' });
  const greeted = server.requests('initialize').length;
  await service.replicas[0]?.close();
  await using elsewhere = through(at(1), session);
  assert.equal(await elsewhere.tool('echo', { text: 'on' }), 'on');
  assert.ok(server.requests('initialize').length <= greeted + 1);
  assert.equal(await elsewhere.delete(), 204);
});

test('F03: a server that forgot its session is greeted once anew, however many replicas ask at once', async (t) => {
  const forgetful = await startFaultyHttpServer({ era: 'legacy' });
  const other = await startFaultyHttpServer({ era: 'legacy' });
  const { service } = await replicas(t, {
    servers: [
      httpServerConfig(forgetful.url, { slug: 'forgetful', name: 'forgetful', prefix: 'f' }),
      httpServerConfig(other.url, { slug: 'other', name: 'other', prefix: 'o' }),
    ],
  });
  t.after(() => Promise.all([forgetful.close(), other.close()]));
  for (const [status, body] of [
    [404, ''],
    [400, 'Bad Request: No valid session ID provided'],
  ] as const) {
    await using session = await openSession(service.url);
    const names = await toolNames(session);
    const [echoed, echoedElsewhere] = [nameOf(names, 'f'), nameOf(names, 'o')];
    await session.tool(echoed, { text: 'before' });
    await session.tool(echoedElsewhere, { text: 'before' });
    await session.tool(echoed, { text: 'before, at the other replica' });
    forgetful.lostSession = { status, body };
    forgetful.forgetSessions();
    const greeted = forgetful.requests('initialize').length;
    const greetedElsewhere = other.requests('initialize').length;
    const texts = ['1', '2', '3', '4'];
    const said = await Promise.all([
      ...texts.map((text) => session.tool(echoed, { text })),
      session.tool(echoedElsewhere, { text: 'the other' }),
    ]);
    assert.deepEqual(said, [...texts, 'the other']);
    // Once for the session, and once for the lists of each replica at most, where they have noticed too.
    const anew = forgetful.requests('initialize').length - greeted;
    assert.ok(anew >= 1 && anew <= 3, `${anew} times`);
    assert.equal(other.requests('initialize').length, greetedElsewhere);
    for (const text of texts) assert.equal(callsOf(forgetful, text), 1, text);
    forgetful.received.length = 0;
    assert.equal(await session.delete(), 204);
  }
});

async function toolNames(session: RawSession): Promise<string[]> {
  const { result = {} } = await session.ask('tools/list');
  return (result.tools as { name: string }[]).map(({ name }) => name);
}

function nameOf(names: readonly string[], prefix: string): string {
  const name = names.find((each) => each.startsWith(prefix) && each.endsWith('echo'));
  assert.ok(name, names.join());
  return name;
}

/** How many calls with that text the server has answered. */
function callsOf(server: FaultyHttpServer, text: string): number {
  return server.requests('tools/call:echo').filter(({ message, headers }) => {
    const { arguments: said } = (message?.params ?? {}) as { arguments?: { text?: string } };
    return said?.text === text && server.sessions.has(String(headers['mcp-session-id']));
  }).length;
}

test('F04: caps hold over the replicas together, and every end, at any of them, makes room', async (t) => {
  const { at, service } = await httpReplicas(t, {
    gateway: { auth: TWO_CALLERS, ...sessionLimits({ max: 5, maxPerPrincipal: 3 }) },
    secrets: KEYS,
  });
  const [first] = [await openSession(at(0), ALICE)];
  await openSession(at(1), ALICE);
  await openSession(at(0), ALICE);
  await assert.rejects(openSession(at(1), ALICE), /5030/);
  await openSession(at(1), BOB);
  await openSession(at(0), BOB);
  await using client = new RawClient(at(1), BOB);
  const refused = await client.send({ body: INITIALIZE });
  assert.equal(refused.status, 503);
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
  const text = await refused.text();
  assert.doesNotMatch(text, /\b[35]\b|session/i);
  assert.equal(await through(at(1), first, ALICE).delete(), 204);
  await using again = await openSession(at(1), ALICE);
  assert.equal(await again.tool('echo', { text: 'in' }), 'in');
  assert.equal((await service.status()).sessions, 5);
});

test('F04: a flood of initialize over both replicas stops at the cap, and the server behind sees none of it', async (t) => {
  const { service, server } = await httpReplicas(t, { gateway: sessionLimits({ max: 10 }) });
  await using client = new RawClient(service.url);
  const answers = await Promise.all(Array.from({ length: 100 }, () => client.send({ body: INITIALIZE })));
  await Promise.all(answers.map((answer) => answer.text()));
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  assert.equal(answers.filter(({ status }) => status === 503).length, 90);
  assert.ok(server.requests('initialize').length <= 2, 'those of the catalogues');
});

test('F04: sessions that are left leave nothing at any replica, nor in Redis; ids that nobody has add nothing', async (t) => {
  const { service, at, keys } = await replicas(t, {
    servers: [faultyConfig(['--era=legacy'], { maxLinks: 16 })],
    gateway: sessionLimits({ idleTimeoutMs: 1_500 }),
  });
  const lists = () => service.children().length <= 2;
  const sessions = await Promise.all(Array.from({ length: 6 }, (_, n) => openSession(at(n % 2))));
  // Each at the replica that is not its own.
  const moved = sessions.map((session, n) => through(at((n + 1) % 2), session));
  await Promise.all(moved.map((session) => session.tool('echo', { text: 'hello' })));
  assert.ok(service.children().length >= 6);
  assert.equal(await moved[0]?.delete(), 204);
  for (const session of [...sessions, ...moved]) await session[Symbol.asyncDispose]();
  await eventually('all is gone', async () => lists() && (await keys()).length === 0);
  for (const { adminUrl } of service.replicas) assert.equal(await sessionsOf(adminUrl), 0);
  await using client = new RawClient(service.url);
  for (let n = 0; n < 50; n += 1) {
    const id = String(n).padStart(43, 'B');
    assert.equal((await client.send({ method: 'DELETE', headers: { 'mcp-session-id': id } })).status, 404);
  }
  assert.deepEqual(await keys(), []);
  assert.ok(lists());
});

/** What means something in a key, a pattern, a path or a query, around an id that is somebody's. */
const MEANINGFUL: readonly ((id: string) => string)[] = [
  () => '*',
  () => '?'.repeat(43),
  (id) => `${id}*`,
  (id) => `*${id}`,
  (id) => `${id.slice(0, 42)}?`,
  (id) => `[${id[0]}]${id.slice(1)}`,
  (id) => `s:${id}`,
  (id) => `sp:${id}`,
  (id) => `../${id}`,
  (id) => `${id}/..`,
  (id) => `${id}?a=b&c=d`,
  (id) => `${id}%00`,
  (id) => `${id}\\0`,
  (id) => `${id} ${id}`,
  (id) => `{${id}}`,
  (id) => `"${id}"`,
  (id) => id.toUpperCase(),
  (id) => `${id}=`,
];

test("F05: another's session is as unknown at each replica, and so is what only looks like its id", async (t) => {
  const { service, at, keys } = await httpReplicas(t, { gateway: { auth: TWO_CALLERS }, secrets: KEYS });
  await using alice = await openSession(at(0), ALICE);
  await alice.tool('echo', { text: 'a link of her own' });
  const stream = await alice.listen();
  const before = await keys();
  const shown = (headers: object) => Object.keys(headers).sort();
  for (const index of [0, 1]) {
    await using bob = new RawClient(at(index), BOB);
    for (const [method, request] of BY_METHOD) {
      const headersOf = (id: string) => ({ ...request, headers: { 'mcp-session-id': id } });
      const unknown = await bob.send(headersOf(NEVER_ISSUED));
      const text = await unknown.text();
      const foreign = await bob.send(headersOf(alice.id));
      assert.equal(foreign.status, 404, method);
      assert.equal(await foreign.text(), text);
      assert.deepEqual(shown(foreign.headers), shown(unknown.headers));
      await using again = new RawClient(at(index), ALICE);
      for (const near of MEANINGFUL) {
        const answer = await again.send(headersOf(near(alice.id)));
        assert.equal(answer.status, 404, `${method} ${near('ID')}`);
        assert.equal(await answer.text(), text);
      }
    }
  }
  assert.deepEqual(await keys(), before);
  assert.equal(await through(at(1), alice, ALICE).tool('echo', { text: 'undisturbed' }), 'undisturbed');
  const text = JSON.stringify(service.logs);
  assert.ok(!text.includes(alice.id), 'no log line names it');
  stream.abort();
});

test("F26, F05: nobody cancels another's call, nor answers for them, at any replica", async (t) => {
  const { at, server } = await httpReplicas(t, { gateway: { auth: TWO_CALLERS }, secrets: KEYS });
  await using alice = await openSession(at(0), ALICE);
  await using bob = await openSession(at(1), BOB);
  const waiting = alice.start('tools/call', { name: 'wait', arguments: { ms: 400 } }, { id: '77' });
  await server.request('tools/call:wait');
  assert.equal(await bob.notify('notifications/cancelled', { requestId: 77 }), 202);
  assert.equal(await through(at(1), alice, BOB).notify('notifications/cancelled', { requestId: 77 }), 404);
  const { response } = await (await waiting.answer).whole();
  assert.deepEqual(response.result?.content, [{ type: 'text', text: 'waited' }]);
  assert.deepEqual(server.cancelled, []);
});
