// Who hangs up: a modern client cancels by it, a legacy client does not, and says so instead (F26).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import { type Message, RawClient } from '../support/raw-client.ts';
import { ModernClient, openSession, type RawSession, requestText, textOf } from '../support/raw-session.ts';
import { onEachReplica } from '../support/replicas-wanted.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

async function child(t: TestContext, era: 'legacy' | 'modern' = 'legacy'): Promise<StartedGateway> {
  const gateway = await startGateway({ stdio: { switches: [`--era=${era}`], isolation: 'shared' } });
  t.after(() => gateway.close());
  return gateway;
}

/** What the child got that everyone shares: that of each replica, where there are more. */
async function receivedBy(caller: ModernClient | RawSession): Promise<Message[]> {
  const messages: Message[] = [];
  await onEachReplica(async () => {
    messages.push(...(JSON.parse(await caller.tool('received')) as Message[]));
  });
  return messages;
}
const cancelledIn = (messages: readonly Message[]) =>
  messages
    .filter(({ method }) => method === 'notifications/cancelled')
    .map(({ params }) => params?.requestId);
const idOf = (messages: readonly Message[], tool: string) =>
  messages.find(({ params }) => params?.name === tool)?.id;

async function untilReceived(caller: ModernClient, tool: string): Promise<Message[]> {
  for (;;) {
    const messages = await receivedBy(caller);
    if (idOf(messages, tool) !== undefined) return messages;
  }
}

async function untilCancelled(caller: ModernClient): Promise<Message[]> {
  for (;;) {
    const messages = await receivedBy(caller);
    if (cancelledIn(messages).length > 0) return messages;
  }
}

for (const era of ['legacy', 'modern'] as const) {
  test(`F26: a modern client that hangs up cancels at a ${era} child, under the id of that leg`, async (t) => {
    const gateway = await child(t, era);
    await using client = new ModernClient(gateway.url);
    const slow = client.start('tools/call', { name: 'never', arguments: {} }, { id: '"the client\'s own"' });
    await untilReceived(client, 'never');
    slow.abort();
    const messages = await untilCancelled(client);
    assert.deepEqual(cancelledIn(messages), [idOf(messages, 'never')]);
    const { servers } = await gateway.status();
    assert.equal(servers.faulty?.inFlight, 0);
    const line = await gateway.logged(({ outcome }) => outcome === 'cancelled');
    assert.equal(line.method, 'tools/call');
  });
}

test('F26: over HTTP it closes the stream of the call', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern' });
  await using client = new ModernClient(gateway.url);
  const slow = client.start('tools/call', { name: 'never', arguments: {} });
  const { ended } = await server.request('tools/call:never');
  slow.abort();
  assert.equal(await ended, 'broken');
  assert.equal(server.requests('notifications/cancelled').length, 0);
});

test('F26: a legacy server over HTTP is told by a notification', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await using client = new ModernClient(gateway.url);
  const slow = client.start('tools/call', { name: 'never', arguments: {} });
  const { message } = await server.request('tools/call:never');
  slow.abort();
  await server.until(() => server.cancelled.length > 0);
  assert.deepEqual(server.cancelled, [message?.id]);
});

test('F26: a client may hang up at any phase; what was never sent on is not cancelled', async (t) => {
  const gateway = await child(t);
  await using client = new ModernClient(gateway.url);
  const body = client.beginBody({ headers: { 'content-length': '1000' } });
  body.request.write('{"jsonrpc":');
  body.abort();
  const asked = client.start('tools/call', { name: 'echo', arguments: { text: 'x' } });
  asked.request.once('finish', () => asked.abort());
  await Promise.all([body.closed, asked.closed]);
  const reading = client.start('tools/call', { name: 'big', arguments: { bytes: 1_000_000 } });
  const answer = await reading.answer;
  await answer.chunk();
  reading.abort();
  assert.equal(await client.tool('echo', { text: 'fine' }), 'fine');
  assert.ok(!cancelledIn(await receivedBy(client)).includes(undefined));
});

test('F26: a body that takes its time is no disconnect', async (t) => {
  const gateway = await child(t);
  await using session = await openSession(gateway.url);
  const text = requestText('1', 'tools/call', { name: 'wait', arguments: { ms: 100 } });
  const slow = session.beginBody({
    headers: { ...session.headers, 'content-length': String(Buffer.byteLength(text)) },
  });
  for (const part of [text.slice(0, 20), text.slice(20, 40), text.slice(40)]) {
    slow.request.write(part);
    await delay(150);
  }
  slow.request.end();
  const { response } = await (await slow.answer).whole();
  assert.equal(textOf(response), 'waited');
});

test('F26: a keep-alive socket that is used again carries nothing over from the calls before', async (t) => {
  const gateway = await child(t);
  await using client = new ModernClient(gateway.url, { keepAlive: true });
  for (let i = 0; i < 3; i += 1) assert.equal(await client.tool('wait', { ms: 30 }), 'waited');
  const slow = client.start('tools/call', { name: 'never', arguments: {} });
  await using other = new ModernClient(gateway.url);
  await untilReceived(other, 'never');
  slow.abort();
  const messages = await untilCancelled(other);
  assert.deepEqual(cancelledIn(messages), [idOf(messages, 'never')]);
  assert.equal(await client.tool('wait', { ms: 30 }), 'waited');
  assert.equal(cancelledIn(await receivedBy(other)).length, 1);
});

test('F26: a legacy client that hangs up cancels nothing', async (t) => {
  const gateway = await startGateway({ stdio: { switches: ['--era=legacy'] } });
  t.after(() => gateway.close());
  await using session = await openSession(gateway.url);
  const waiting = session.start('tools/call', { name: 'wait', arguments: { ms: 1_500 } });
  const primed = await (await waiting.answer).event();
  waiting.abort();
  const [answer] = await (await session.listen(primed?.id)).messages();
  assert.equal(textOf(answer ?? {}), 'waited');
  assert.deepEqual(cancelledIn(await receivedBy(session)), []);
});

test('F26: nor does one without a session', async (t) => {
  const gateway = await child(t, 'legacy');
  await using client = new RawClient(gateway.url);
  await using watcher = new ModernClient(gateway.url);
  // From here on it is known that no session is needed.
  await receivedBy(watcher);
  const headers = { 'mcp-protocol-version': '2025-11-25' };
  const body = requestText('1', 'tools/call', { name: 'wait', arguments: { ms: 300 } });
  const waiting = client.begin({ body, headers });
  await untilReceived(watcher, 'wait');
  waiting.abort();
  while ((await gateway.status()).servers.faulty?.inFlight !== 0) await delay(20);
  assert.deepEqual(cancelledIn(await receivedBy(watcher)), []);
});

for (const id of ['7', '"seven"', '9007199254740993']) {
  test(`F26: a legacy client's own word cancels call ${id} at the server, and it gets no response`, async (t) => {
    const gateway = await child(t);
    await using session = await openSession(gateway.url);
    await using other = new ModernClient(gateway.url);
    const slow = session.start('tools/call', { name: 'never', arguments: {} }, { id });
    await untilReceived(other, 'never');
    const text = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"enough"}}`;
    assert.equal((await session.say(text)).status, 202);
    assert.deepEqual(await (await slow.answer).messages(), []);
    const messages = await untilCancelled(other);
    assert.deepEqual(cancelledIn(messages), [idOf(messages, 'never')]);
  });
}

test('F26: cancelling what is over, what never was, or in the wrong words does nothing', async (t) => {
  const gateway = await child(t);
  await using session = await openSession(gateway.url);
  await using other = await openSession(gateway.url);
  await using watcher = new ModernClient(gateway.url);
  assert.equal(textOf(await session.ask('tools/call', { name: 'echo', arguments: {} }, { id: '1' })), '');
  const slow = session.start('tools/call', { name: 'wait', arguments: { ms: 300 } }, { id: '2' });
  await untilReceived(watcher, 'wait');
  for (const requestId of [1, 3, '2', null, 2.5, {}, undefined]) {
    assert.equal(await session.notify('notifications/cancelled', { requestId }), 202);
  }
  assert.equal(await session.notify('notifications/cancelled'), 202);
  // The id of another session's call is not this one's.
  assert.equal(await other.notify('notifications/cancelled', { requestId: 2 }), 202);
  assert.equal(textOf((await (await slow.answer).whole()).response), 'waited');
  assert.deepEqual(cancelledIn(await receivedBy(watcher)), []);
});

test('F26: a cancellation that races the result leaves one of the two, and a session that works', async (t) => {
  const gateway = await child(t);
  await using session = await openSession(gateway.url, { keepAlive: false });
  for (let round = 0; round < 20; round += 1) {
    const id = String(round);
    const racing = session.start('tools/call', { name: 'wait', arguments: { ms: round % 5 } }, { id });
    const cancelled = session.notify('notifications/cancelled', { requestId: round });
    const answer = await racing.answer;
    const messages = answer.isStream ? await answer.messages() : [await answer.json()];
    assert.ok(messages.length <= 1);
    for (const message of messages) assert.equal(message.id, round);
    assert.equal(await cancelled, 202);
  }
  assert.equal(await session.tool('echo', { text: 'fine' }), 'fine');
  assert.equal((await gateway.status()).servers.faulty?.inFlight, 0);
});

test('F10: an answer that comes after the cancellation is dropped, with the progress before it', async (t) => {
  const gateway = await child(t);
  await using client = new ModernClient(gateway.url);
  const meta = { progressToken: 1 };
  for (let round = 0; round < 3; round += 1) {
    const slow = client.start('tools/call', { name: 'late-answer', arguments: {} }, { meta });
    while ((await gateway.status()).servers.faulty?.inFlight !== 1) await delay(5);
    slow.abort();
    await slow.closed;
    while ((await gateway.status()).servers.faulty?.inFlight !== 0) await delay(5);
  }
  assert.equal(await client.tool('echo', { text: 'fine' }), 'fine');
});
