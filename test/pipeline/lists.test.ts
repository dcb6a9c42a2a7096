// Lists as clients get them: empty where a server has none, complete over its pages, with cursors that are ours.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import type { Members } from '../support/raw-client.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import { startGateway } from '../support/start-gateway.ts';
import { ALICE, BOB, TWO_CALLERS } from '../support/two-callers.ts';

const tool = (name: string): Members => ({ name, inputSchema: { type: 'object' } });
const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

for (const era of ['legacy', 'modern'] as const) {
  test(`F31: a list that a ${era} server advertises and does not know is empty`, async (t) => {
    const capabilities = { tools: {}, prompts: {}, resources: {} };
    const { gateway, server } = await legacyHttpBehind(t, { era, persona: { capabilities } });
    const error = { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' } };
    server.fault(({ message }) => LISTS.some(([method]) => method === message?.method), {
      answer: { status: 200, type: 'application/json', body: JSON.stringify({ ...error, id: null }) },
    });
    await using modern = new ModernClient(gateway.url);
    await using session = await openSession(gateway.url);
    for (const [method, member] of LISTS) {
      const modernAnswer = await modern.ask(method);
      assert.deepEqual(modernAnswer.result?.[member], [], `${method}: ${JSON.stringify(modernAnswer)}`);
      assert.equal(modernAnswer.result?.resultType, 'complete');
      assert.equal(modernAnswer.result?.cacheScope, 'private');
      assert.deepEqual((await session.ask(method)).result, { [member]: [] });
    }
  });

  test(`F31: one that a ${era} server does not advertise is no method of it`, async (t) => {
    const { gateway, server } = await legacyHttpBehind(t, { era, persona: { capabilities: { tools: {} } } });
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32601, message: 'no' } });
    server.fault('prompts/list', { answer: { status: 200, type: 'application/json', body } });
    await using modern = new ModernClient(gateway.url);
    assert.equal((await modern.ask('prompts/list')).error?.code, -32601);
  });

  test(`F27: a ${era} server's cursors come back to it, and to nobody else`, async (t) => {
    const toolPages = {
      '': { items: [tool('a')], nextCursor: 'page two' },
      'page two': { items: [tool('b')], nextCursor: '' },
    };
    const { gateway } = await legacyHttpBehind(t, {
      era,
      persona: { toolPages },
      gateway: { auth: TWO_CALLERS },
    });
    await using alice = new ModernClient(gateway.url, ALICE);
    await using bob = new ModernClient(gateway.url, BOB);
    const first = await alice.ask('tools/list');
    const cursor = String(first.result?.nextCursor);
    assert.doesNotMatch(cursor, /page/);
    const second = await alice.ask('tools/list', { cursor });
    assert.deepEqual(second.result?.tools, [tool('b')]);
    assert.equal(typeof second.result?.nextCursor, 'string', 'an empty string is a cursor like any other');
    const dead = [
      await bob.ask('tools/list', { cursor }),
      await alice.ask('prompts/list', { cursor }),
      await alice.ask('tools/list', { cursor: `${cursor}A` }),
      await alice.ask('tools/list', { cursor: 'page two' }),
      await alice.ask('tools/list', { cursor: 7 }),
    ];
    for (const { error } of dead) assert.equal(error?.code, -32602);
    assert.equal(new Set(dead.map(({ error }) => error?.message)).size, 1, 'nothing is said about why');
  });

  test(`F27: the tools of all pages of a ${era} server can be called, of a circle of pages too`, async (t) => {
    const toolPages = {
      '': { items: [tool('a')], nextCursor: 'x' },
      x: { items: [], nextCursor: 'y' },
      y: { items: [tool('echo')], nextCursor: 'x' },
    };
    const { gateway } = await legacyHttpBehind(t, { era, persona: { toolPages } });
    await using client = new ModernClient(gateway.url);
    assert.equal(await client.tool('echo', { text: 'found' }), 'found');
  });

  test(`F24: a ${era} server that gains a tool and says so: it can be called at once`, async (t) => {
    const { gateway, server } = await legacyHttpBehind(t, { era, config: { isolation: 'shared' } });
    server.persona = { ...server.persona, toolPages: { '': { items: [tool('wait')] } } };
    await using client = new ModernClient(gateway.url);
    const gone = await client.ask('tools/call', { name: 'echo', arguments: {} });
    assert.equal(gone.error?.code, -32602);
    server.persona = { ...server.persona, toolPages: { '': { items: [tool('wait'), tool('echo')] } } };
    server.announce({ method: 'notifications/tools/list_changed' });
    let answer = await client.ask('tools/call', { name: 'echo', arguments: { text: 'here' } });
    while (answer.error !== undefined)
      answer = await client.ask('tools/call', { name: 'echo', arguments: {} });
    assert.ok(server.requests('tools/list').length <= 3, 'not for every call');
  });
}

test('F32: what a server calls public is private to each caller', async (t) => {
  const { gateway } = await legacyHttpBehind(t, { era: 'modern' });
  await using client = new ModernClient(gateway.url);
  for (const [method] of LISTS) assert.equal((await client.ask(method)).result?.cacheScope, 'private');
});

test('F28: a list that fails is an error, and the next one works', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern' });
  await using client = new ModernClient(gateway.url);
  assert.ok((await client.ask('tools/list')).result);
  const mend = server.fault('tools/list', { answer: { status: 500, body: 'oops' } });
  assert.equal((await client.ask('tools/list')).error?.code, 5020);
  mend();
  assert.ok((await client.ask('tools/list')).result);
});

test('F12: a caller who leaves while the tools are being listed takes nobody along', async () => {
  await using gateway = await startGateway({ stdio: { switches: ['--era=modern', '--start-delay=300'] } });
  await using client = new ModernClient(gateway.url);
  const leaving = client.start('tools/call', { name: 'echo', arguments: { text: 'gone' } });
  const staying = [1, 2, 3].map((n) => client.tool('echo', { text: String(n) }));
  while ((await gateway.status()).servers.faulty?.starts !== PROCESSES);
  leaving.abort();
  assert.deepEqual(await Promise.all(staying), ['1', '2', '3']);
});
