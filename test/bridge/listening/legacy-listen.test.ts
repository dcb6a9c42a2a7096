// A modern client that listens to a legacy server, and a legacy client subscribed at a modern one.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';
import { type BehindOptions, legacyHttpBehind } from '../../support/legacy-http.ts';
import { startLibrary } from '../../support/library-server.ts';
import type { RawAnswer } from '../../support/raw-answer.ts';
import type { Members, Message } from '../../support/raw-client.ts';
import { ModernClient, openSession } from '../../support/raw-session.ts';
import { LIST_LINKS } from '../../support/replicas-wanted.ts';
import { type StartedGateway, startGateway } from '../../support/start-gateway.ts';

const TAG = 'io.modelcontextprotocol/subscriptionId';
const TOOLS_CHANGED = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';

async function stdioBehind(
  t: TestContext,
  changes: { idleTimeoutMs?: number } = {},
): Promise<StartedGateway> {
  const gateway = await startGateway({ stdio: { switches: ['--era=legacy'], ...changes } });
  t.after(() => gateway.close());
  return gateway;
}

function modernClient(t: TestContext, gateway: StartedGateway): ModernClient {
  const client = new ModernClient(gateway.url);
  t.after(() => client[Symbol.asyncDispose]());
  return client;
}

async function listen(client: ModernClient, notifications: Members, id = '"l"'): Promise<RawAnswer> {
  return client.start('subscriptions/listen', { notifications }, { id }).answer;
}

/** What the server agreed to; it has to be the first message. */
async function acknowledged(stream: RawAnswer): Promise<unknown> {
  const message = await stream.message();
  assert.equal(message?.method, 'notifications/subscriptions/acknowledged');
  return message?.params?.notifications;
}

/** What the caller's own child has heard of a method. */
async function heard(client: ModernClient, method: string): Promise<Message[]> {
  const frames = JSON.parse(await client.tool('received')) as Message[];
  return frames.filter((frame) => frame.method === method);
}

async function linksOf(gateway: StartedGateway): Promise<unknown> {
  return (await gateway.status()).servers.faulty?.links;
}

async function untilLinks(gateway: StartedGateway, count: number): Promise<void> {
  while ((await linksOf(gateway)) !== count) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('acknowledged first, with what the server promises and nothing else, tagged with the id of the request', async (t) => {
  const gateway = await stdioBehind(t);
  const client = modernClient(t, gateway);
  const wanted = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: false,
    unheard: true,
  };
  const stream = await listen(client, wanted, '9007199254740993');
  const { data = '' } = (await stream.event()) ?? {};
  assert.match(data, /"io\.modelcontextprotocol\/subscriptionId":9007199254740993\b/);
  // The server has prompts, and does not promise to tell when they change.
  assert.deepEqual(JSON.parse(data).params.notifications, { toolsListChanged: true });
  stream.abort();
});

test('what is heard before the acknowledgement is told behind it', async (t) => {
  const library = await startLibrary('legacy');
  const gateway = await startGateway({ servers: [httpServerConfig(library.url)] });
  t.after(() => gateway.close().finally(() => library[Symbol.asyncDispose]()));
  const client = modernClient(t, gateway);
  const witness = await listen(client, { toolsListChanged: true }, '"w"');
  await acknowledged(witness);
  library.hold();
  const uris = ['file:///srv/public/a.txt'];
  const wanted = { toolsListChanged: true, resourceSubscriptions: uris };
  const listening = listen(client, wanted);
  await eventually('it is being subscribed', () =>
    library.asked.some(({ method }) => method === 'resources/subscribe'),
  );
  library.announce(TOOLS_CHANGED);
  assert.equal((await witness.message())?.method, TOOLS_CHANGED);
  library.release();
  const stream = await listening;
  assert.deepEqual(await acknowledged(stream), wanted);
  assert.equal((await stream.message())?.method, TOOLS_CHANGED);
  for (const each of [witness, stream]) each.abort();
});

test('a listen for lists starts no link, and outlives the links that it hears', async (t) => {
  const gateway = await stdioBehind(t);
  const client = modernClient(t, gateway);
  await client.ask('tools/list');
  const stream = await listen(client, { toolsListChanged: true });
  assert.deepEqual(await acknowledged(stream), { toolsListChanged: true });
  assert.equal(await linksOf(gateway), LIST_LINKS);
  // A link that is opened later is heard as well.
  await client.tool('list-changed');
  const changed = await stream.message();
  assert.deepEqual([changed?.method, changed?.params?._meta], [TOOLS_CHANGED, { [TAG]: 'l' }]);
  await client.ask('tools/call', { name: 'crash', arguments: {} });
  await client.tool('list-changed');
  assert.equal((await stream.message())?.method, TOOLS_CHANGED);
  stream.abort();
});

test('when the child that lists come from was replaced, everything may have changed', async (t) => {
  const gateway = await stdioBehind(t);
  const client = modernClient(t, gateway);
  await client.ask('tools/list');
  const stream = await listen(client, { toolsListChanged: true });
  await acknowledged(stream);
  const [lister] = gateway.children();
  process.kill(lister ?? 0, 'SIGKILL');
  assert.equal((await stream.message())?.method, TOOLS_CHANGED);
  stream.abort();
});

test('who asked for no list changes, or for others, hears none', async (t) => {
  const gateway = await stdioBehind(t);
  const client = modernClient(t, gateway);
  const stream = await listen(client, { resourceSubscriptions: ['a://a'] });
  await acknowledged(stream);
  await client.tool('list-changed');
  await client.tool('updated', { uri: 'b://b' });
  await client.tool('updated', { uri: 'a://a' });
  const first = await stream.message();
  assert.deepEqual([first?.method, first?.params], [UPDATED, { uri: 'a://a', _meta: { [TAG]: 'l' } }]);
  stream.abort();
});

test('a resource is subscribed once, before it is acknowledged, and given up with the last who listens', async (t) => {
  const gateway = await stdioBehind(t);
  const client = modernClient(t, gateway);
  const one = await listen(client, { resourceSubscriptions: ['a://a', 'b://b', 'a://a', 7] }, '1');
  assert.deepEqual(await acknowledged(one), { resourceSubscriptions: ['a://a', 'b://b'] });
  const two = await listen(client, { resourceSubscriptions: ['a://a'] }, '2');
  assert.deepEqual(await acknowledged(two), { resourceSubscriptions: ['a://a'] });
  const uris = (messages: Message[]) => messages.map(({ params }) => params?.uri);
  assert.deepEqual(uris(await heard(client, 'resources/subscribe')), ['a://a', 'b://b']);
  await client.tool('updated', { uri: 'a://a' });
  for (const [stream, id] of [
    [one, 1],
    [two, 2],
  ] as const) {
    assert.deepEqual((await stream.message())?.params?._meta, { [TAG]: id });
  }
  one.abort();
  const given = async (count: number) => {
    let frames = await heard(client, 'resources/unsubscribe');
    while (frames.length < count) frames = await heard(client, 'resources/unsubscribe');
    return uris(frames);
  };
  assert.deepEqual(await given(1), ['b://b']);
  await client.tool('updated', { uri: 'a://a' });
  assert.equal((await two.message())?.params?.uri, 'a://a');
  two.abort();
  assert.deepEqual(await given(2), ['b://b', 'a://a']);
});

test('what the server will not subscribe to is not acknowledged', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  const client = modernClient(t, gateway);
  const error = { code: -32002, message: 'no such thing' };
  const refused = (request: { message: Members | undefined }) => {
    const { method, params } = (request.message ?? {}) as { method?: string; params?: Members };
    return method === 'resources/subscribe' && params?.uri === 'no://no';
  };
  server.fault((request) => refused(request as { message: Members | undefined }), {
    answer: {
      status: 200,
      type: 'application/json',
      body: JSON.stringify({ jsonrpc: '2.0', id: null, error }),
    },
  });
  const stream = await listen(client, { resourceSubscriptions: ['no://no', 'yes://yes'] });
  assert.deepEqual(await acknowledged(stream), { resourceSubscriptions: ['yes://yes'] });
  await server.until(() => server.listening > 0);
  server.announce({ method: UPDATED, params: { uri: 'no://no' } });
  server.announce({ method: UPDATED, params: { uri: 'yes://yes' } });
  assert.equal((await stream.message())?.params?.uri, 'yes://yes');
  stream.abort();
});

test('a server without subscriptions is not asked for any', async (t) => {
  const options: BehindOptions = { persona: { capabilities: { tools: {}, resources: {} } } };
  const { gateway, server } = await legacyHttpBehind(t, options);
  const client = modernClient(t, gateway);
  const stream = await listen(client, { resourceSubscriptions: ['a://a'], toolsListChanged: true });
  assert.deepEqual(await acknowledged(stream), {});
  assert.equal(server.requests('resources/subscribe').length, 0);
  stream.abort();
});

test('subscriptions keep their link; without them it is closed when it is idle', async (t) => {
  const gateway = await stdioBehind(t, { idleTimeoutMs: 100 });
  const client = modernClient(t, gateway);
  const stream = await listen(client, { resourceSubscriptions: ['a://a'] });
  await acknowledged(stream);
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(await linksOf(gateway), LIST_LINKS + 1);
  await client.tool('updated', { uri: 'a://a' });
  assert.equal((await stream.message())?.params?.uri, 'a://a');
  stream.abort();
  await untilLinks(gateway, LIST_LINKS);
});

test('a listen with subscriptions ends with its completion result when their link does', async (t) => {
  const gateway = await stdioBehind(t);
  const client = modernClient(t, gateway);
  const stream = await listen(client, { resourceSubscriptions: ['a://a'] }, '5');
  await acknowledged(stream);
  await client.ask('tools/call', { name: 'crash', arguments: {} });
  assert.deepEqual(await stream.messages(), [
    { jsonrpc: '2.0', id: 5, result: { resultType: 'complete', _meta: { [TAG]: 5 } } },
  ]);
});

test('more resources than a stream may have are refused', async (t) => {
  const gateway = await stdioBehind(t);
  const client = modernClient(t, gateway);
  const resourceSubscriptions = Array.from({ length: 257 }, (_, index) => `a://${index}`);
  const answer = await client.ask('subscriptions/listen', { notifications: { resourceSubscriptions } });
  assert.equal(answer.error?.code, -32602);
});

test("a legacy session's subscription at a modern child survives the child", async (t) => {
  const gateway = await startGateway({ stdio: { switches: ['--era=modern'] } });
  t.after(() => gateway.close());
  await using session = await openSession(gateway.url);
  const stream = await session.listen();
  assert.deepEqual((await session.ask('resources/subscribe', { uri: 'a://a' })).result, {});
  await session.tool('updated', { uri: 'a://a' });
  assert.deepEqual((await stream.message())?.params, { uri: 'a://a' });
  await session.ask('tools/call', { name: 'crash', arguments: {} });
  const missed = [];
  for (let message = await stream.message(); message !== undefined; message = await stream.message()) {
    missed.push(message.method);
    if (message.method === UPDATED) break;
  }
  assert.ok(missed.includes(UPDATED));
  await session.tool('updated', { uri: 'a://a' });
  let next = await stream.message();
  while (next?.method !== UPDATED) next = await stream.message();
  assert.deepEqual(next.params, { uri: 'a://a' });
  assert.deepEqual((await session.ask('resources/unsubscribe', { uri: 'a://a' })).result, {});
  stream.abort();
});
