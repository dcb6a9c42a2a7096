// What a config may say about the tools of a server that clients get to see.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { lockText } from '../../src/config/tool-lock.ts';
import { remote, testBadConfigs } from './bad-config.ts';
import { loadText, problemTexts } from './written-config.ts';

const overrides = (text: string) => remote(`overrides: { tools: ${text} }`);

testBadConfigs('tools are shaped by globs, names and words', [
  {
    name: 'globs that no name could match',
    text: remote(`tools: { allow: [▸" a", b], deny: [▸${'a'.repeat(513)}] }`),
    problems: [
      'mcpServers.a.tools.allow[0]: a glob neither begins nor ends with a space',
      'mcpServers.a.tools.deny[0]: a glob has at most 512 characters',
    ],
  },
  {
    name: 'a name that clients do not take',
    text: overrides('{ x: { name: ▸"a b" } }'),
    problems: 'mcpServers.a.overrides.tools.x.name: expected at most 128 letters, digits, _, - or .',
  },
  {
    name: 'a hint that is neither true nor false',
    text: overrides('{ x: { annotations: { readOnlyHint: ▸often } } }'),
    problems: 'mcpServers.a.overrides.tools.x.annotations.readOnlyHint: expected true or false, found text',
  },
  {
    name: 'what is no word of an override',
    text: overrides('{ x: { ▸descripton: d } }'),
    problems: 'mcpServers.a.overrides.tools.x.descripton: there is no key "descripton" here',
    hint: 'Did you mean description?',
  },
]);

test('what shows nothing, or changes nothing, is a warning', async (t) => {
  const text = remote(
    'tools: { allow: [] }, overrides: { tools: { x: { name: n }, y: { name: n }, z: {}, n: { name: m } } }',
  );
  const loaded = await loadText(t, text);
  assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
  assert.deepEqual(
    loaded.warnings.map(({ path, message }) => `${path}: ${message}`),
    [
      'mcpServers.a.tools.allow: no tool of this server exists',
      'mcpServers.a.overrides.tools.y.name: an override above gives the same name, so neither tool is served',
      'mcpServers.a.overrides.tools.z: this override changes nothing',
    ],
  );
});

test('the config in docs/servers.md loads without a doubt', async (t) => {
  const document = await readFile(new URL('../../docs/servers.md', import.meta.url), 'utf8');
  const [, text = ''] = /```yaml\n(.*?)```/s.exec(document) ?? [];
  const files = { 'portico.lock': lockText(new Map([['github', new Map()]])) };
  const loaded = await loadText(t, text, { files });
  assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
  assert.deepEqual(loaded.warnings, []);
  assert.equal(loaded.config.gateway.pins?.mode, 'enforce');
});
