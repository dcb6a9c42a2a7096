// The stream of a session for what belongs to no call.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { FaultyHttpServer } from '../support/faulty-http-server.ts';
import { legacyHttpBehind, sessionLimits } from '../support/legacy-http.ts';
import { openSession, type RawSession, type SessionOptions } from '../support/raw-session.ts';
import { LIST_LINKS } from '../support/replicas-wanted.ts';
import { startGateway } from '../support/start-gateway.ts';

const SAID = { method: 'notifications/message' };
const say = (server: FaultyHttpServer, data: string) =>
  server.announce({ ...SAID, params: { level: 'info', data } });

/** A session with a link of its own, on which the server can say something. */
async function sessionWithLink(
  t: TestContext,
  options: SessionOptions & { replayBytes?: number } = {},
): Promise<{ session: RawSession; server: FaultyHttpServer }> {
  const { replayBytes = 1024 * 1024, ...rest } = options;
  const limits = sessionLimits({ replay: { bytes: replayBytes, forMs: 60_000 } });
  const { gateway, server } = await legacyHttpBehind(t, { gateway: limits });
  const session = await openSession(gateway.url, rest);
  t.after(() => session[Symbol.asyncDispose]());
  await session.tool('echo', { text: 'opens the link' });
  await server.until(() => server.listening === LIST_LINKS + 1);
  return { session, server };
}

test('F40, F42: the first bytes come at once', async (t) => {
  const { session } = await sessionWithLink(t);
  const stream = await session.listen();
  assert.equal(stream.status, 200);
  assert.equal(stream.headers['content-type'], 'text/event-stream');
  assert.match((await stream.chunk()) ?? '', /^: /);
  stream.abort();
});

test('what is said while nobody listens is held, in order, and said once', async (t) => {
  const { session, server } = await sessionWithLink(t);
  for (const data of ['one', 'two']) say(server, data);
  await session.tool('echo', { text: 'what was said before has arrived' });
  const stream = await session.listen();
  for (const data of ['one', 'two']) {
    const message = await stream.message();
    assert.equal(message?.method, 'notifications/message');
    assert.equal(message?.params?.data, data);
  }
  stream.abort();
  await session.tool('echo', { text: 'the gateway has seen it go' });
  const again = await session.listen();
  say(server, 'three');
  assert.equal((await again.message())?.params?.data, 'three', 'what was written once is not written again');
  again.abort();
});

test('the newest stream has it all; the one before ends in good order', async (t) => {
  const { session, server } = await sessionWithLink(t);
  const first = await session.listen();
  const second = await session.listen();
  assert.equal(await first.ended(), true);
  say(server, 'for the newest');
  assert.equal((await second.message())?.params?.data, 'for the newest');
  second.abort();
});

test('a message goes out on one stream: the GET stream, not those of the calls', async (t) => {
  const { session, server } = await sessionWithLink(t);
  const listening = await session.listen();
  const calls = ['a', 'b'].map((token) => {
    const args = { steps: 2, everyMs: 100, token };
    return session.start(
      'tools/call',
      { name: 'progress', arguments: args },
      { meta: { progressToken: token } },
    );
  });
  await server.request('tools/call:progress', 2);
  server.announce({ method: 'notifications/tools/list_changed' });
  assert.equal((await listening.message())?.method, 'notifications/tools/list_changed');
  for (const call of calls) {
    const { before } = await (await call.answer).whole();
    assert.ok(before.every(({ method }) => method === 'notifications/progress'));
  }
  listening.abort();
});

test('an event id takes up where its client left off, also on the GET stream', async (t) => {
  const { session, server } = await sessionWithLink(t);
  const stream = await session.listen();
  for (const data of ['one', 'two', 'three']) say(server, data);
  const seen = await stream.event();
  stream.abort();
  const resumed = await session.listen(seen?.id);
  for (const data of ['two', 'three']) assert.equal((await resumed.message())?.params?.data, data);
  say(server, 'live');
  assert.equal((await resumed.message())?.params?.data, 'live');
  resumed.abort();
});

test('F25: what is held is bounded: the oldest goes first', async (t) => {
  const { session, server } = await sessionWithLink(t, { replayBytes: 3_000 });
  for (let i = 0; i < 10; i += 1) say(server, `${i}`.padEnd(1_000, '.'));
  await session.tool('echo', { text: 'all of it has arrived' });
  const stream = await session.listen();
  const data = [await stream.message(), await stream.message()].map((message) => message?.params?.data);
  assert.deepEqual(
    data.map((text) => String(text)[0]),
    ['8', '9'],
  );
  stream.abort();
});

test('F15: a client hears of no list change before it has said `initialized`', async (t) => {
  const { session, server } = await sessionWithLink(t, { initialized: false });
  const stream = await session.listen();
  server.announce({ method: 'notifications/tools/list_changed' });
  say(server, 'log lines may come');
  assert.equal((await stream.message())?.params?.data, 'log lines may come');
  assert.equal(await session.notify('notifications/initialized'), 202);
  server.announce({ method: 'notifications/tools/list_changed' });
  assert.equal((await stream.message())?.method, 'notifications/tools/list_changed');
  stream.abort();
});

test('F22: progress that its wire ties to no call goes nowhere: its token is ours', async (t) => {
  const { session, server } = await sessionWithLink(t);
  const stream = await session.listen();
  for (const progressToken of [1, 2, 3, '1']) {
    server.announce({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
  }
  say(server, 'after it');
  assert.equal((await stream.message())?.params?.data, 'after it');
  stream.abort();
});

test('F24: each session hears from its own link, once', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  const sessions = await Promise.all([openSession(gateway.url), openSession(gateway.url)]);
  const streams = await Promise.all(
    sessions.map(async (session) => {
      await session.tool('echo', { text: 'opens the link' });
      return session.listen();
    }),
  );
  await server.until(() => server.listening === LIST_LINKS + 2);
  server.announce({ method: 'notifications/resources/updated', params: { uri: 'test://one' } });
  say(server, 'the end');
  for (const stream of streams) {
    assert.equal((await stream.message())?.params?.uri, 'test://one');
    assert.equal((await stream.message())?.params?.data, 'the end');
    stream.abort();
  }
});

test('F24: a session without a link of its own yet hears list changes from the shared one', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const stream = await session.listen();
  await server.until(() => server.listening === LIST_LINKS);
  say(server, 'nobody knows whose line this is');
  server.announce({ method: 'notifications/prompts/list_changed' });
  assert.equal((await stream.message())?.method, 'notifications/prompts/list_changed');
  stream.abort();
});

test('a log line from a pipe goes on the stream of the only call there is', async () => {
  await using gateway = await startGateway({ stdio: { switches: ['--era=legacy'] } });
  await using session = await openSession(gateway.url);
  const call = session.start('tools/call', { name: 'log', arguments: { data: 'mine' } });
  const { before, response } = await (await call.answer).whole();
  assert.deepEqual(
    before.map(({ params }) => params?.data),
    ['mine'],
  );
  assert.deepEqual(response.result?.content, [{ type: 'text', text: 'logged' }]);
});

test('F24: a subscription belongs to the session that made it', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const answer = await session.ask('resources/subscribe', { uri: 'test://one' });
  assert.deepEqual(answer.result, {});
  const subscribed = server.requests('resources/subscribe');
  assert.equal(subscribed.length, 1);
  assert.equal(subscribed[0]?.message?.params?.uri, 'test://one');
  const stream = await session.listen();
  await server.until(() => server.listening === LIST_LINKS + 1);
  server.announce({ method: 'notifications/resources/updated', params: { uri: 'test://one' } });
  assert.deepEqual((await stream.message())?.params, { uri: 'test://one' });
  stream.abort();
});

for (const era of ['legacy', 'modern'] as const) {
  test(`F24: a ${era} child that was started again may have other lists: those who listen are told`, async () => {
    await using gateway = await startGateway({ stdio: { switches: [`--era=${era}`], isolation: 'shared' } });
    await using session = await openSession(gateway.url);
    await session.tool('echo', { text: 'up' });
    const stream = await session.listen();
    // One that dies before its link is open has told nobody of a list.
    await eventually('each replica has its link', async () => {
      const { links, starting } = (await gateway.status()).servers.faulty ?? {};
      return links === LIST_LINKS && starting === 0;
    });
    const [child] = gateway.children();
    process.kill(child ?? 0, 'SIGKILL');
    const methods = new Set<string | undefined>();
    while (!methods.has('notifications/tools/list_changed')) methods.add((await stream.message())?.method);
    assert.notDeepEqual(gateway.children(), [child], 'without anybody having asked for anything');
    stream.abort();
  });
}
