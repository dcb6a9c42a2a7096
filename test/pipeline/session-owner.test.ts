// A session id is no proof of who is calling: it opens a session to its owner alone (F05).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { RawClient, type RawRequest } from '../support/raw-client.ts';
import { openSession, requestText } from '../support/raw-session.ts';
import { LIST_LINKS } from '../support/replicas-wanted.ts';
import { NEVER_ISSUED } from '../support/session-requests.ts';
import { startGateway } from '../support/start-gateway.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../support/two-callers.ts';

async function sharedGateway(t: TestContext) {
  const server = await startFaultyHttpServer({ era: 'legacy' });
  const gateway = await startGateway({
    http: { url: server.url },
    gateway: { auth: TWO_CALLERS },
    secrets: KEYS,
  });
  t.after(async () => {
    await gateway.close();
    await server.close();
  });
  return { gateway, server };
}

const TAKEN: readonly [string, RawRequest][] = [
  ['POST', { body: requestText('1', 'tools/list', {}) }],
  ['POST of a notification', { body: { jsonrpc: '2.0', method: 'notifications/initialized' } }],
  ['POST of an answer', { body: { jsonrpc: '2.0', id: 1, result: {} } }],
  ['GET', { method: 'GET' }],
  ['DELETE', { method: 'DELETE' }],
];
for (const [what, request] of TAKEN) {
  test(`F05: a ${what} with somebody else's session id answers as for an unknown one`, async (t) => {
    const { gateway } = await sharedGateway(t);
    await using alice = await openSession(gateway.url, ALICE);
    const stream = await alice.listen();
    await using bob = new RawClient(gateway.url, BOB);
    const foreign = await bob.send({ ...request, headers: { 'mcp-session-id': alice.id } });
    const unknown = await bob.send({ ...request, headers: { 'mcp-session-id': NEVER_ISSUED } });
    assert.equal(foreign.status, 404);
    assert.equal(await foreign.text(), await unknown.text());
    const shown = (headers: object) => Object.keys(headers).sort();
    assert.deepEqual(shown(foreign.headers), shown(unknown.headers));
    assert.equal(await alice.tool('echo', { text: 'undisturbed' }), 'undisturbed');
    assert.equal(stream.status, 200);
    stream.abort();
  });
}

test("F05: another's events cannot be resumed, with one's own session or with theirs", async (t) => {
  const { gateway, server } = await sharedGateway(t);
  await using alice = await openSession(gateway.url, ALICE);
  await alice.tool('echo', { text: 'opens the link of her own' });
  const stream = await alice.listen();
  await server.until(() => server.listening >= LIST_LINKS + 1);
  server.announce({ method: 'notifications/message', params: { level: 'info', data: 'for alice' } });
  const event = await stream.event();
  assert.ok(event?.id);
  await using bob = await openSession(gateway.url, BOB);
  const resumed = await bob.listen(event.id);
  assert.equal(resumed.status, 400);
  const headers = { ...alice.headers, 'last-event-id': event.id };
  assert.equal((await bob.send({ method: 'GET', headers })).status, 404);
  stream.abort();
});

test("F26, F05: nobody cancels another's call", async (t) => {
  const { gateway, server } = await sharedGateway(t);
  await using alice = await openSession(gateway.url, ALICE);
  await using bob = await openSession(gateway.url, BOB);
  const waiting = alice.start('tools/call', { name: 'wait', arguments: { ms: 400 } }, { id: '77' });
  await server.request('tools/call:wait');
  assert.equal(await bob.notify('notifications/cancelled', { requestId: 77 }), 202);
  const { response } = await (await waiting.answer).whole();
  assert.deepEqual(response.result?.content, [{ type: 'text', text: 'waited' }]);
  assert.deepEqual(server.cancelled, []);
});

test('F04, F05: the cap of one caller does not hold up another', async (t) => {
  const server = await startFaultyHttpServer({ era: 'legacy' });
  const replay = { bytes: 1_000, forMs: 1_000 };
  const sessions = { idleTimeoutMs: 60_000, maxAgeMs: 60_000, max: 100, maxPerPrincipal: 2, replay };
  const gateway = await startGateway({
    http: { url: server.url },
    gateway: { auth: TWO_CALLERS, sessions },
    secrets: KEYS,
  });
  t.after(async () => {
    await gateway.close();
    await server.close();
  });
  await openSession(gateway.url, ALICE);
  await openSession(gateway.url, ALICE);
  await assert.rejects(openSession(gateway.url, ALICE), /5030/);
  await using bob = await openSession(gateway.url, BOB);
  assert.equal(await bob.tool('echo', { text: 'in' }), 'in');
});
