// A legacy session whose replica ended: its client goes on at another one, and so do the servers that it has called.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { type FaultyHttpServer, startFaultyHttpServer } from '../../support/faulty-http-server.ts';
import { openSession, type RawSession, through } from '../../support/raw-session.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { REPLICA_SECRET } from '../../support/replicas-wanted.ts';
import { type RunningGateways, runGateways, type StartOptions } from '../../support/running-gateways.ts';
import { newPrefix } from '../../support/session-replicas.ts';
import { replicaSeat } from '../../support/start-replicas.ts';

/** What the session's own links offer to a server; those that lists come from offer a newer one. */
const VERSION = '2025-06-18';

let redis: TestRedis;
before(async () => {
  redis = await startRedis();
});
after(() => redis.close());

interface Behind {
  readonly service: RunningGateways;
  /** A session that the first replica has opened. */
  readonly session: RawSession;
  /** Ends that replica; the same session, as its client knows it, at the other one. */
  moved(): Promise<RawSession>;
}

async function replicas(t: TestContext, options: StartOptions): Promise<Behind> {
  const shared = { url: redis.url, keyPrefix: newPrefix(), timeoutMs: 2_000 };
  const seats = await Promise.all([replicaSeat(shared), replicaSeat(shared)]);
  const service = await runGateways({ ...options, secrets: [REPLICA_SECRET] }, seats);
  t.after(() => service.close());
  const [first, second] = service.members;
  const session = await openSession(`${first?.url}/mcp`, { version: VERSION });
  t.after(() => session[Symbol.asyncDispose]());
  return {
    service,
    session,
    async moved() {
      await first?.close();
      const same = through(`${second?.url}/mcp`, session);
      t.after(() => same[Symbol.asyncDispose]());
      return same;
    },
  };
}

async function behind(
  t: TestContext,
  era: 'legacy' | 'modern',
): Promise<Behind & { server: FaultyHttpServer }> {
  const server = await startFaultyHttpServer({ era });
  const rig = await replicas(t, { http: { url: server.url } });
  t.after(() => server.close());
  return { server, ...rig };
}

/** How often the server was greeted for the session itself. */
function greetings(server: FaultyHttpServer): number {
  return server.requests('initialize').filter(({ message }) => message?.params?.protocolVersion === VERSION)
    .length;
}

test('F01, F44: a session of an HTTP server goes on at another replica, in the same session at the server', async (t) => {
  const { server, session, moved } = await behind(t, 'legacy');
  assert.equal(await session.tool('echo', { text: 'here' }), 'here');
  const [call] = server.requests('tools/call:echo');
  const same = await moved();
  assert.equal(await same.tool('echo', { text: 'there' }), 'there');
  const ids = server.requests('tools/call:echo').map(({ headers }) => headers['mcp-session-id']);
  assert.deepEqual(ids, [call?.headers['mcp-session-id'], call?.headers['mcp-session-id']]);
  assert.equal(greetings(server), 1);
  assert.ok(server.requests('DELETE').every(({ headers }) => headers['mcp-session-id'] !== ids[0]));
  assert.equal(await same.delete(), 204);
  await server.until(() =>
    server.requests('DELETE').some(({ headers }) => headers['mcp-session-id'] === ids[0]),
  );
  assert.equal((await same.say({ jsonrpc: '2.0', id: 1, method: 'ping' })).status, 404);
});

test('F03: where the server has forgotten it meanwhile, it is greeted once for all calls', async (t) => {
  const { server, session, moved } = await behind(t, 'legacy');
  await session.tool('echo', { text: 'here' });
  const same = await moved();
  server.forgetSessions();
  const texts = Array.from({ length: 10 }, (_, n) => `call ${n}`);
  assert.deepEqual(await Promise.all(texts.map((text) => same.tool('echo', { text }))), texts);
  assert.equal(greetings(server), 2);
});

test('what the server says of its own accord is heard at once, before anything is called', async (t) => {
  const { server, session, moved } = await behind(t, 'legacy');
  await session.tool('echo', { text: 'here' });
  const same = await moved();
  const stream = await same.listen();
  // That of the link that lists come from, and the session's own.
  await server.until(() => server.listening === 2);
  server.announce({ method: 'notifications/message', params: { level: 'info', data: 'hello' } });
  assert.equal((await stream.message())?.params?.data, 'hello');
  stream.abort();
});

test('F25: what a stream could have replayed is not there any more, and is told as for any unknown event', async (t) => {
  const { server, session, moved } = await behind(t, 'legacy');
  await session.tool('echo', { text: 'opens the link' });
  const stream = await session.listen();
  server.announce({ method: 'notifications/message', params: { level: 'info', data: 'hello' } });
  const { id } = (await stream.event()) ?? assert.fail('there is no event');
  const same = await moved();
  const refused = await same.listen(id);
  assert.equal(refused.status, 400);
  assert.match(String((await refused.json()).error?.message), /Last-Event-ID names no stream/);
  const anew = await same.listen();
  assert.equal(anew.status, 200);
  anew.abort();
});

test('what it is subscribed to at a modern server stays so, and each is told to have changed', async (t) => {
  const { server, session, moved } = await behind(t, 'modern');
  assert.deepEqual((await session.ask('resources/subscribe', { uri: 'test://one' })).result, {});
  const same = await moved();
  const stream = await same.listen();
  const updated = await stream.message();
  assert.deepEqual(
    [updated?.method, updated?.params?.uri],
    ['notifications/resources/updated', 'test://one'],
  );
  server.announce({ method: 'notifications/resources/updated', params: { uri: 'test://one', more: 1 } });
  assert.equal((await stream.message())?.params?.more, 1);
  stream.abort();
});

test('F01: a session with a child process of its own ends with its replica', async (t) => {
  const { session, moved } = await replicas(t, {
    stdio: { switches: ['--era=legacy'] },
  });
  assert.equal(await session.tool('echo', { text: 'here' }), 'here');
  const same = await moved();
  assert.equal((await same.say({ jsonrpc: '2.0', id: 1, method: 'ping' })).status, 404);
});

test('F01: a session that has not asked for its child process yet goes on', async (t) => {
  const { moved } = await replicas(t, { stdio: { switches: ['--era=legacy'] } });
  const same = await moved();
  assert.equal(await same.tool('echo', { text: 'there' }), 'there');
});
