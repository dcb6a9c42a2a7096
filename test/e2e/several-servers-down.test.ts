// `/mcp` with servers that are down, slow or strange: the others are there, as soon as ever, and nothing is silent
// about it (F28).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { FaultyHttpServer } from '../support/faulty-http-server.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { onEachReplica, PROCESSES } from '../support/replicas-wanted.ts';
import { type SeveralOptions, startSeveral, tool } from '../support/several-servers.ts';

const FIVE = { one: 'modern', two: 'legacy', bad: 'modern', four: 'legacy', five: 'modern' } as const;
const GOOD = ['one', 'two', 'four', 'five'];
/** Long enough for a busy machine to answer four servers, far below what any of the faults would take. */
const LISTS = { timeoutMs: 2_000, staleForMs: 60_000, ttlMs: 30_000 };
const BOUND_MS = LISTS.timeoutMs + 3_000;

const five = (t: TestContext, options: Partial<SeveralOptions> = {}) =>
  startSeveral(t, { servers: FIVE, gateway: { lists: LISTS }, ...options });

const toolsOf = ({ result }: Message) => ((result?.tools ?? []) as Members[]).map(({ name }) => String(name));
const ownersOf = (message: Message) => [
  ...new Set(toolsOf(message).map((name) => name.slice(0, name.indexOf('__')))),
];

const FAULTS: readonly [what: string, break_: (server: FaultyHttpServer) => void | Promise<void>][] = [
  ['refuses connections', (server) => server.refuse()],
  ['accepts and never answers', (server) => void server.fault(() => true, { stall: 'at-once' })],
  ['never ends its answer', (server) => void server.fault('tools/list', { stall: 'mid-body' })],
  [
    'answers HTML',
    (server) =>
      void server.fault(() => true, { answer: { status: 200, type: 'text/html', body: '<h1>Hello</h1>' } }),
  ],
  ['fails to list', (server) => void server.fault('tools/list', { answer: { status: 500 } })],
];

for (const [what, breakIt] of FAULTS) {
  test(`F28: one of five servers ${what}: the other four are there, in time`, async (t) => {
    const { gateway } = await five(t, { prepare: ({ bad }) => breakIt(bad as FaultyHttpServer) });
    await using modern = new ModernClient(gateway.url);
    const startedAt = performance.now();
    const [first, session] = await Promise.all([modern.ask('tools/list'), openSession(gateway.url)]);
    assert.ok(performance.now() - startedAt < BOUND_MS);
    assert.deepEqual(ownersOf(first), GOOD);
    assert.ok(Number(first.result?.ttlMs) <= 1_000, 'what lacks a server is soon asked for again');
    assert.deepEqual(ownersOf(await session.ask('tools/list')), GOOD);
    for (const slug of GOOD) assert.equal(await modern.tool(`${slug}__echo`, { text: slug }), slug);
    await session[Symbol.asyncDispose]();
    const { servers } = await gateway.status();
    assert.deepEqual(servers.bad?.missingLists, { tools: 'absent' });
    assert.deepEqual(servers.one?.missingLists, {});
    await gateway.logged(({ msg, server }) => msg === 'lists go without this server' && server === 'bad');
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /portico_list_misses_total\{server="bad",instead="nothing"\} [1-9]/);
  });
}

test('F28: a server that goes down stays listed for a while, and its calls say that it is down', async (t) => {
  const { gateway, at } = await five(t);
  await using client = new ModernClient(gateway.url);
  const before = await client.ask('tools/list');
  await onEachReplica(async () =>
    assert.deepEqual(ownersOf(await client.ask('tools/list')), Object.keys(FIVE)),
  );
  await at('bad').refuse();
  await eventually('the server is known to be down', async () => {
    const called = await client.ask('tools/call', { name: 'bad__echo', arguments: {} });
    return called.error?.code === 5020;
  });
  at('one').announce({ method: 'notifications/tools/list_changed' });
  const after = await client.ask('tools/list');
  assert.deepEqual(toolsOf(after), toolsOf(before), 'its last known list counts');
  await client.tool('two__echo');
});

test('F28: after that it is absent; it is back, and told of, once it is up', async (t) => {
  const lists = { ...LISTS, staleForMs: 0 };
  const { gateway, at } = await startSeveral(t, {
    servers: { here: 'modern', away: 'modern' },
    gateway: { lists },
    prepare: ({ away }) => away?.refuse(),
  });
  await using client = new ModernClient(gateway.url);
  assert.deepEqual(ownersOf(await client.ask('tools/list')), ['here']);
  const unreachable = await client.ask('tools/call', { name: 'away__echo', arguments: {} });
  assert.equal(unreachable.error?.code, 5020, 'not that there is no such tool: nobody knows');
  const notifications = { toolsListChanged: true };
  const stream = await client.start('subscriptions/listen', { notifications }).answer;
  assert.deepEqual((await stream.message())?.params?.notifications, notifications);
  await at('away').listen();
  assert.equal((await stream.message())?.method, 'notifications/tools/list_changed');
  stream.abort();
  assert.deepEqual(ownersOf(await client.ask('tools/list')), ['here', 'away']);
});

test('F28: where all servers are down, that is an error', async (t) => {
  const { gateway } = await startSeveral(t, {
    servers: { one: 'modern', two: 'legacy' },
    gateway: { lists: LISTS },
    prepare: (servers) => Promise.all(Object.values(servers).map((server) => server.refuse())).then(() => {}),
  });
  await using client = new ModernClient(gateway.url);
  assert.equal((await client.ask('tools/list')).error?.code, 5020);
  assert.equal((await client.ask('server/discover')).error?.code, 5020);
  await assert.rejects(openSession(gateway.url), /5020/);
});

test('F28: a server that dies between list and call fails that call alone', async (t) => {
  const { gateway, at } = await five(t);
  await using client = new ModernClient(gateway.url);
  await client.ask('tools/list');
  at('bad').fault('tools/call', { reset: 'at-once' });
  const [lost, kept] = await Promise.all([
    client.ask('tools/call', { name: 'bad__echo', arguments: {} }),
    client.tool('one__echo', { text: 'kept' }),
  ]);
  assert.equal(lost.error?.code, 5020);
  assert.equal(kept, 'kept');
});

test('F03: a server that forgets its sessions is asked again, and nobody else is', async (t) => {
  const { gateway, at } = await startSeveral(t, { servers: { a: 'legacy', b: 'legacy' } });
  await using session = await openSession(gateway.url);
  for (const slug of ['a', 'b']) assert.equal(await session.tool(`${slug}__echo`, { text: slug }), slug);
  at('a').forgetSessions();
  const opened = at('b').requests('initialize').length;
  for (const text of ['once', 'twice']) assert.equal(await session.tool('a__echo', { text }), text);
  assert.equal(await session.tool('b__echo', { text: 'b' }), 'b');
  assert.equal(at('b').requests('initialize').length, opened);
});

test('F27: every server is read to its end, empty pages, empty cursors and circles included', async (t) => {
  const pages = {
    '': { items: [tool('a')], nextCursor: 'x' },
    x: { items: [], nextCursor: 'y' },
    y: { items: [tool('b')], nextCursor: 'x' },
  };
  const { gateway, at } = await startSeveral(t, {
    servers: { one: 'modern', two: 'legacy', sick: 'modern' },
    prepare({ one, two, sick }) {
      for (const server of [one, two]) if (server) server.persona = { ...server.persona, toolPages: pages };
      // Its second page is an error.
      const broken = { '': { items: [tool('c')], nextCursor: 'nowhere' } };
      if (sick) sick.persona = { ...sick.persona, toolPages: broken };
    },
  });
  await using client = new ModernClient(gateway.url);
  const listed = await client.ask('tools/list');
  assert.deepEqual(toolsOf(listed), ['one__a', 'one__b', 'two__a', 'two__b']);
  assert.equal(listed.result?.nextCursor, undefined);
  assert.equal(at('one').requests('tools/list').length, 3);
  for (let turn = 0; turn < PROCESSES; turn += 1) await client.ask('tools/list');
  assert.equal(at('one').requests('tools/list').length, 3 * PROCESSES, 'and once');
});

test('F29: a name that two servers claim is nobody’s, in lists and calls, and the operator hears of it', async (t) => {
  const { gateway } = await startSeveral(t, {
    servers: { a: 'modern', b: 'modern' },
    configs: { a: { prefix: '' }, b: { prefix: '' } },
  });
  await using client = new ModernClient(gateway.url);
  assert.deepEqual(toolsOf(await client.ask('tools/list')), ['only-a', 'only-b']);
  const claimed = await client.ask('tools/call', { name: 'echo', arguments: {} });
  assert.deepEqual(claimed.error, { code: -32602, message: 'Unknown tool' });
  const { withheldNames } = (await gateway.status()) as unknown as { withheldNames: Members };
  assert.deepEqual(withheldNames['tools echo'], ['a', 'b']);
  await gateway.logged(({ name, servers }) => name === 'echo' && Array.isArray(servers));
});

test('F29: a name is given to no server before the others that it could be of have been heard', async (t) => {
  const { gateway, at } = await startSeveral(t, {
    servers: { a: 'modern', b: 'modern' },
    configs: { a: { prefix: '' } },
    prepare: ({ a }) => {
      if (a !== undefined)
        a.persona = { ...a.persona, toolPages: { '': { items: [tool('echo'), tool('b__echo')] } } };
    },
  });
  await using client = new ModernClient(gateway.url);
  // Only `a` is asked for its list; the second time it is known what `a` is.
  for (const text of ['one', 'two']) assert.equal(await client.tool('echo', { text }), text);
  assert.equal(at('b').requests('tools/list').length, 0);
  const claimed = await client.ask('tools/call', { name: 'b__echo', arguments: { text: 'for b' } });
  assert.deepEqual(claimed.error, { code: -32602, message: 'Unknown tool' });
  assert.equal(at('a').requests('tools/call').length, 2);
});

test('F35: headers are checked against what the client said, and made anew for the server', async (t) => {
  const inputSchema = {
    type: 'object',
    properties: { text: { type: 'string' }, region: { type: 'string', 'x-mcp-header': 'Region' } },
  };
  const { gateway, at } = await startSeveral(t, {
    servers: { a: 'modern', b: 'legacy' },
    prepare({ a }) {
      const items = [tool('headers', { inputSchema })];
      if (a) a.persona = { ...a.persona, toolPages: { '': { items } } };
    },
  });
  await using client = new ModernClient(gateway.url);
  const args = { region: 'a+file:///eu' };
  const headers = { 'mcp-param-region': 'a+file:///eu' };
  const sent = JSON.parse(await client.tool('a__headers', args, { headers })) as Members;
  assert.equal(sent['mcp-name'], 'headers');
  assert.equal(sent['mcp-param-region'], 'file:///eu');
  assert.equal(at('a').requests('tools/call').length, 1);
  const lying = { 'mcp-param-region': 'file:///eu' };
  const refused = await client.ask('tools/call', { name: 'a__headers', arguments: args }, { headers: lying });
  assert.equal(refused.error?.code, -32020);
});
