import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPEN_ACCESS, type ServerAccess } from '../../src/access/rules/server-access.ts';
import {
  discoverResult,
  initializeResult,
  negotiateVersion,
  publicCapabilities,
} from '../../src/bridge/introduction.ts';
import type { Era } from '../../src/protocol/era.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';
import type { Peer } from '../../src/servers/peer.ts';

const access: ServerAccess = OPEN_ACCESS;
const CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  tasks: { list: {} },
  extensions: { 'com.example/x': {} },
  future: { a: 1 },
};
const peer = (era: Era, changes: Partial<Peer> = {}): Peer => ({
  era,
  version: era === 'modern' ? '2026-07-28' : '2025-11-25',
  serverInfo: { name: 'behind', version: '1' },
  capabilities: CAPABILITIES,
  instructions: 'Be kind.',
  ...changes,
});

test('F36: a client gets its own legacy revision if it is spoken, else the newest; never the modern one', () => {
  for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])
    assert.equal(negotiateVersion(version), version);
  for (const version of ['2026-07-28', '2099-01-01', '2024-10-07', '', undefined, 7])
    assert.equal(negotiateVersion(version), '2025-11-25');
});

/** Who, over what link: the names of what is advertised, subscriptions apart. */
const ADVERTISED: readonly [Era, Era, boolean, readonly string[], boolean][] = [
  ['legacy', 'legacy', true, ['tools', 'resources', 'logging', 'tasks', 'extensions', 'future'], true],
  ['legacy', 'legacy', false, ['tools', 'resources', 'extensions', 'future'], false],
  ['modern', 'modern', false, ['tools', 'resources', 'logging', 'tasks', 'extensions', 'future'], true],
  ['modern', 'legacy', true, ['tools', 'resources', 'logging', 'extensions', 'future'], true],
  ['modern', 'legacy', false, ['tools', 'resources', 'extensions', 'future'], false],
  ['legacy', 'modern', false, ['tools', 'resources', 'logging', 'tasks', 'future'], true],
];
for (const [client, server, ownLink, names, subscribe] of ADVERTISED) {
  const link = ownLink ? 'a link of its own' : 'a shared link';
  test(`F31: a ${client} client of a ${server} server over ${link} is promised what works`, () => {
    const capabilities = publicCapabilities(peer(server), client, { ownLink, access });
    assert.deepEqual(Object.keys(capabilities).sort(), [...names].sort());
    assert.equal((capabilities.resources as JsonObject).subscribe === true, subscribe);
    assert.deepEqual(capabilities.tools, { listChanged: true });
  });
}

test('initialize: the version that was settled on, and a name also where the server gives none', () => {
  const result = initializeResult(peer('legacy'), { version: '2025-06-18', ownLink: true, access });
  assert.equal(result.protocolVersion, '2025-06-18');
  assert.deepEqual(result.serverInfo, { name: 'behind', version: '1' });
  assert.equal(result.instructions, 'Be kind.');
  const bare = initializeResult(peer('modern', { serverInfo: undefined, instructions: undefined }), {
    version: '2025-11-25',
    ownLink: false,
    access,
  });
  assert.equal(typeof (bare.serverInfo as JsonObject).name, 'string');
  assert.equal('instructions' in bare, false);
});

test("discover: our own revisions, whatever the server's are, and hints that keep it private", () => {
  const result = discoverResult(peer('legacy'), { ttlMs: 5_000, ownLink: false, access });
  assert.deepEqual(result.supportedVersions, [
    '2026-07-28',
    '2025-11-25',
    '2025-06-18',
    '2025-03-26',
    '2024-11-05',
  ]);
  assert.deepEqual([result.resultType, result.ttlMs, result.cacheScope], ['complete', 5_000, 'private']);
  assert.deepEqual(result._meta, { 'io.modelcontextprotocol/serverInfo': { name: 'behind', version: '1' } });
  const bare = discoverResult(peer('modern', { serverInfo: undefined }), {
    ttlMs: 1,
    ownLink: false,
    access,
  });
  assert.equal('_meta' in bare, false);
});

test('a caller is promised only what there is for it to see', () => {
  const advertised = (seen: readonly string[]) => {
    const some: ServerAccess = { ...OPEN_ACCESS, whole: false, sees: (kind) => seen.includes(kind ?? '') };
    const all = { ...CAPABILITIES, prompts: {}, completions: {} };
    return Object.keys(
      publicCapabilities(peer('modern', { capabilities: all }), 'modern', { ownLink: false, access: some }),
    );
  };
  assert.deepEqual(advertised(['tools']).sort(), ['future', 'logging', 'tools']);
  assert.deepEqual(advertised(['prompts']).sort(), ['completions', 'future', 'logging', 'prompts']);
  assert.deepEqual(advertised(['tools', 'resources']).sort(), [
    'completions',
    'future',
    'logging',
    'resources',
    'tools',
  ]);
});
