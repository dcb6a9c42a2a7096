// `/mcp` with several servers behind it, as raw clients of either era see it.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { httpServerConfig } from '../support/http-server-config.ts';
import { type LibraryServer, startLibrary } from '../support/library-server.ts';
import type { LibraryEra } from '../support/library-shelves.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { startSeveral } from '../support/several-servers.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

const ERAS: readonly LibraryEra[] = ['modern', 'legacy'];

interface Rig {
  readonly gateway: StartedGateway;
  /** `old` speaks the older revisions, `new` the newer one. */
  readonly old: LibraryServer;
  readonly new: LibraryServer;
}

async function twoLibraries(t: TestContext): Promise<Rig> {
  const libraries = { old: await startLibrary('legacy'), new: await startLibrary('modern') };
  const gateway = await startGateway({
    servers: [
      httpServerConfig(libraries.old.url, { slug: 'old', name: 'Old' }),
      httpServerConfig(libraries.new.url, { slug: 'new', name: 'New' }),
    ],
  });
  t.after(async () => {
    await gateway.close();
    await Promise.all([libraries.old, libraries.new].map((library) => library[Symbol.asyncDispose]()));
  });
  return { gateway, ...libraries };
}

async function clientOf(era: LibraryEra, gateway: StartedGateway) {
  return era === 'modern' ? new ModernClient(gateway.url) : openSession(gateway.url);
}

const namesOf = (message: Message, member: string, name = 'name') =>
  ((message.result?.[member] ?? []) as Members[]).map((entry) => entry[name]);
const TOOLS = [
  'read_book',
  'write_book',
  'delete_book',
  'delete_all',
  'read_index',
  'Read_book',
  'slow',
  'gossip',
];

for (const era of ERAS) {
  test(`a ${era} client has the lists of both servers, in order, on one page`, async (t) => {
    const { gateway } = await twoLibraries(t);
    await using client = await clientOf(era, gateway);
    const tools = await client.ask('tools/list');
    assert.deepEqual(namesOf(tools, 'tools'), [
      ...TOOLS.map((name) => `old__${name}`),
      ...TOOLS.map((name) => `new__${name}`),
    ]);
    assert.equal(tools.result?.nextCursor, undefined);
    const prompts = namesOf(await client.ask('prompts/list'), 'prompts');
    assert.deepEqual(prompts, ['old__greet', 'old__plan_heist', 'new__greet', 'new__plan_heist']);
    const resources = namesOf(await client.ask('resources/list'), 'resources', 'uri');
    assert.ok(
      resources.includes('old+file:///srv/public/a.txt') &&
        resources.includes('new+file:///srv/public/a.txt'),
    );
    const templates = namesOf(
      await client.ask('resources/templates/list'),
      'resourceTemplates',
      'uriTemplate',
    );
    assert.ok(templates.includes('old+file:///srv/{shelf}/{book}'));
    const cursor = await client.ask('tools/list', { cursor: '' });
    assert.equal(cursor.error?.code, -32602, 'none was ever given out');
  });

  test(`F29: what a ${era} client names goes to the server that has it, in its own words`, async (t) => {
    const rig = await twoLibraries(t);
    await using client = await clientOf(era, rig.gateway);
    for (const slug of ['old', 'new'] as const) {
      const library = rig[slug];
      const other = rig[slug === 'old' ? 'new' : 'old'];
      const uri = `${slug}+file:///srv/public/a.txt`;
      assert.equal(
        await client.tool(`${slug}__read_book`, { book: uri, deep: [{ uri }] }),
        'read_book was used',
      );
      const { name, arguments: args } = library.lastParams('tools/call') ?? {};
      const own = 'file:///srv/public/a.txt';
      assert.deepEqual([name, args], ['read_book', { book: own, deep: [{ uri: own }] }]);
      assert.ok(!other.wasAsked('tools/call', slug), 'the other one was not asked');
      const prompt = await client.ask('prompts/get', { name: `${slug}__greet` });
      assert.equal(prompt.error, undefined);
      assert.equal(library.lastParams('prompts/get')?.name, 'greet');
      const read = await client.ask('resources/read', { uri });
      assert.deepEqual(read.result?.contents, [{ uri, text: 'public a' }]);
      const lost = await client.ask('resources/read', { uri: `${slug}+file:///srv/nothing` });
      assert.deepEqual(lost.error?.data, { uri: `${slug}+file:///srv/nothing` });
      assert.equal(lost.error?.code, era === 'modern' ? -32602 : -32002);
      const completed = await client.ask('completion/complete', {
        ref: { type: 'ref/resource', uri: `${slug}+file:///srv/{shelf}/{book}` },
        argument: { name: 'shelf', value: '' },
      });
      const completion = completed.result?.completion as Members | undefined;
      assert.deepEqual(completion?.values, ['public', 'secret']);
    }
  });

  test(`what no server has is not there for a ${era} client, whatever it is called`, async (t) => {
    const { gateway } = await twoLibraries(t);
    await using client = await clientOf(era, gateway);
    const unknown = ['read_book', 'old__nothing', 'nobody__read_book', 'old_read_book', '__read_book'];
    const answers = await Promise.all(
      unknown.map((name) => client.ask('tools/call', { name, arguments: {} })),
    );
    for (const { error } of answers) assert.deepEqual(error, { code: -32602, message: 'Unknown tool' });
    const read = await client.ask('resources/read', { uri: 'nobody+file:///srv/public/a.txt' });
    assert.deepEqual(read.error?.data, { uri: 'nobody+file:///srv/public/a.txt' });
  });
}

test('F31: a method of the other era, or of an extension, is none of a view of several', async (t) => {
  const { gateway } = await twoLibraries(t);
  await using modern = new ModernClient(gateway.url);
  const uri = 'old+file:///srv/public/a.txt';
  const params = { uri, taskId: 'x', name: 'old__read_book' };
  for (const method of ['resources/subscribe', 'tasks/get', 'ping', 'com.example/shelves']) {
    const answer = await modern.start(method, params).answer;
    assert.equal(answer.status, 404, method);
    assert.equal((await answer.json()).error?.code, -32601, method);
  }
  await using session = await openSession(gateway.url);
  for (const method of ['server/discover', 'subscriptions/listen', 'com.example/shelves']) {
    assert.equal((await session.ask(method)).error?.code, -32601, method);
  }
  const task = await session.ask('tasks/get', { taskId: 'x' });
  assert.equal(task.error?.code, -32602);
});

test('both eras are introduced to all servers as one', async (t) => {
  const { gateway } = await twoLibraries(t);
  await using modern = new ModernClient(gateway.url);
  const discovered = await modern.ask('server/discover');
  const capabilities = discovered.result?.capabilities as Members;
  assert.deepEqual(capabilities.tools, { listChanged: true });
  assert.deepEqual(capabilities.resources, { subscribe: true, listChanged: true });
  assert.equal(capabilities.extensions, undefined);
  const meta = (discovered.result?._meta ?? {}) as Members;
  const info = meta['io.modelcontextprotocol/serverInfo'] as Members;
  assert.equal(info.name, 'portico');
});

test('an address on the web is whose list has it, then whose template leads there, and nobody’s where two do', async (t) => {
  const address = (path: string) => `https://docs.example/${path}`;
  const { gateway } = await startSeveral(t, {
    servers: { a: 'modern', b: 'legacy', c: 'modern' },
    prepare({ a, b, c }) {
      for (const [server, changes] of [
        [a, { templates: ['https://{+any}'] }],
        [b, { resources: [address('listed'), address('twice')], templates: [address('b/{page}')] }],
        [c, { resources: [address('twice')] }],
      ] as const) {
        if (server !== undefined) server.persona = { ...server.persona, ...changes };
      }
    },
  });
  await using client = new ModernClient(gateway.url);
  const reads = async (path: string) => {
    const { result } = await client.ask('resources/read', { uri: address(path) });
    return (result?.contents as { text: string }[] | undefined)?.[0]?.text;
  };
  const read = [await reads('listed'), await reads('elsewhere'), await reads('b/page'), await reads('twice')];
  assert.deepEqual(read, ['b', 'a', undefined, undefined]);
});

test('a completion that refers to nothing is told what it lacks', async (t) => {
  const { gateway } = await startSeveral(t, { servers: { a: 'modern', b: 'legacy' } });
  await using client = new ModernClient(gateway.url);
  await using session = await openSession(gateway.url);
  for (const asker of [client, session]) {
    const { error } = await asker.ask('completion/complete', { argument: { name: 'n', value: 'v' } });
    assert.equal(error?.code, -32602);
    assert.match(String(error?.message), /needs a `ref`/);
  }
});
