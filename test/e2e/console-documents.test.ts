// What the console is told after real calls of real servers: enough to see what is wrong, nothing that is private.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pinOf } from '../../src/config/tool-lock.ts';
import { eventually } from '../support/eventually.ts';
import { ModernClient } from '../support/raw-session.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

const NAMED_TOOLS = fileURLToPath(new URL('../support/named-tools-server.ts', import.meta.url));
const CANARY = 'canary-of-an-argument';
const SECRET = 'the-key-of-the-broken-server';

function named(slug: string, names: readonly string[], changes = {}) {
  const args = [NAMED_TOOLS, ...names];
  return faultyConfig([], { slug, name: slug, args, isolation: 'shared', ...changes });
}

// biome-ignore lint/suspicious/noExplicitAny: documents are read as their readers would
type Document = any;

/** As soon as it is as expected: an exchange is noted when its last byte has gone out. */
async function documentOf(
  { adminUrl }: StartedGateway,
  name: string,
  isIt: (document: Document) => boolean,
): Promise<Document> {
  let document: Document;
  await eventually(`/status/${name} is as expected`, async () => {
    document = await (await fetch(`${adminUrl}/status/${name}`)).json();
    return isIt(document);
  });
  return document;
}

test('calls, failures and latency are counted by server, and the last exchanges are there without what they carried', async () => {
  await using gateway = await startGateway({
    servers: [
      named('tickets', ['find', 'fails']),
      faultyConfig([], { slug: 'broken', name: 'broken', command: `/absent/${SECRET}` }),
    ],
    secrets: [SECRET],
  });
  await using tickets = new ModernClient(`${gateway.url}/tickets`);
  await using broken = new ModernClient(`${gateway.url}/broken`);
  for (const name of ['find', 'find', 'fails']) {
    await tickets.ask('tools/call', { name, arguments: { secretly: CANARY } });
  }
  await broken.ask('tools/call', { name: 'anything', arguments: { secretly: CANARY } });

  const traffic = await documentOf(gateway, 'traffic', ({ servers }) => servers.tickets.total.requests === 3);
  assert.deepEqual(Object.keys(traffic.servers), ['tickets', 'broken']);
  assert.equal(traffic.servers.tickets.total.failed, 1);
  assert.equal(traffic.servers.tickets.requests.length * traffic.stepSeconds, 15 * 60);
  assert.equal(typeof traffic.servers.tickets.total.p50Ms, 'number');

  const { all, failures } = await documentOf(gateway, 'exchanges', ({ failures }) => failures.length === 2);
  assert.deepEqual(
    all.map(({ server, target, outcome }: Document) => [server, target, outcome]).toSorted(),
    [
      ['tickets', 'fails', 'error'],
      ['tickets', 'find', 'ok'],
      ['tickets', 'find', 'ok'],
      ['broken', 'anything', 'server-unavailable'],
    ].toSorted(),
  );
  assert.ok(failures.every(({ at, exchange }: Document) => Date.parse(at) > 0 && exchange.length === 36));

  const status = await gateway.status();
  assert.deepEqual([status.servers.tickets?.state, status.servers.broken?.state], ['up', 'down']);
  assert.match(String(status.servers.broken?.lastError), /\[redacted\]/);
  assert.ok(Date.parse(String(status.servers.broken?.lastErrorAt)) > 0);
  for (const name of ['', 'traffic', 'exchanges', 'tools']) {
    const text = await (await fetch(`${gateway.adminUrl}/status${name && `/${name}`}`)).text();
    for (const hidden of [CANARY, SECRET]) assert.ok(!text.includes(hidden), `${name} ${hidden}`);
  }
});

test('tools are told with what the config and portico.lock make of them, of a server that nobody has called yet', async () => {
  const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
  const lock = new Map([
    ['tickets', new Map(['find', 'read', 'drop'].map((name) => [name, pinOf(tool(name))] as const))],
  ]);
  lock.get('tickets')?.set('change', pinOf({ ...tool('change'), description: 'as it was' }));
  await using gateway = await startGateway({
    servers: [
      named('tickets', ['find', 'read', 'change', 'add', 'drop'], {
        tools: { allow: ['*'], deny: ['drop'] },
        overrides: { tools: { read: { name: 'look' } } },
      }),
      faultyConfig([], { slug: 'broken', name: 'broken', command: '/absent' }),
    ],
    gateway: { pins: { mode: 'enforce', lock } },
  });
  const { pins, servers } = await documentOf(
    gateway,
    'tools',
    ({ servers }) => servers.tickets.list === 'known',
  );
  assert.equal(pins, 'enforce');
  assert.deepEqual(servers.tickets.tools, [
    { name: 'find', pin: 'approved' },
    { name: 'read', shownAs: 'look', pin: 'approved' },
    { name: 'change', leftOut: 'not approved', pin: 'changed' },
    { name: 'add', leftOut: 'not approved', pin: 'new' },
    { name: 'drop', leftOut: 'not allowed', pin: 'approved' },
  ]);
  assert.deepEqual(servers.broken, { list: 'unknown', tools: [], omitted: 0 });
});
