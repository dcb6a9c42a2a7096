// Subscriptions of a modern client to a modern server (F24).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { legacyHttpBehind } from '../../support/legacy-http.ts';
import type { RawAnswer } from '../../support/raw-answer.ts';
import type { Members, Message } from '../../support/raw-client.ts';
import { ModernClient } from '../../support/raw-session.ts';
import { onEachReplica } from '../../support/replicas-wanted.ts';
import { startGateway } from '../../support/start-gateway.ts';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const TOOLS = { toolsListChanged: true };

async function childClient(t: TestContext): Promise<ModernClient> {
  const gateway = await startGateway({ stdio: { switches: ['--era=modern'] } });
  const client = new ModernClient(gateway.url);
  t.after(async () => {
    await client[Symbol.asyncDispose]();
    await gateway.close();
  });
  return client;
}

function listen(client: ModernClient, id: string, notifications: Members): Promise<RawAnswer> {
  return client.start('subscriptions/listen', { notifications }, { id }).answer;
}

const idIn = (message: Message | undefined) =>
  (message?.params?._meta as Members | undefined)?.[SUBSCRIPTION] ??
  (message?.result?._meta as Members | undefined)?.[SUBSCRIPTION];

for (const id of ['1', '"one"', '0', '""']) {
  test(`F24: acknowledged first, and every message tagged with the client's own id ${id}`, async (t) => {
    const client = await childClient(t);
    const stream = await listen(client, id, TOOLS);
    assert.equal(stream.status, 200);
    const acknowledged = await stream.message();
    assert.equal(acknowledged?.method, 'notifications/subscriptions/acknowledged');
    assert.deepEqual(acknowledged?.params?.notifications, TOOLS);
    assert.equal(idIn(acknowledged), JSON.parse(id));
    await client.tool('list-changed');
    const changed = await stream.message();
    assert.equal(changed?.method, 'notifications/tools/list_changed');
    assert.equal(idIn(changed), JSON.parse(id));
    stream.abort();
  });
}

test('F24, F21: two subscriptions with the same id each hear what is theirs', async (t) => {
  const client = await childClient(t);
  const streams = await Promise.all([listen(client, '1', TOOLS), listen(client, '1', TOOLS)]);
  for (const stream of streams) assert.ok(await stream.message());
  await client.tool('list-changed');
  for (const stream of streams) {
    const message = await stream.message();
    assert.deepEqual([message?.method, idIn(message)], ['notifications/tools/list_changed', 1]);
  }
  for (const stream of streams) stream.abort();
});

test('F24: it stays open for as long as nothing happens, past the time of a call', async (t) => {
  const gateway = await startGateway({
    stdio: { switches: ['--era=modern'], callTimeoutMs: 300, maxCallTimeMs: 600, maxInFlight: 1 },
  });
  t.after(() => gateway.close());
  await using client = new ModernClient(gateway.url);
  const streams = await Promise.all(['1', '2', '3'].map((id) => listen(client, id, TOOLS)));
  for (const stream of streams) assert.ok(await stream.message());
  await delay(900);
  await client.tool('list-changed');
  for (const stream of streams)
    assert.equal((await stream.message())?.method, 'notifications/tools/list_changed');
  for (const stream of streams) stream.abort();
});

test("F24: the server's graceful end is the client's, under its own id", async (t) => {
  const client = await childClient(t);
  const stream = await listen(client, '"sub"', TOOLS);
  assert.ok(await stream.message());
  await onEachReplica(() => client.tool('end-listens', { gracefully: true }));
  const { response } = await stream.whole();
  assert.deepEqual(response, {
    jsonrpc: '2.0',
    id: 'sub',
    result: { resultType: 'complete', _meta: { [SUBSCRIPTION]: 'sub' } },
  });
});

test('F24: a subscription that the server cancels on its pipe ends with the completion result', async (t) => {
  const client = await childClient(t);
  const stream = await listen(client, '"sub"', TOOLS);
  assert.ok(await stream.message());
  await onEachReplica(() => client.tool('end-listens', { gracefully: false }));
  const { response } = await stream.whole();
  assert.equal(response.id, 'sub');
  assert.deepEqual(response.result, { resultType: 'complete', _meta: { [SUBSCRIPTION]: 'sub' } });
});

test('F24: when the server dies the stream ends, and the client may listen again', async (t) => {
  const client = await childClient(t);
  const stream = await listen(client, '"sub"', TOOLS);
  assert.ok(await stream.message());
  await onEachReplica(() => client.ask('tools/call', { name: 'crash', arguments: {} }));
  const { response } = await stream.whole();
  assert.equal(response.id, 'sub');
  assert.equal(response.result, undefined, 'no graceful end');
  const again = await listen(client, '1', TOOLS);
  assert.equal((await again.message())?.method, 'notifications/subscriptions/acknowledged');
  again.abort();
});

test('F24, F26: a client that leaves closes its subscription at the server, on a pipe', async (t) => {
  const client = await childClient(t);
  const stream = await listen(client, '7', TOOLS);
  assert.ok(await stream.message());
  stream.abort();
  let received: Message[] = [];
  while (!received.some(({ method }) => method === 'notifications/cancelled')) {
    received = JSON.parse(await client.tool('received')) as Message[];
  }
  const listens = received.filter(({ method }) => method === 'subscriptions/listen');
  const cancelled = received.find(({ method }) => method === 'notifications/cancelled');
  assert.ok(listens.some(({ id }) => id === cancelled?.params?.requestId));
});

test('F24, F26: and over HTTP', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern' });
  await using client = new ModernClient(gateway.url);
  const filter = { resourceSubscriptions: ['test://one'] };
  const stream = await listen(client, '7', filter);
  assert.ok(await stream.message());
  const [listened] = server.requests(
    ({ message }) => JSON.stringify(message?.params?.notifications) === JSON.stringify(filter),
  );
  stream.abort();
  assert.equal(await listened?.ended, 'broken');
});

test('F24: what is announced over HTTP comes tagged, and other subscriptions do not see it', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern' });
  await using client = new ModernClient(gateway.url);
  const stream = await listen(client, '"mine"', { resourceSubscriptions: ['test://one'] });
  assert.ok(await stream.message());
  server.announce({ method: 'notifications/resources/updated', params: { uri: 'test://one' } });
  const updated = await stream.message();
  assert.equal(updated?.params?.uri, 'test://one');
  assert.equal(idIn(updated), 'mine');
  stream.abort();
});
