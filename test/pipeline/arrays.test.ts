// Arrays of messages: refused, but in a session of the one revision that had them (F39).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import { type Message, RawClient } from '../support/raw-client.ts';
import { openSession, type RawSession } from '../support/raw-session.ts';

const request = (id: number | string, method: string, params = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const call = (id: number | string, name: string, args = {}) =>
  request(id, 'tools/call', { name, arguments: args });
const NOTIFICATION = { jsonrpc: '2.0', method: 'notifications/initialized' };
const INITIALIZE = request(1, 'initialize', { protocolVersion: '2025-03-26', capabilities: {} });
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };

async function sessionOf(t: TestContext, version: string) {
  const { gateway, server } = await legacyHttpBehind(t);
  const session = await openSession(gateway.url, { version });
  t.after(() => session[Symbol.asyncDispose]());
  return { gateway, server, session };
}

async function refusal(session: RawClient, body: unknown, headers: Record<string, string>) {
  const answer = await session.send({ body, headers });
  const { id, error } = await answer.json();
  return [answer.status, id ?? null, error?.code];
}

const ARRAYS: readonly [string, unknown][] = [
  ['an empty array', []],
  ['one request', [request(1, 'ping')]],
  ['one notification', [NOTIFICATION]],
  ['a mixture', [request(1, 'ping'), NOTIFICATION]],
  ['nested arrays', [[request(1, 'ping')]]],
  ['10,000 members', Array.from({ length: 10_000 }, (_, id) => request(id, 'ping'))],
  ['initialize', [INITIALIZE]],
];
for (const [what, body] of ARRAYS) {
  test(`F39: ${what}: 400 and -32600 without an id, in the newer revisions and without a session`, async (t) => {
    const { gateway, session, server } = await sessionOf(t, '2025-11-25');
    assert.deepEqual(await refusal(session, body, session.headers), [400, null, -32600]);
    await using client = new RawClient(gateway.url);
    assert.deepEqual(await refusal(client, body, MODERN), [400, null, -32600]);
    assert.equal((await client.send({ body })).status, 400);
    assert.equal(server.requests('tools/call').length, 0);
  });
}

test('F39: two JSON texts in one body are no JSON', async (t) => {
  const { session } = await sessionOf(t, '2025-03-26');
  const body = `${JSON.stringify(request(1, 'ping'))}\n${JSON.stringify(request(2, 'ping'))}`;
  assert.deepEqual(await refusal(session, body, session.headers), [400, null, -32700]);
});

const byId = (messages: readonly Message[]) => new Map(messages.map((message) => [message.id, message]));

async function answersTo(session: RawSession, body: unknown): Promise<Message[]> {
  const answer = await session.say(body);
  assert.equal(answer.status, 200);
  assert.ok(answer.isStream);
  return answer.messages();
}

test('F39: in a session of 2025-03-26 every member is answered, on one stream, under its own id', async (t) => {
  const { session } = await sessionOf(t, '2025-03-26');
  const body = [
    call(1, 'wait', { ms: 100 }),
    call('1', 'echo', { text: 'a' }),
    NOTIFICATION,
    request(2, 'ping'),
    call(3, 'no such tool'),
    request(4, 'made/up'),
    request(5, 'tools/list'),
  ];
  const messages = await answersTo(session, body);
  assert.equal(messages.length, 6);
  const answers = byId(messages);
  assert.deepEqual(answers.get('1')?.result?.content, [{ type: 'text', text: 'a' }]);
  assert.deepEqual(answers.get(1)?.result?.content, [{ type: 'text', text: 'waited' }]);
  assert.deepEqual(answers.get(2)?.result, {});
  assert.equal(answers.get(3)?.error?.code, -32602);
  assert.equal(answers.get(4)?.error?.code, -32601);
  assert.ok(Array.isArray(answers.get(5)?.result?.tools));
});

test('F39: an array without requests is taken without an answer', async (t) => {
  const { session } = await sessionOf(t, '2025-03-26');
  assert.equal((await session.say([NOTIFICATION, { jsonrpc: '2.0', id: 9, result: {} }])).status, 202);
});

test('F39: questions of the server are answered in arrays too', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url, {
    version: '2025-03-26',
    capabilities: { roots: {} },
  });
  const asking = await session.say([call(1, 'ask', { method: 'roots/list', params: {} })]);
  const question = await asking.message();
  assert.equal(question?.method, 'roots/list');
  const answer = { jsonrpc: '2.0', id: question?.id, result: { roots: [] } };
  assert.equal((await session.say([answer])).status, 202);
  assert.deepEqual((await asking.message())?.result?.content, [{ type: 'text', text: '{"roots":[]}' }]);
});

const WRONG: readonly [string, unknown][] = [
  ['initialize among the members', INITIALIZE],
  ['an array among the members', [request(8, 'ping')]],
  ['a member that is no message', { hello: 'world' }],
  ['a member with a null id', { jsonrpc: '2.0', id: null, method: 'ping' }],
  ['a number', 42],
];
for (const [what, member] of WRONG) {
  test(`F39: ${what}: the whole array is refused before any of it takes effect`, async (t) => {
    const { session, server } = await sessionOf(t, '2025-03-26');
    const body = [call(1, 'echo', { text: 'x' }), member];
    assert.deepEqual(await refusal(session, body, session.headers), [400, null, -32600]);
    assert.equal(server.requests('tools/call').length, 0);
  });
}

test('F39: empty arrays and arrays past the bound are refused there too', async (t) => {
  const { session } = await sessionOf(t, '2025-03-26');
  for (const body of [[], Array.from({ length: 101 }, (_, id) => request(id, 'ping'))]) {
    assert.deepEqual(await refusal(session, body, session.headers), [400, null, -32600]);
  }
  const full = Array.from({ length: 100 }, (_, id) => request(id, 'ping'));
  assert.equal((await answersTo(session, full)).length, 100);
});

test('F39, F26: one member is cancelled, the others are answered', async (t) => {
  const { session, server } = await sessionOf(t, '2025-03-26');
  const asking = session.say([call('slow', 'never'), call('quick', 'wait', { ms: 300 })]);
  await server.request('tools/call:never');
  await session.notify('notifications/cancelled', { requestId: 'slow' });
  const messages = await (await asking).messages();
  assert.deepEqual(
    messages.map(({ id }) => id),
    ['quick'],
  );
});
