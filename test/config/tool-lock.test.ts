// The lock of approved tools: what is written is read back, and nothing else passes for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { digestOf, lockText, pinOf, readLock, type ToolLock } from '../../src/config/tool-lock.ts';
import { type JsonObject, readJson } from '../../src/protocol/json-text.ts';
import { visibleJson } from '../../src/protocol/visible-json.ts';
import { loadText, problemTexts } from './written-config.ts';

const TOOL = { name: 'read', description: 'Reads.', inputSchema: { type: 'object', required: ['a', 'b'] } };

function lockOf(...tools: JsonObject[]): ToolLock {
  return new Map([['docs', new Map(tools.map((tool) => [String(tool.name), pinOf(tool)]))]]);
}

test('what is written is read back, whatever servers say of their tools', () => {
  const tool = fc
    .tuple(fc.string({ unit: 'binary' }), fc.json())
    .map(([name, json]) => ({ name, more: readJson(json) }) as JsonObject);
  fc.assert(
    fc.property(fc.array(tool, { maxLength: 5 }), (tools) => {
      const lock = lockOf(...tools);
      const text = lockText(lock);
      assert.deepEqual(readLock(text), lock);
      assert.equal(lockText(readLock(text)), text);
    }),
  );
});

test('the digest is that of what is said, not of how it is written', () => {
  const { name, description, inputSchema } = TOOL;
  assert.equal(digestOf({ inputSchema, description, name }), digestOf(TOOL));
  const others: JsonObject[] = [
    { ...TOOL, description: 'Reads. ' },
    { ...TOOL, inputSchema: { ...inputSchema, required: ['b', 'a'] } },
    { ...TOOL, inputSchema: { ...inputSchema, x: null } },
    { ...TOOL, title: 'Read' },
    { ...TOOL, annotations: { readOnlyHint: true } },
    { ...TOOL, _meta: { ui: { resourceUri: 'ui://x' } } },
    { ...TOOL, unheardOf: 1 },
    readJson('{"name":"read","n":9007199254740993}') as JsonObject,
    readJson('{"name":"read","n":9007199254740992}') as JsonObject,
  ];
  assert.equal(new Set([TOOL, ...others].map(digestOf)).size, others.length + 1);
});

test('the file is in order, whatever the order of the servers and their tools', () => {
  const a = { name: 'a', inputSchema: {} };
  const b = { inputSchema: {}, name: 'b' };
  assert.equal(lockText(lockOf(a, b)), lockText(lockOf(b, a)));
});

test('characters that show nothing stand in the file by their number', () => {
  const hidden = 'Reads.\u200b\u202e\u{e0041}\u{e0042}\u0085\u2028';
  const text = lockText(lockOf({ ...TOOL, description: hidden }));
  assert.match(text, /"Reads\.\\u200b\\u202e\\udb40\\udc41\\udb40\\udc42\\u0085\\u2028"/);
  assert.equal(readLock(text).get('docs')?.get('read')?.definition.description, hidden);
  assert.equal(visibleJson('"Grüße, 世界 😀"\n'), '"Grüße, 世界 😀"\n');
});

const good = lockText(lockOf(TOOL));
const BAD: readonly [what: string, text: string, reason: RegExp][] = [
  ['nothing', '', /it is no JSON/],
  ['a merge that was not finished', good.replace('{', '<<<<<<< HEAD\n{'), /it is no JSON/],
  ['a list', '[]', /it is no JSON object/],
  ['another version', good.replace('"version": 1', '"version": 2'), /not of version 1/],
  ['no servers', '{"version":1}', /it has no "servers"/],
  ['no tools', '{"version":1,"servers":{"docs":{}}}', /its entry for docs has no "tools"/],
  [
    'no definition',
    '{"version":1,"servers":{"docs":{"tools":{"a":{"sha256":""}}}}}',
    /docs\/a has no definition/,
  ],
  [
    'words that nobody approved',
    good.replace('Reads.', 'Deletes.'),
    /the digest and the definition of docs\/read do not/,
  ],
  [
    'a name that nobody approved',
    good.replace('"read": {', '"write": {'),
    /the digest and the definition of docs\/write/,
  ],
];

for (const [what, text, reason] of BAD) {
  test(`${what} is no lock`, () => {
    assert.throws(() => readLock(text), reason);
  });
}

const config = (pins: string) =>
  `mcpServers:\n  docs: { url: "http://x" }\n  new: { url: "http://x" }\ngateway: { pins: ${pins} }\n`;

test('enforce needs a lock, and a sound one, and says how to make it', async (t) => {
  const missing = problemTexts(await loadText(t, config('enforce'))).join('\n');
  assert.match(
    missing,
    /gateway\.pins: there is no portico\.lock beside this file, so no tool could be served/,
  );
  assert.match(missing, /Run portico pin/);
  for (const pins of ['enforce', 'warn']) {
    const loaded = await loadText(t, config(pins), { files: { 'portico.lock': '{}' } });
    assert.equal(loaded.ok, false);
    assert.match(
      problemTexts(loaded).join('\n'),
      /gateway\.pins: portico\.lock is of no use: it is not of version 1/,
    );
  }
});

test('the lock is read, and servers that it does not know are a warning', async (t) => {
  const warnings = async (pins: string, files: Record<string, string>) => {
    const loaded = await loadText(t, config(pins), { files });
    assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
    const about = loaded.warnings.map(({ path, message }) => `${path}: ${message}`);
    return { pins: loaded.config.gateway.pins, about: about.filter((line) => line.includes('portico.lock')) };
  };
  const read = await warnings('enforce', { 'portico.lock': good });
  assert.deepEqual(read.pins, { mode: 'enforce', lock: lockOf(TOOL) });
  assert.deepEqual(read.about, [
    'mcpServers.new: portico.lock has nothing of new, so none of its tools is served',
  ]);
  const none = await warnings('warn', {});
  assert.deepEqual(none.pins, { mode: 'warn', lock: new Map() });
  assert.deepEqual(none.about, [
    'gateway.pins: there is no portico.lock beside this file, so every tool counts as new',
  ]);
});
