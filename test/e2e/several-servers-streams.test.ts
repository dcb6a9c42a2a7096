// What servers say by themselves on a view of several: questions, list changes, resource updates, log levels, in the
// view's words and on the right stream of the right client.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessOf, authOf, keyOf } from '../support/access-rig.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { startLibrary } from '../support/library-server.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { ModernClient, openSession, textOf } from '../support/raw-session.ts';
import { LIST_LINKS } from '../support/replicas-wanted.ts';
import { startSeveral } from '../support/several-servers.ts';
import { startGateway } from '../support/start-gateway.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const FORM = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const SAMPLING = {
  maxTokens: 5,
  includeContext: 'allServers',
  messages: [
    { role: 'user', content: { type: 'text', text: 'Sum up' } },
    {
      role: 'user',
      content: {
        type: 'tool_result',
        toolUseId: 'u',
        content: [{ type: 'resource_link', uri: 'file:///a', name: 'a' }],
      },
    },
  ],
};

test('F23: a question to a legacy client says which server asks, and its answer reaches that one', async (t) => {
  const { gateway } = await startSeveral(t, { servers: { a: 'legacy', b: 'legacy' } });
  const capabilities = { elicitation: {}, sampling: { tools: {} } };
  await using session = await openSession(gateway.url, { capabilities });
  await session.tool('a__echo', { text: 'a link at the other one' });
  const args = { method: 'elicitation/create', params: FORM };
  const asking = await session.start('tools/call', { name: 'b__ask', arguments: args }).answer;
  const question = await asking.message();
  assert.equal(question?.params?.message, '[b] Sure?');
  const result = { action: 'accept', content: {} };
  await session.respond(question?.id, { result });
  assert.deepEqual(JSON.parse(textOf((await asking.whole()).response)), result);

  const sampling = { method: 'sampling/createMessage', params: SAMPLING };
  const sampled = await session.start('tools/call', { name: 'a__ask', arguments: sampling }).answer;
  const asked = await sampled.message();
  assert.equal(asked?.params?.includeContext, 'none', 'other servers are no business of this one');
  const told = JSON.stringify(asked?.params?.messages);
  assert.match(told, /\[a\] Sum up/);
  assert.match(told, /"uri":"a\+file:\/\/\/a"/);
  const content = {
    type: 'tool_use',
    id: 'u',
    name: 'x',
    input: { uri: 'a+file:///a', other: 'b+file:///a' },
  };
  await session.respond(asked?.id, { result: { role: 'assistant', model: 'm', content } });
  const { response } = await sampled.whole();
  const heard = (JSON.parse(textOf(response)) as Members).content as Members;
  assert.deepEqual(heard.input, { uri: 'file:///a', other: 'b+file:///a' });
});

test('F23: what a child asks, logs and is told is of its own call, whatever runs at the others', async (t) => {
  const gateway = await startGateway({
    servers: ['a', 'b'].map((slug) => faultyConfig(['--era=legacy'], { slug, name: slug })),
  });
  t.after(() => gateway.close());
  await using session = await openSession(gateway.url, { capabilities: { elicitation: {} } });
  const asks = (slug: string) => {
    const params = { ...FORM, _meta: { progressToken: `of ${slug}` } };
    const args = { method: 'elicitation/create', params, busy: true };
    return session.start('tools/call', { name: `${slug}__ask`, arguments: args }).answer;
  };
  const [atA, atB] = await Promise.all([asks('a'), asks('b')]);
  const [ofA, ofB] = [await atA.message(), await atB.message()];
  assert.deepEqual([ofA?.params?.message, ofB?.params?.message], ['[a] Sure?', '[b] Sure?']);
  await session.notify('notifications/progress', { progressToken: 'of b', progress: 1 });
  for (const [answer, question] of [
    [atB, ofB],
    [atA, ofA],
  ] as const) {
    await session.respond(question?.id, { result: { action: 'decline' } });
    const { before } = await answer.whole();
    assert.ok(before.some(({ method }) => method === 'notifications/message'));
  }
  const heardBy = async (slug: string) =>
    (JSON.parse(await session.tool(`${slug}__received`)) as Message[])
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => params?.progressToken);
  assert.deepEqual([await heardBy('a'), await heardBy('b')], [[], ['of b']]);
});

test('F23: a question to a modern client says which server asks, in either era of server', async (t) => {
  const { gateway } = await startSeveral(t, { servers: { a: 'legacy', b: 'modern' } });
  await using client = new ModernClient(gateway.url, { capabilities: { elicitation: { form: {} } } });
  const args = { method: 'elicitation/create', params: FORM };
  const parked = await client.ask('tools/call', { name: 'a__ask', arguments: args });
  const [[key, question] = []] = Object.entries((parked.result?.inputRequests ?? {}) as Members);
  assert.equal(((question as Members).params as Members).message, '[a] Sure?');
  const answer = { action: 'accept', content: { yes: true } };
  const retried = await client.ask('tools/call', {
    name: 'a__ask',
    arguments: args,
    requestState: parked.result?.requestState,
    inputResponses: { [String(key)]: answer },
  });
  assert.deepEqual(JSON.parse(textOf(retried)), answer);
});

for (const view of ['', '/a']) {
  test(`F23: who may not use a server any more is asked nothing by it on a stream that stays open (/mcp${view})`, async (t) => {
    const { gateway, at } = await startSeveral(t, {
      servers: { a: 'legacy', b: 'legacy' },
      gateway: { auth: authOf({ ann: { groups: [] } }), access: accessOf({ all: { allow: ['a', 'b'] } }) },
    });
    const client = { ...keyOf('ann'), capabilities: { elicitation: {} } };
    await using session = await openSession(`${gateway.url}${view}`, client);
    await session.tool(view === '' ? 'a__echo' : 'echo');
    const stream = await session.listen();
    await at('a').until(() => at('a').listening === LIST_LINKS + 2);
    const ask = (id: string) => at('a').announce({ id, method: 'elicitation/create', params: FORM });
    const answersTo = (id: string) =>
      at('a')
        .requests('response')
        .filter(({ message }) => message?.id === id);
    ask('before');
    assert.equal((await stream.message())?.method, 'elicitation/create');

    await gateway.reload({ gateway: { access: accessOf({ all: { allow: ['b'] } }) } });
    ask('after');
    // Two on the links that lists come from, where nobody is ever asked, and one on the session's own.
    await at('a').until(() => answersTo('after').length === 3);
    assert.ok(answersTo('after').every(({ message }) => message?.error !== undefined));
    assert.equal(await session.delete(), 204);
    for (let heard = await stream.message(); heard !== undefined; heard = await stream.message()) {
      assert.match(String(heard.method), /list_changed$/, 'that rights have changed may be known');
    }
  });
}

test('F24: a legacy client hears of the changes of all servers on its one stream, each kind once', async (t) => {
  const { gateway, at } = await startSeveral(t, { servers: { a: 'legacy', b: 'modern' } });
  await using session = await openSession(gateway.url);
  const stream = await session.listen();
  await session.ask('tools/list');
  await at('a').until(() => at('a').listening === LIST_LINKS);
  for (const slug of ['a', 'b', 'a']) at(slug).announce({ method: 'notifications/tools/list_changed' });
  assert.deepEqual(await stream.message(), { jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  at('b').announce({ method: 'notifications/prompts/list_changed' });
  assert.equal((await stream.message())?.method, 'notifications/prompts/list_changed', 'and not twice');
  stream.abort();
});

test('F24: a changed list is listed anew by the time that its client hears of it', async (t) => {
  const { gateway, at } = await startSeveral(t, { servers: { a: 'modern', b: 'modern' } });
  await using client = new ModernClient(gateway.url);
  const names = async () =>
    (((await client.ask('tools/list')).result?.tools ?? []) as Members[]).map(({ name }) => name);
  assert.ok((await names()).includes('a__only-a'));
  const listen = client.start('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const stream = await listen.answer;
  await stream.message();
  const items = [{ name: 'fresh', inputSchema: { type: 'object' } }];
  at('a').persona = { ...at('a').persona, toolPages: { '': { items } } };
  at('a').announce({ method: 'notifications/tools/list_changed' });
  assert.equal((await stream.message())?.method, 'notifications/tools/list_changed');
  assert.deepEqual(
    (await names()).filter((name) => String(name).startsWith('a__')),
    ['a__fresh'],
  );
  const gone = await client.ask('tools/call', { name: 'a__only-a', arguments: {} });
  assert.deepEqual(gone.error, { code: -32602, message: 'Unknown tool' });
  stream.abort();
});

test('F24: one stream of a modern client carries the updates of every server, tagged and in its words', async (t) => {
  const libraries = { old: await startLibrary('legacy'), new: await startLibrary('modern') };
  const gateway = await startGateway({
    servers: Object.entries(libraries).map(([slug, { url }]) => httpServerConfig(url, { slug, name: slug })),
  });
  t.after(async () => {
    await gateway.close();
    for (const library of Object.values(libraries)) await library[Symbol.asyncDispose]();
  });
  await using client = new ModernClient(gateway.url);
  const own = 'file:///srv/public/a.txt';
  const uris = [`old+${own}`, `new+${own}`];
  const wanted = {
    toolsListChanged: true,
    resourceSubscriptions: [...uris, `nobody+${own}`, 'https://x.example/'],
  };
  const stream = await client.start('subscriptions/listen', { notifications: wanted }, { id: '"mine"' })
    .answer;
  const acknowledged = await stream.message();
  assert.equal(acknowledged?.method, 'notifications/subscriptions/acknowledged');
  const agreed = acknowledged?.params?.notifications as Members;
  assert.equal(agreed.toolsListChanged, true);
  assert.deepEqual([...(agreed.resourceSubscriptions as string[])].sort(), [...uris].sort());
  for (const [slug, library] of Object.entries(libraries)) {
    library.announce('notifications/resources/updated', { uri: own });
    // The older library tells everyone who listens there, and Portico listens twice.
    let heard: Message | undefined;
    do heard = await stream.message();
    while (heard?.params?.uri !== `${slug}+${own}` && uris.includes(String(heard?.params?.uri)));
    assert.equal(heard?.params?.uri, `${slug}+${own}`);
    assert.equal((heard?.params?._meta as Members | undefined)?.[SUBSCRIPTION], 'mine');
  }
  stream.abort();
});

test('a server that talks and never acknowledges is waited for until what it said fills the room, and left out', async (t) => {
  const { gateway, at } = await startSeveral(t, {
    servers: { a: 'modern', b: 'modern' },
    gateway: { lists: { timeoutMs: 60_000, staleForMs: 60_000, ttlMs: 30_000 } },
  });
  at('a').acknowledges = false;
  await using client = new ModernClient(gateway.url);
  const notifications = { resourceSubscriptions: ['a+x://1', 'b+x://1'] };
  const listening = client.start('subscriptions/listen', { notifications });
  const isOurs = ({ body }: { body: string }) => body.includes('resourceSubscriptions');
  const [asked] = await Promise.all(['a', 'b'].map((slug) => at(slug).request(isOurs)));
  const words = 'x'.repeat(60_000);
  for (let line = 0; line < 20; line += 1) {
    at('a').announce({ method: 'notifications/resources/updated', params: { uri: `x://${line}`, words } });
  }
  const stream = await listening.answer;
  const acknowledged = await stream.message();
  assert.deepEqual(acknowledged?.params?.notifications, { resourceSubscriptions: ['b+x://1'] });
  assert.equal(await asked?.ended, 'broken', 'nobody listens there any more');
  at('b').announce({ method: 'notifications/resources/updated', params: { uri: 'x://1' } });
  let heard = await stream.message();
  for (; heard?.params?.words === words; heard = await stream.message());
  assert.equal(heard?.params?.uri, 'b+x://1');
  stream.abort();
});

test('a legacy client subscribes to resources of several servers, and hears of each in its words', async (t) => {
  const libraries = { old: await startLibrary('legacy'), new: await startLibrary('modern') };
  const gateway = await startGateway({
    servers: Object.entries(libraries).map(([slug, { url }]) => httpServerConfig(url, { slug, name: slug })),
  });
  t.after(async () => {
    await gateway.close();
    for (const library of Object.values(libraries)) await library[Symbol.asyncDispose]();
  });
  await using session = await openSession(gateway.url);
  const own = 'file:///srv/public/a.txt';
  const stream = await session.listen();
  for (const [slug, library] of Object.entries(libraries)) {
    const uri = `${slug}+${own}`;
    assert.deepEqual((await session.ask('resources/subscribe', { uri })).result, {}, slug);
    library.announce('notifications/resources/updated', { uri: own });
    const updated = await stream.message();
    assert.deepEqual([updated?.method, updated?.params?.uri], ['notifications/resources/updated', uri]);
    assert.deepEqual((await session.ask('resources/unsubscribe', { uri })).result, {});
  }
  stream.abort();
});

test('a log level is set at each server of a session, at those that come later too', async (t) => {
  const { gateway, at } = await startSeveral(t, { servers: { a: 'legacy', b: 'legacy' } });
  await using session = await openSession(gateway.url);
  await session.tool('a__echo');
  assert.deepEqual((await session.ask('logging/setLevel', { level: 'debug' })).result, {});
  const levelAt = (slug: string) =>
    at(slug)
      .requests('logging/setLevel')
      .map(({ message }) => message?.params?.level);
  assert.deepEqual([levelAt('a'), levelAt('b')], [['debug'], []]);
  await session.tool('b__echo');
  await session.tool('b__echo');
  assert.deepEqual([levelAt('a'), levelAt('b')], [['debug'], ['debug']]);
  const wrong = await session.ask('logging/setLevel', { level: 'loud' });
  assert.equal(wrong.error?.code, -32602);
});
