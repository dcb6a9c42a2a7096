// A legacy session that ends while calls are in flight: each is answered once, by its id, and cancelled at its server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legacyHttpBehind, sessionLimits } from '../../support/legacy-http.ts';
import type { Message } from '../../support/raw-client.ts';
import { ModernClient, openSession } from '../../support/raw-session.ts';
import { onEachReplica } from '../../support/replicas-wanted.ts';
import { startGateway } from '../../support/start-gateway.ts';

const NEVER = { name: 'never', arguments: {} };

const ACCEPTS: readonly [string, string, number][] = [
  ['JSON alone', 'application/json', 404],
  ['either', 'application/json, text/event-stream', 404],
  ['events first', 'text/event-stream, application/json', 200],
  ['events alone', 'text/event-stream', 200],
];
for (const [what, accept, status] of ACCEPTS) {
  test(`F26: a call whose session its client ends is answered once, to a client that takes ${what}`, async (t) => {
    const { gateway, server } = await legacyHttpBehind(t);
    await using session = await openSession(gateway.url);
    const call = session.start('tools/call', NEVER, { id: '"it"', headers: { accept } });
    const { message } = await server.request('tools/call:never');
    assert.equal(await session.delete(), 204);
    const answer = await call.answer;
    const messages = answer.isStream ? await answer.messages() : [await answer.json()];
    assert.deepEqual(
      messages.map(({ id, error }) => [id, error?.code]),
      [['it', 4040]],
    );
    assert.equal(answer.status, status);
    await server.until(() => server.cancelled.length > 0);
    assert.deepEqual(server.cancelled, [message?.id]);
    const line = await gateway.logged(
      ({ method, outcome }) => method === 'tools/call' && outcome !== undefined,
    );
    assert.deepEqual([line.outcome, line.reason], ['session-unknown', 'session-ended']);
  });
}

test('F26: a call whose session has become too old is answered the same', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { gateway: sessionLimits({ maxAgeMs: 1_000 }) });
  await using session = await openSession(gateway.url);
  const { id, error } = await session.ask('tools/call', NEVER, { id: '"it"' });
  assert.deepEqual([id, error?.code], ['it', 4040]);
  await server.until(() => server.cancelled.length === 1);
});

test('F26: a child that others use too hears of it', async () => {
  await using gateway = await startGateway({ stdio: { switches: ['--era=legacy'], isolation: 'shared' } });
  await using session = await openSession(gateway.url);
  await using other = new ModernClient(gateway.url);
  const received = async () => {
    const messages: Message[] = [];
    await onEachReplica(async () => {
      messages.push(...(JSON.parse(await other.tool('received')) as Message[]));
    });
    return messages;
  };
  const call = session.ask('tools/call', NEVER, { id: '"it"' });
  let sent: Message | undefined;
  while (sent === undefined) sent = (await received()).find(({ params }) => params?.name === 'never');
  await session.delete();
  assert.equal((await call).error?.code, 4040);
  const cancelled = (await received()).find(({ method }) => method === 'notifications/cancelled');
  assert.equal(cancelled?.params?.requestId, sent.id);
});

test('F39: each call of an array is answered by its own id', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url, { version: '2025-03-26' });
  const calls = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: NEVER }));
  const answer = await session.send({ body: calls, headers: session.headers });
  await server.request('tools/call:never', 2);
  await session.delete();
  const codes = (await answer.messages()).map(({ id, error }) => [id, error?.code]);
  assert.deepEqual(codes.sort(), [
    [1, 4040],
    [2, 4040],
  ]);
});

test('F26: a call that its client has cancelled gets no response, also if the session ends right behind', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const headers = { accept: 'text/event-stream' };
  const call = session.start('tools/call', NEVER, { id: '5', headers });
  await server.request('tools/call:never');
  await session.notify('notifications/cancelled', { requestId: 5 });
  await session.delete();
  assert.deepEqual(await (await call.answer).messages(), []);
});

for (const accept of ['application/json', 'text/event-stream']) {
  test(`F44: a call that outlasts the drain is answered once, to a client that takes ${accept}`, async (t) => {
    const { gateway, server } = await legacyHttpBehind(t, {
      gateway: { drain: { delayMs: 0, graceMs: 50 } },
    });
    await using session = await openSession(gateway.url);
    const call = session.start('tools/call', NEVER, { id: '"it"', headers: { accept } });
    await server.request('tools/call:never');
    const [answer] = await Promise.all([
      call.answer.then(async (got) => ({ got, text: await got.text() })),
      gateway.close(),
    ]);
    assert.match(answer.text, /"id":"it","error"/, `${answer.got.status} ${answer.text}`);
    assert.equal(answer.text.split('"jsonrpc"').length, 2, 'once');
  });
}
