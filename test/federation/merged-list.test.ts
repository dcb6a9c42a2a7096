import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composedCapabilities, composedInstructions } from '../../src/federation/composed-introduction.ts';
import { matchesTemplate } from '../../src/federation/match-template.ts';
import { mergeLists } from '../../src/federation/merged-list.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';

const member = (server: string, entries: readonly JsonObject[], prefix = server) => ({
  server,
  prefix,
  whole: entries,
  entries,
});
const tools = (...names: string[]) => names.map((name): JsonObject => ({ name, x: 1 }));

test('lists are merged in the order of the servers, then in each server’s own', () => {
  const { entries, clashes } = mergeLists('tools', [member('b', tools('z', 'a')), member('a', tools('a'))]);
  assert.deepEqual(entries, [
    { name: 'b__z', x: 1 },
    { name: 'b__a', x: 1 },
    { name: 'a__a', x: 1 },
  ]);
  assert.deepEqual(clashes, []);
});

test('F29: names and addresses that two servers claim are in no list', () => {
  const prompts = [member('a', tools('x', 'y'), ''), member('b', tools('y'), ''), member('c', tools('y'))];
  const merged = mergeLists('prompts', prompts);
  assert.deepEqual(
    merged.entries.map(({ name }) => name),
    ['x', 'c__y'],
  );
  assert.deepEqual(
    merged.clashes.map(({ publicName, owners }) => [publicName, owners.map(({ server }) => server)]),
    [['y', ['a', 'b']]],
  );
  const shared = [{ uri: 'https://x.example/' }, { uri: 'file:///a' }];
  const resources = mergeLists('resources', [member('a', shared), member('b', shared)]);
  assert.deepEqual(resources.entries, [{ uri: 'a+file:///a' }, { uri: 'b+file:///a' }]);
});

test('F29: a hidden tool of the same server decides about names, and is not shown', () => {
  const whole = tools('a b', 'a_b');
  const { entries } = mergeLists('tools', [{ server: 's', prefix: 's', whole, entries: whole.slice(1) }]);
  assert.deepEqual(
    entries.map(({ name }) => name),
    ['s__a_b'],
  );
});

const introduced = (name: string, capabilities: JsonObject, instructions?: string) => ({
  name,
  prefix: name,
  capabilities,
  instructions,
});

test('F31: capabilities are what any server can do, less what is one server’s alone', () => {
  assert.deepEqual(composedCapabilities([]), {});
  const servers = [
    introduced('a', { tools: {}, extensions: { 'x/y': {} }, experimental: {} }),
    introduced('b', { resources: { subscribe: true }, logging: {}, completions: {} }),
    introduced('c', { resources: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
  ];
  assert.deepEqual(composedCapabilities(servers), {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    completions: {},
    logging: {},
    tasks: { cancel: {}, requests: { tools: { call: {} } } },
  });
});

test('instructions stand under the name of their server, and none of them crowds out the others', () => {
  assert.equal(composedInstructions([introduced('a', {}), introduced('b', {}, '  ')]), undefined);
  const long = '🌍'.repeat(20_000);
  const text =
    composedInstructions([
      introduced('a', {}, long),
      { ...introduced('b', {}, 'Be kind.'), name: 'b\n# c' },
    ]) ?? '';
  assert.ok(text.length <= 16_384 && text.isWellFormed());
  assert.match(text, /^# a \(tools and prompts: a__\*\)\n\n🌍/);
  assert.match(text, /\n\n# b # c .*\n\nBe kind\.$/);
});

for (const [template, uri, matches] of [
  ['https://x/{a}', 'https://x/1', true],
  ['https://x/{a}', 'https://y/1', false],
  ['https://x/{a}/end', 'https://x/1/end', true],
  ['https://x/{a}/end', 'https://x/end', false],
  ['https://x/{a}/m/{b}.txt', 'https://x/1/m/2.txt', true],
  ['https://x/{a}/m/{b}.txt', 'https://x/1/2.txt', false],
  ['https://x/plain', 'https://x/plain', true],
  ['https://x/plain', 'https://x/plain/', false],
] as const) {
  test(`${uri} is ${matches ? 'one' : 'none'} of ${template}`, () => {
    assert.equal(matchesTemplate(template, uri), matches);
  });
}
