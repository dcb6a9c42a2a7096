// What becomes of requests that make a hop when one of the two replicas ends (F44), and what a hop costs neither of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ModernClient, openSession, textOf, through } from '../support/raw-session.ts';
import { type ReplicaPair, startPair } from '../support/replica-pair.ts';
import type { StatusReport } from '../support/started-gateway.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../support/two-callers.ts';

const STDIO = { stdio: { switches: ['--era=legacy'] } } as const;
const drain = (graceMs: number) => ({ gateway: { drain: { delayMs: 0, graceMs } } });

const untilForwarded = ({ service }: ReplicaPair, count: number) =>
  eventually(`${count} calls at the server`, async () => {
    const status = await Promise.all(
      service.replicas.map(
        async ({ adminUrl }) => (await (await fetch(`${adminUrl}/status`)).json()) as StatusReport,
      ),
    );
    return status.some(({ servers }) => servers.faulty?.inFlight === count);
  });

for (const [index, role] of ['home', 'edge'].entries()) {
  test(`F44: a call that has made a hop finishes within the grace of its ${role}`, async (t) => {
    const pair = await startPair(t, { ...STDIO, ...drain(20_000) });
    await using session = await openSession(pair.a);
    await using other = through(pair.b, session);
    await other.tool('echo', { text: 'a link' });
    const call = other.tool('wait', { ms: 600 });
    await untilForwarded(pair, 1);
    const closed = pair.service.replicas[index]?.close();
    assert.equal(await call, 'waited');
    await closed;
  });

  test(`F44: past the grace of its ${role}, it fails by its id where its client cannot come back for it`, async (t) => {
    const pair = await startPair(t, { ...STDIO, ...drain(100) });
    await using session = await openSession(pair.a, { version: '2025-06-18' });
    await using other = through(pair.b, session);
    await other.tool('echo', { text: 'a link' });
    const headers = { accept: 'application/json' };
    const call = other.ask('tools/call', { name: 'never', arguments: {} }, { id: '"json"', headers });
    await untilForwarded(pair, 1);
    await pair.service.replicas[index]?.close();
    const answer = await call;
    assert.equal(answer.id, 'json');
    assert.ok([5020, 5030].includes(Number(answer.error?.code)), JSON.stringify(answer));
  });
}

test('F44, F25: a call goes on past the end of its edge, and its client comes back for it at the home', async (t) => {
  const pair = await startPair(t, { ...STDIO, ...drain(100) });
  await using session = await openSession(pair.a);
  await using other = through(pair.b, session);
  const call = { name: 'wait', arguments: { ms: 2_000 } };
  const answer = await other.start('tools/call', call, { id: '"mine"' }).answer;
  const priming = await answer.event();
  assert.ok(priming?.id);
  await pair.service.replicas[1]?.close();
  assert.equal(await answer.ended(), true, 'in good order');
  const rest = await (await session.listen(priming.id)).messages();
  assert.deepEqual(rest.map(textOf), ['waited']);
});

for (const accept of ['application/json', 'text/event-stream']) {
  test(`F44: where both end, it fails by its id, once, to a client that takes ${accept}`, async (t) => {
    const pair = await startPair(t, { ...STDIO, ...drain(100) });
    await using session = await openSession(pair.a);
    await using other = through(pair.b, session);
    await other.tool('echo', { text: 'a link' });
    const call = { name: 'never', arguments: {} };
    const asked = other.start('tools/call', call, { id: '"mine"', headers: { accept } });
    await untilForwarded(pair, 1);
    const [text] = await Promise.all([
      asked.answer.then((answer) => answer.text()),
      ...pair.service.replicas.map((replica) => replica.close()),
    ]);
    assert.match(text, /"id":"mine","error"/);
    assert.equal(text.split('"jsonrpc"').length, 2, 'once');
  });
}

test('F44: the GET stream of a session that lives elsewhere ends in good order with its edge', async (t) => {
  const pair = await startPair(t, { ...STDIO, ...drain(20_000) });
  await using session = await openSession(pair.a);
  await using other = through(pair.b, session);
  const stream = await other.listen();
  assert.equal(stream.status, 200);
  await pair.service.replicas[1]?.close();
  assert.equal(await stream.ended(), true);
  const again = await session.listen();
  assert.equal(again.status, 200);
  again.abort();
});

test('F24: a stream that makes a hop counts where its client is, once', async (t) => {
  const { a, b } = await startPair(t, {
    ...STDIO,
    gateway: { auth: TWO_CALLERS, streams: { maxPerPrincipal: 1 } },
    secrets: KEYS,
  });
  await using alice = await openSession(a, ALICE);
  await using bob = await openSession(a, BOB);
  await using aliceAtB = through(b, alice, ALICE);
  await using second = await openSession(b, ALICE);
  const stream = await aliceAtB.listen();
  assert.equal(stream.status, 200);
  const refused = await second.listen();
  assert.equal(refused.status, 503);
  await refused.text();
  await using secondAtA = through(a, second, ALICE);
  const there = await secondAtA.listen();
  assert.equal(there.status, 200, 'the home of the first counts its own clients alone');
  await using bobAtB = through(b, bob, BOB);
  assert.equal((await bobAtB.listen()).status, 200);
  stream.abort();
  await eventually('there is room again', async () => {
    const again = await aliceAtB.listen();
    again.abort();
    return again.status === 200;
  });
  there.abort();
});

test('F24: so does a subscription', async (t) => {
  const { a, b } = await startPair(t, {
    ...STDIO,
    gateway: { auth: TWO_CALLERS, streams: { maxPerPrincipal: 1 } },
    secrets: KEYS,
  });
  const params = { notifications: { resourceSubscriptions: ['faulty://one'] } };
  await using atA = new ModernClient(a, ALICE);
  await using atB = new ModernClient(b, ALICE);
  for (const alice of [atA, atB]) {
    const listen = await alice.start('subscriptions/listen', params).answer;
    assert.equal((await listen.message())?.method, 'notifications/subscriptions/acknowledged');
    const refused = await alice.start('subscriptions/listen', params).answer;
    assert.equal(refused.status, 503);
    await refused.text();
  }
});

test('a session whose home is killed is an unknown one where it had a process there', async (t) => {
  const { a, b, service } = await startPair(t, { ...STDIO, ...drain(0) });
  await using session = await openSession(a);
  await using other = through(b, session);
  await other.tool('echo', { text: 'a process' });
  await service.replicas[0]?.close();
  const answer = await other.start('tools/list').answer;
  assert.equal(answer.status, 404);
  assert.equal((await answer.json()).error?.code, 4040);
  assert.equal(await other.delete(), 404);
});

test('a session without a process goes on where it is asked for, and requests, streams and answers with it', async (t) => {
  const { a, b, service } = await startPair(t, { ...STDIO, ...drain(0) });
  await using session = await openSession(a);
  await using other = through(b, session);
  await service.replicas[0]?.close();
  assert.equal((await other.listen()).status, 200);
  assert.equal(await other.tool('echo', { text: 'here' }), 'here');
  assert.equal(await other.delete(), 204);
});

test('F04: a DELETE ends a session that nobody has any more', async (t) => {
  const { a, b, service } = await startPair(t, { ...STDIO, ...drain(0) });
  await using session = await openSession(a);
  await using other = through(b, session);
  await service.replicas[0]?.close();
  assert.equal(await other.delete(), 204);
  const answer = await other.listen();
  assert.equal(answer.status, 404, 'nobody takes it up again');
  await answer.text();
});

test('word of a changed list reaches the clients of the other replica, once', async (t) => {
  const { a, b } = await startPair(t, { stdio: { switches: ['--era=legacy'], isolation: 'shared' } });
  await using one = await openSession(a);
  await using other = await openSession(b);
  await using modern = new ModernClient(b);
  const params = { notifications: { toolsListChanged: true } };
  const listen = await modern.start('subscriptions/listen', params).answer;
  assert.equal((await listen.message())?.method, 'notifications/subscriptions/acknowledged');
  const stream = await other.listen();
  await one.tool('list-changed');
  const changed = 'notifications/tools/list_changed';
  assert.equal((await stream.message())?.method, changed);
  assert.equal((await listen.message())?.method, changed);
  await other.tool('list-changed');
  assert.equal((await stream.message())?.method, changed, 'and of its own');
  stream.abort();
  listen.abort();
});
