import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { KnownLists, type ListSource } from '../../src/federation/known-lists.ts';
import { ServerCatalogue } from '../../src/federation/server-catalogue.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { openServer } from '../support/server-rig.ts';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const patience = (changes: { timeoutMs?: number; staleForMs?: number; ttlMs?: number } = {}) => ({
  ...{ timeoutMs: 5_000, staleForMs: 60_000, ttlMs: 60_000, signal: new AbortController().signal },
  ...changes,
});

async function listsOf(
  t: TestContext,
  capabilities: Record<string, unknown> = { tools: { listChanged: true } },
) {
  const toolPages = { '': { items: [tool('a')] } };
  const behind = await startFaultyHttpServer({ era: 'legacy', persona: { toolPages, capabilities } });
  t.after(() => behind.close());
  const { server } = openServer(t, httpServerConfig(behind.url));
  const catalogue = new ServerCatalogue();
  catalogue.follow(server);
  const logger = createLogger({ level: 'silent', secrets: [] });
  const returned: string[] = [];
  const lists = new KnownLists({
    ...{ catalogue, logger, metrics: createMetrics({ processMetrics: false }) },
    onReturn: ({ slug }, method, person) => returned.push(`${slug} ${method} ${person}`),
  });
  const source = (key = 'shared'): ListSource => ({
    server,
    key,
    clientCapabilities: {},
    person: undefined,
    open: () => server.catalogueLink(),
  });
  const asked = () => behind.requests('tools/list').length;
  return { behind, server, catalogue, lists, source, asked, returned };
}

test('F32: many who ask at once share one fetch, and the next ones ask nobody', async (t) => {
  const { lists, source, asked } = await listsOf(t);
  const all = await Promise.all(['x', 'y', 'x'].map((key) => lists.list(source(key), 'tools', patience())));
  for (const { listing } of all) assert.deepEqual([...listing.table.keys()], ['a']);
  await lists.list(source('x'), 'tools', patience());
  assert.equal(asked(), 1);
});

test('F31: a server that says that it has none is not asked for them', async (t) => {
  const { behind, lists, source } = await listsOf(t);
  const { listing } = await lists.list(source(), 'prompts', patience());
  assert.deepEqual(listing.entries, []);
  assert.equal(behind.requests('prompts/list').length, 0);
});

test('a list of which no word of changes is promised is asked for again when its time is over', async (t) => {
  const { lists, source, asked } = await listsOf(t, { tools: {} });
  await lists.list(source(), 'tools', patience({ ttlMs: 60_000 }));
  await lists.list(source(), 'tools', patience({ ttlMs: 60_000 }));
  assert.equal(asked(), 1);
  await lists.list(source(), 'tools', patience({ ttlMs: 0 }));
  assert.equal(asked(), 2);
});

test('F28: what a server listed last counts while it fails, for so long and no longer', async (t) => {
  const { behind, catalogue, lists, source, server, returned } = await listsOf(t);
  await lists.list(source(), 'tools', patience());
  const told: string[] = [];
  catalogue.onListChanged((_server, method) => told.push(method));
  const mend = behind.fault('tools/list', { answer: { status: 500 } });
  catalogue.invalidate(await server.catalogueLink(), 'tools');
  const { listing, isStale } = await lists.list(source(), 'tools', patience());
  assert.deepEqual([[...listing.table.keys()], isStale], [['a'], true]);
  assert.deepEqual(lists.statusOf(server), { tools: 'stale' });
  await assert.rejects(lists.list(source(), 'tools', patience({ staleForMs: 0 })));
  assert.equal(lists.peek(source(), 'tools', 0), undefined);
  mend();
  assert.equal((await lists.list(source(), 'tools', patience())).isStale, false);
  assert.deepEqual([told, lists.statusOf(server)], [['notifications/tools/list_changed'], {}]);
  assert.deepEqual(returned, [`${server.slug} notifications/tools/list_changed undefined`]);
});

test('F28: a server that hangs is waited for once, not once a caller', async (t) => {
  const { behind, lists, source, asked } = await listsOf(t);
  const letGo = Promise.withResolvers<void>();
  behind.fault('tools/list', { holdUntil: letGo.promise });
  await assert.rejects(lists.list(source(), 'tools', patience({ timeoutMs: 50 })));
  await assert.rejects(lists.list(source(), 'tools', patience({ timeoutMs: 60_000 })), 'within a moment');
  assert.equal(asked(), 1);
  letGo.resolve();
  while (lists.peek(source(), 'tools', 0) === undefined) await new Promise(setImmediate);
});

test('a name that is in no list makes a server list again, once in 5 s', async (t) => {
  const { lists, source, asked } = await listsOf(t);
  for (let miss = 0; miss < 3; miss += 1) await lists.refresh(source(), 'tools', patience());
  assert.equal(asked(), 1);
});

test('of more kinds of callers than are remembered, those that were not heard of for longest are forgotten', async (t) => {
  const { lists, source } = await listsOf(t);
  const isKnown = (key: string) => lists.peek(source(key), 'tools', 60_000) !== undefined;
  const keys = Array.from({ length: 128 }, (_, index) => `caller ${index}`);
  for (const key of keys) await lists.list(source(key), 'tools', patience());
  assert.ok(isKnown('caller 0'));
  await lists.list(source('one more'), 'tools', patience());
  // Each look remembers the key that it is for, so what should be there comes first.
  assert.deepEqual(['caller 0', 'one more', 'caller 127', 'caller 1'].map(isKnown), [
    true,
    true,
    true,
    false,
  ]);
});
