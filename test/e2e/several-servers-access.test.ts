// Who sees what on a view of several servers: each caller a view of their own, made from the same cache.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { accessOf, authOf, keyOf } from '../support/access-rig.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { startLibrary } from '../support/library-server.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import { startGateway } from '../support/start-gateway.ts';

const PEOPLE = {
  ann: { groups: ['readers'] },
  ben: { groups: ['editors'] },
  cal: { groups: [] },
};
const RULES = {
  readers: {
    when: { groups: ['readers'] },
    allow: ['old', 'new/read_*', 'new/resources/file:///srv/public/**'],
  },
  editors: { when: { groups: ['editors'] }, allow: ['new'], deny: ['new/delete_*'] },
};

async function start(t: TestContext) {
  const libraries = { old: await startLibrary('legacy'), new: await startLibrary('modern') };
  const gateway = await startGateway({
    servers: Object.entries(libraries).map(([slug, { url }]) => httpServerConfig(url, { slug, name: slug })),
    gateway: {
      auth: authOf(PEOPLE),
      access: accessOf(RULES),
      limits: [
        {
          name: 'calls-at-new',
          key: ['principal'],
          match: 'new',
          max: 3,
          windowMs: 60_000,
          inFlight: undefined,
          cost: undefined,
          lease: undefined,
        },
      ],
    },
  });
  t.after(async () => {
    await gateway.close();
    for (const library of Object.values(libraries)) await library[Symbol.asyncDispose]();
  });
  return { gateway, libraries };
}

const toolsOf = ({ result }: Message) => ((result?.tools ?? []) as Members[]).map(({ name }) => String(name));

test('F32: two callers list in either order, and each sees what is theirs', async (t) => {
  const { gateway, libraries } = await start(t);
  await using ann = new ModernClient(gateway.url, keyOf('ann'));
  await using ben = new ModernClient(gateway.url, keyOf('ben'));
  const own = ['read_book', 'read_index'].map((name) => `new__${name}`);
  for (const first of ['ann', 'ben', 'ann']) {
    const listed = await (first === 'ann' ? ann : ben).ask('tools/list');
    assert.equal(listed.result?.cacheScope, 'private', 'though the server calls it public');
    const tools = toolsOf(listed);
    if (first === 'ann') {
      assert.deepEqual(
        tools.filter((name) => name.startsWith('new__')),
        own,
      );
      assert.equal(tools.filter((name) => name.startsWith('old__')).length, 8);
    } else {
      assert.deepEqual(
        tools.filter((name) => !name.startsWith('new__') || name.includes('delete')),
        [],
      );
      assert.equal(tools.length, 6);
    }
  }
  const lists = libraries.new.asked.filter(({ method }) => method === 'tools/list').length;
  assert.equal(lists, 3 * PROCESSES, 'the pages of the newer library were read once for both');
});

test('hidden and absent are one: words, data, and what is charged', async (t) => {
  const { gateway, libraries } = await start(t);
  await using ben = await openSession(gateway.url, keyOf('ben'));
  await ben.ask('tools/list');
  const hidden = ['old__read_book', 'new__delete_book', 'new__nothing', 'nobody__x'];
  const answers: Message[] = [];
  for (const name of hidden) answers.push(await ben.ask('tools/call', { name, arguments: {} }));
  for (const { error } of answers) assert.deepEqual(error, { code: -32602, message: 'Unknown tool' });
  for (const uri of ['old+file:///srv/public/a.txt', 'nobody+file:///srv/public/a.txt']) {
    const read = await ben.ask('resources/read', { uri });
    assert.deepEqual(read.error, { code: -32002, message: 'Resource not found', data: { uri } });
  }
  assert.ok(!libraries.old.wasAsked('tools/call'));
  for (let call = 0; call < 3; call += 1) await ben.tool('new__read_book');
  const over = await ben.ask('tools/call', { name: 'new__read_book', arguments: {} });
  assert.equal(over.error?.code, 4290, 'calls of the server are charged, and these alone');
});

test('a hidden resource of a server that its caller may use answers as one that is not there', async (t) => {
  const { gateway } = await start(t);
  await using ann = new ModernClient(gateway.url, keyOf('ann'));
  await using session = await openSession(gateway.url, keyOf('ann'));
  const hidden = 'new+file:///srv/secret/plan.txt';
  for (const uri of [hidden, 'new+file:///srv/public/nothing.txt', 'new+https://x.example/']) {
    const { error } = await ann.ask('resources/read', { uri });
    assert.deepEqual(error, { code: -32602, message: 'Resource not found', data: { uri } });
  }
  const { error } = await session.ask('resources/read', { uri: hidden });
  assert.deepEqual(error, { code: -32002, message: 'Resource not found', data: { uri: hidden } });
});

test('a view speaks only of servers that its caller may use; without one it is not there', async (t) => {
  const { gateway } = await start(t);
  await using ben = new ModernClient(gateway.url, keyOf('ben'));
  const { result } = await ben.ask('server/discover');
  assert.doesNotMatch(JSON.stringify(result), /old/);
  await using cal = new ModernClient(gateway.url, keyOf('cal'));
  const refused = await cal.start('tools/list').answer;
  assert.equal(refused.status, 404);
  assert.equal((await refused.json()).error?.code, 4041);
});

test('F24: nobody hears of a server that they may not use', async (t) => {
  const { gateway, libraries } = await start(t);
  await using ben = new ModernClient(gateway.url, keyOf('ben'));
  await ben.ask('tools/list');
  const notifications = { toolsListChanged: true, promptsListChanged: true };
  const stream = await ben.start('subscriptions/listen', { notifications }).answer;
  await stream.message();
  libraries.old.announce('notifications/prompts/list_changed');
  libraries.new.announce('notifications/tools/list_changed');
  assert.equal((await stream.message())?.method, 'notifications/tools/list_changed');
  stream.abort();
});

const BOTH = { all: { allow: ['old', 'new'] } };
const ONE = { one: { allow: ['new'] } };

test('F24: who may not use a server any more hears nothing of it on a stream that stays open', async (t) => {
  const { gateway, libraries } = await start(t);
  await gateway.reload({ gateway: { access: accessOf(BOTH), limits: [] } });
  const secret = 'file:///srv/secret/plan.txt';
  await using session = await openSession(gateway.url, keyOf('ann'));
  await session.tool('old__read_book');
  const held = await session.listen();
  await using ann = new ModernClient(gateway.url, keyOf('ann'));
  await ann.ask('tools/list');
  const notifications = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: [`old+${secret}`, `new+${secret}`],
  };
  const listen = await ann.start('subscriptions/listen', { notifications }).answer;
  assert.equal((await listen.message())?.method, 'notifications/subscriptions/acknowledged');
  await gateway.reload({ gateway: { access: accessOf(ONE) } });
  const kinds = ['tools', 'prompts', 'resources'].map((kind) => `notifications/${kind}/list_changed`);
  const told = async (stream: typeof held, count: number) => {
    const methods: unknown[] = [];
    while (methods.length < count) methods.push((await stream.message())?.method);
    return methods.sort();
  };
  assert.deepEqual(await told(held, 3), kinds.toSorted(), 'that rights have changed may be known');
  assert.deepEqual(await told(listen, 2), kinds.slice(0, 2).sort());
  libraries.old.announce('notifications/message', { level: 'error', data: 'of old' });
  libraries.old.announce('notifications/resources/updated', { uri: secret });
  libraries.old.announce('notifications/prompts/list_changed');
  libraries.new.announce('notifications/resources/updated', { uri: secret });
  libraries.new.announce('notifications/tools/list_changed');
  const heard = [await listen.message(), await listen.message()];
  assert.deepEqual(
    heard.map((message) => message?.params?.uri ?? message?.method).sort(),
    [`new+${secret}`, 'notifications/tools/list_changed'].sort(),
  );
  assert.equal((await held.message())?.method, 'notifications/tools/list_changed');
  listen.abort();
  held.abort();
});
