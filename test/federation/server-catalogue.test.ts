import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ServerCatalogue } from '../../src/federation/server-catalogue.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { failure } from '../support/http-rig.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { openServer } from '../support/server-rig.ts';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const never = () => new AbortController().signal;

async function catalogueOf(t: TestContext, era: 'modern' | 'legacy' = 'legacy', maxCharacters?: number) {
  const behind = await startFaultyHttpServer({ era, persona: { toolPages: { '': { items: [tool('a')] } } } });
  t.after(() => behind.close());
  const { server, logs } = openServer(t, httpServerConfig(behind.url));
  const link = await server.catalogueLink();
  const catalogue = new ServerCatalogue(maxCharacters);
  catalogue.follow(server);
  const lists = () => behind.requests('tools/list').length;
  /** Of the log lines, those on lists that were cut. */
  const cuts = () =>
    logs
      .map((line) => JSON.parse(line) as { msg: string; list: string; reason: string; entries: number })
      .filter(({ msg }) => msg.startsWith('a list is cut'))
      .map(({ list, reason, entries }) => [list, reason, entries]);
  return { behind, server, link, catalogue, lists, cuts };
}

test('a server is listed once, however many look up', async (t) => {
  const { catalogue, link, lists } = await catalogueOf(t);
  const names = ['a', 'a', 'b', 'a'];
  const found = await Promise.all(
    names.map((name) => catalogue.find(link, 'tools', name, { signal: never() })),
  );
  assert.deepEqual(
    found.map((definition) => definition?.name),
    ['a', 'a', undefined, 'a'],
  );
  assert.equal(lists(), 1);
  assert.equal(await catalogue.find(link, 'tools', 'b', { signal: never() }), undefined);
  assert.equal(lists(), 1, 'a miss lists again, but not at once');
});

test('F24: what a server says to have changed is listed again, the rest is not', async (t) => {
  const { behind, catalogue, link, lists } = await catalogueOf(t);
  await catalogue.find(link, 'tools', 'a', { signal: never() });
  behind.persona = { ...behind.persona, toolPages: { '': { items: [tool('b')] } } };
  catalogue.noteListChanged(link, 'notifications/prompts/list_changed');
  assert.ok(await catalogue.find(link, 'tools', 'a', { signal: never() }));
  assert.equal(lists(), 1);
  await behind.until(() => behind.listening === 1);
  behind.announce({ method: 'notifications/tools/list_changed' });
  while ((await catalogue.find(link, 'tools', 'a', { signal: never() })) !== undefined) await delay(5);
  assert.ok(await catalogue.find(link, 'tools', 'b', { signal: never() }));
});

test('a list that fails is not kept', async (t) => {
  const { behind, catalogue, link } = await catalogueOf(t);
  const mend = behind.fault('tools/list', { answer: { status: 500 } });
  await assert.rejects(
    catalogue.find(link, 'tools', 'a', { signal: never() }),
    failure('server-unavailable', 'http-status'),
  );
  mend();
  assert.ok(await catalogue.find(link, 'tools', 'a', { signal: never() }));
});

test('F12: a caller who gives up leaves the list to the others', async (t) => {
  const { behind, catalogue, link, lists } = await catalogueOf(t);
  behind.fault('tools/list', { delayMs: 200 });
  const leaving = new AbortController();
  const lost = catalogue.find(link, 'tools', 'a', { signal: leaving.signal });
  const found = catalogue.find(link, 'tools', 'a', { signal: never() });
  leaving.abort(new Error('gone'));
  await assert.rejects(lost, /gone/);
  assert.equal((await found)?.name, 'a');
  assert.equal(lists(), 1);
});

test('F31: a server that has none of a kind has none of it', async (t) => {
  const { behind, catalogue, link } = await catalogueOf(t);
  const error = { code: -32601, message: 'no' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
  behind.fault('prompts/list', { answer: { status: 200, type: 'application/json', body } });
  assert.equal(await catalogue.find(link, 'prompts', 'greet', { signal: never() }), undefined);
});

test('F27: pages are followed to the end, an empty cursor and an empty page among them; a circle ends', async (t) => {
  const { behind, catalogue, link, lists, cuts } = await catalogueOf(t, 'modern');
  const toolPages = {
    '': { items: [], nextCursor: 'x' },
    x: { items: [tool('c'), { no: 'name' }, tool('c')], nextCursor: 'y' },
    y: { items: [tool('d')], nextCursor: 'x' },
  };
  behind.persona = { ...behind.persona, toolPages };
  assert.ok(await catalogue.find(link, 'tools', 'd', { signal: never() }));
  assert.ok(await catalogue.find(link, 'tools', 'c', { signal: never() }));
  assert.equal(lists(), 3, 'the third leads back');
  assert.deepEqual(cuts(), [['tools', 'cursor-repeated', 2]]);
});

test('F27: a server that pages without end is read up to a size, and the operator hears of it once', async (t) => {
  const { behind, server, catalogue, link, lists, cuts } = await catalogueOf(t, 'modern', 20_000);
  const page = (name: string) => ({
    items: [{ ...tool(`t${name}`), description: 'x'.repeat(4_000) }],
    nextCursor: String(Number(name) + 1),
  });
  const toolPages = new Proxy({}, { get: (_pages, name) => page(String(name)) });
  behind.persona = { ...behind.persona, toolPages };
  assert.ok(await catalogue.find(link, 'tools', 't4', { signal: never() }));
  assert.equal(await catalogue.find(link, 'tools', 't5', { signal: never() }), undefined);
  assert.equal(lists(), 5);
  catalogue.invalidate(link, 'tools');
  await catalogue.list(link, 'tools', {});
  assert.deepEqual(cuts(), [['tools', 'too-large', 5]]);
  assert.deepEqual(server.status().cutLists, { tools: 'too-large' });
  behind.persona = { ...behind.persona, toolPages: { '': { items: [tool('a')] } } };
  catalogue.invalidate(link, 'tools');
  await catalogue.list(link, 'tools', {});
  assert.deepEqual(server.status().cutLists, {});
});
