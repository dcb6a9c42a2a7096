// The end of a gateway, and what it does to those who are in the middle of something (F44).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { startLibrary } from '../support/library-server.ts';
import { RawClient } from '../support/raw-client.ts';
import { ModernClient, openSession, requestText, textOf } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

async function started(t: TestContext, era: string, graceMs: number): Promise<StartedGateway> {
  const gateway = await startGateway({
    stdio: { switches: [`--era=${era}`] },
    gateway: { drain: { delayMs: 0, graceMs } },
  });
  t.after(() => gateway.close());
  return gateway;
}

async function untilInFlight(gateway: StartedGateway, count: number): Promise<void> {
  while ((await gateway.status()).servers.faulty?.inFlight !== count);
}

test('F44: calls finish within the grace', async (t) => {
  const gateway = await started(t, 'both', 20_000);
  await using modern = new ModernClient(gateway.url);
  await using session = await openSession(gateway.url);
  const calls = [modern.tool('wait', { ms: 600 }), session.tool('wait', { ms: 600 })];
  await untilInFlight(gateway, 2);
  const closed = gateway.close();
  assert.deepEqual(await Promise.all(calls), ['waited', 'waited']);
  await closed;
});

for (const [era, kind] of [
  ['modern', 'modern'],
  ['legacy', 'modern'],
  ['legacy', 'legacy'],
] as const) {
  test(`F44: past it, a ${kind} client's call to a ${era} child fails by its id`, async (t) => {
    const gateway = await started(t, era, 100);
    await using caller = kind === 'modern' ? new ModernClient(gateway.url) : await openSession(gateway.url);
    await caller.tool('echo', { text: 'a link' });
    const calls = ['"json"', '"stream"'].map((id) => {
      const headers: Record<string, string> = id === '"stream"' ? { accept: 'text/event-stream' } : {};
      return caller.ask('tools/call', { name: 'never', arguments: {} }, { id, headers });
    });
    await untilInFlight(gateway, 2);
    await gateway.close();
    for (const [index, answer] of (await Promise.all(calls)).entries()) {
      assert.equal(answer.id, ['json', 'stream'][index]);
      assert.ok([5020, 5030].includes(Number(answer.error?.code)), JSON.stringify(answer));
    }
  });
}

test('F44: a subscription ends with its completion result, a GET stream in good order', async (t) => {
  const gateway = await started(t, 'both', 5_000);
  await using modern = new ModernClient(gateway.url);
  const params = { notifications: { toolsListChanged: true } };
  const listening = await modern.start('subscriptions/listen', params, { id: '"sub"' }).answer;
  assert.equal((await listening.message())?.method, 'notifications/subscriptions/acknowledged');
  await using session = await openSession(gateway.url);
  const stream = await session.listen();
  const startedAt = performance.now();
  const closed = gateway.close();
  const { response } = await listening.whole();
  assert.equal(response.id, 'sub');
  assert.deepEqual(response.result, {
    resultType: 'complete',
    _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' },
  });
  assert.equal(await stream.ended(), true);
  await closed;
  assert.ok(performance.now() - startedAt < 5_000, 'neither held the end up');
});

for (const era of ['modern', 'legacy'] as const) {
  test(`F44: a subscription on a ${era} server goes on for as long as calls do`, async (t) => {
    const library = await startLibrary(era);
    const gateway = await startGateway({
      servers: [httpServerConfig(library.url)],
      gateway: { drain: { delayMs: 0, graceMs: 20_000 } },
    });
    t.after(() => gateway.close().finally(() => library[Symbol.asyncDispose]()));
    await using modern = new ModernClient(gateway.url);
    library.hold();
    // One that runs wherever the subscription will be.
    const calls = Array.from({ length: PROCESSES }, () => modern.tool('slow'));
    await eventually(
      'all run',
      () => library.asked.filter(({ params }) => params?.name === 'slow').length === calls.length,
    );
    const params = { notifications: { toolsListChanged: true } };
    const listening = await modern.start('subscriptions/listen', params).answer;
    assert.equal((await listening.message())?.method, 'notifications/subscriptions/acknowledged');
    const closed = gateway.close();
    await eventually('it takes no more connections', () =>
      fetch(gateway.url).then(
        () => false,
        () => true,
      ),
    );
    library.announce('notifications/tools/list_changed');
    assert.equal((await listening.message())?.method, 'notifications/tools/list_changed');
    library.release();
    for (const call of calls) assert.match(await call, /slow/);
    assert.equal((await listening.whole()).response.result?.resultType, 'complete');
    await closed;
  });
}

test('F44: a second signal does not wait for the rest', async (t) => {
  const gateway = await started(t, 'legacy', 60_000);
  await using modern = new ModernClient(gateway.url);
  const call = modern.ask('tools/call', { name: 'never', arguments: {} });
  await untilInFlight(gateway, 1);
  const startedAt = performance.now();
  const closed = gateway.close();
  gateway.hurry();
  assert.ok([5020, 5030].includes(Number((await call).error?.code)));
  await closed;
  assert.ok(performance.now() - startedAt < 20_000);
});

test('F44: with a child that is still starting, the end does not wait for it', async (t) => {
  const gateway = await startGateway({
    stdio: { switches: ['--start-delay=60000'], startTimeoutMs: 60_000 },
    gateway: { drain: { delayMs: 0, graceMs: 100 } },
  });
  t.after(() => gateway.close());
  await using modern = new ModernClient(gateway.url);
  const call = modern.ask('tools/call', { name: 'echo', arguments: {} }, { id: '"early"' });
  // The child is started ahead of any call, so that it starts says nothing of this one.
  await eventually('the call is in', async () => {
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    return metrics.includes('\nportico_open_replies 1\n');
  });
  const startedAt = performance.now();
  await gateway.close();
  const answer = await call;
  assert.deepEqual([answer.id, answer.error?.code], ['early', 5030]);
  assert.ok(performance.now() - startedAt < 15_000);
});

test('a session of a gateway that is gone is unknown to the next one', async (t) => {
  const first = await started(t, 'legacy', 100);
  await using session = await openSession(first.url);
  assert.equal(textOf(await session.ask('tools/call', { name: 'echo', arguments: { text: 'x' } })), 'x');
  await first.close();
  const second = await started(t, 'legacy', 100);
  await using client = new RawClient(second.url);
  const answer = await client.send({ headers: session.headers, body: requestText('1', 'tools/list', {}) });
  assert.equal(answer.status, 404);
});
