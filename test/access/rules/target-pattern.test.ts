// What a target of a rule means: which things it grants and refuses, and which texts are none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parseTargetPattern,
  readTarget,
  readTemplate,
  TargetPattern,
} from '../../../src/access/rules/target-pattern.ts';

type Thing = readonly [kind: 'tools' | 'prompts' | 'resources', name: string];

const tool = (name: string): Thing => ['tools', name];
const prompt = (name: string): Thing => ['prompts', name];
const resource = (uri: string): Thing => ['resources', uri];

const GRANTS: readonly (readonly [target: string, yes: readonly Thing[], no: readonly Thing[]])[] = [
  ['*', [tool('a'), tool('a/b'), prompt('p'), resource('file:///x/y')], []],
  ['docs', [tool('a'), tool('a/b'), prompt('p'), resource('file:///x/y')], []],
  [
    'docs/search_*',
    [tool('search_'), tool('search_x')],
    [tool('Search_x'), tool('search_a/b'), prompt('search_x')],
  ],
  ['docs/tools/a', [tool('a')], [tool('tools/a'), prompt('a')]],
  ['docs/tools/tools/a', [tool('tools/a')], [tool('a')]],
  ['docs/tools', [tool('tools')], [tool('a')]],
  ['docs/a/b', [tool('a/b')], [tool('a')]],
  ['docs/**', [tool('a'), tool('a/b')], [prompt('a'), resource('a:b')]],
  ['docs/prompts/*', [prompt('greet')], [tool('greet'), prompt('a/b')]],
  ['docs/prompts/naïve', [prompt('naïve')], [prompt('nai\u0308ve'), prompt('NAÏVE')]],
  [
    'docs/resources/file:///srv/**',
    [
      resource('file:///srv/a'),
      resource('file:///srv/a/b'),
      resource('FILE:///srv/a'),
      resource('file:///srv//a'),
    ],
    [resource('file:///srv'), resource('file:///SRV/a'), resource('file:///srvx/a'), tool('file:///srv/a')],
  ],
  [
    'docs/resources/file:///srv/*',
    [resource('file:///srv/a'), resource('file:///srv/a%20b')],
    [
      resource('file:///srv/a/b'),
      resource('file:///srv/a%2Fb'),
      resource('file:///srv/a%252fb'),
      resource('file:///srv/a%5Cb'),
    ],
  ],
  [
    'docs/resources/file:///my%20docs/*',
    [resource('file:///my%20docs/a'), resource('file:///my docs/a')],
    [],
  ],
  [
    'docs/resources/HTTPS://Docs.Example.com/A',
    [resource('https://docs.example.COM/A')],
    [resource('https://docs.example.com/a')],
  ],
  [
    'docs/resources/test://x?id=*',
    [resource('test://x?id=1')],
    [resource('test://x'), resource('test://x?id=a/b')],
  ],
  ['docs/resources/note:*', [resource('note:a')], [resource('note:a/b')]],
];

for (const [text, yes, no] of GRANTS) {
  test(`the target ${text} grants`, () => {
    for (const [kind, name] of yes) assert.ok(grants(text, kind, name), `${kind} ${name}`);
    for (const [kind, name] of no) assert.ok(!grants(text, kind, name), `not ${kind} ${name}`);
  });
}

const DOT_SEGMENTS = [
  'file:///srv/../etc/passwd',
  'file:///srv/./x',
  'file:///srv/..',
  'file:///srv/.',
  'file:///srv/%2e%2e/x',
  'file:///srv/%2E%2e/x',
  'file:///srv/.%2e/x',
  'file:///srv/%2e/x',
  'file:///srv/%252e%252e/x',
  'file:///srv/%25252e%25252E%2fx',
  'file:///srv/%2%65%2%65/x',
  'file:///srv/..%2fx',
  'file:///srv/..%252fx',
  'file:///srv/a%2f..%2fx',
  'file:///srv/..\\x',
  'file:///srv/..%5cx',
  'file:///srv/..;a=b/x',
  'file:///srv/..?x',
  'file:///srv/..#x',
  'file:///srv/%c0%ae%c0%ae/x',
  'file:///srv/%e0%80%ae./x',
  'file:///srv/.\t./x',
  'file:///srv/.%09./x',
  'file:///srv/.%0a./x',
  'file:///srv/a%00/x',
  'https://docs.example.com/a?to=/../b',
  'note:../x',
  '../x',
  'test://..',
  `file:///srv/%${'25'.repeat(9)}2e/x`,
];

test('a URI with dot segments is absent, however it is spelt and whatever is granted', () => {
  for (const uri of DOT_SEGMENTS) assert.equal(readTarget('resources', uri), undefined, uri);
});

test('a URI is read in one way where there is but one, and in more where there are more', () => {
  const one = [
    'file:///srv/a.txt',
    'file:///a_b/c-d/e~1',
    'https://docs.example.com:8443/a/b',
    'test://one',
    'x://a..b/c',
  ];
  for (const uri of one) assert.deepEqual(readTarget('resources', uri)?.refused, [uri], uri);
  const more = [
    'FILE:///a',
    'https://Docs.example.com/a',
    'file://localhost/a',
    'file:///a%20b',
    'file:///a//b',
    'file:///a?b',
  ];
  for (const uri of more) assert.ok((readTarget('resources', uri)?.refused ?? [uri]).join() !== uri, uri);
});

test('dots elsewhere are dots', () => {
  for (const uri of [
    'file:///srv/.env',
    'file:///srv/a..b',
    'file:///srv/...',
    'file:///srv/a.%2eb',
    'note:a..',
    'a%2eb:c',
  ]) {
    assert.notEqual(readTarget('resources', uri), undefined, uri);
  }
});

test('what is longer than anything real is absent', () => {
  assert.equal(readTarget('resources', `file:///${'a'.repeat(5_000)}`), undefined);
  assert.equal(readTarget('tools', 'a'.repeat(5_000)), undefined);
  assert.equal(readTarget('resources', ' file:///srv/a'), undefined);
  assert.equal(readTarget('resources', 'file:///srv/a '), undefined);
});

test('a refusal holds for every spelling of what it refuses', () => {
  const pattern = parsed('files/resources/file:///srv/secret/**');
  for (const uri of [
    'file:///srv/secret/x',
    'FILE:///srv/secret/x',
    'file:///srv/%73ecret/x',
    'file:///srv/%2573ecret/x',
    'file:///srv%2Fsecret%2Fx',
    'file:///srv//secret///x',
    'file:///srv\\secret\\x',
    'file:///srv%5Csecret%5cx',
    'file:/srv/secret/x',
    'file://localhost/srv/secret/x',
    'file://LOCALHOST/srv/secret/x',
  ]) {
    assert.ok(refuses(pattern, uri), uri);
  }
  for (const uri of [
    'file:///srv/secret',
    'file:///srv/secrets/x',
    'file:///srv/SECRET/x',
    'file:///srv/a?/srv/secret/x',
  ]) {
    assert.ok(!refuses(pattern, uri), uri);
  }
  const exact = parsed('files/resources/file:///srv/secret.txt');
  for (const uri of [
    'file:///srv/secret.txt?',
    'file:///srv/secret.txt#a',
    'file:///srv/secret.txt?a#b',
    'file:///srv/secret%2Etxt',
  ]) {
    assert.ok(refuses(exact, uri), uri);
  }
});

test('an encoded star in a target is a star, not a wildcard', () => {
  const pattern = parsed('files/resources/file:///a%2A');
  assert.ok(!refuses(pattern, 'file:///abc'));
  assert.ok(!grants('files/resources/file:///a%2A', 'resources', 'file:///abc'));
  assert.ok(refuses(pattern, 'file:///a%2A'));
});

test('a template is listed where one of its URIs could be granted, and hidden where each is refused', () => {
  const pattern = parsed('files/resources/file:///srv/public/**');
  for (const template of [
    'file:///srv/{path}',
    'file:///srv/public/{+path}',
    'FILE:///srv{/path*}',
    '{scheme}:x',
    '{+uri}',
  ]) {
    const target = readTemplate(template);
    assert.ok(target && pattern.couldGrant(target), template);
  }
  for (const template of [
    'file:///srv/private/{name}',
    'file:///etc/{name}',
    'note://{name}',
    'file:///srv/publi%c0{x}',
  ]) {
    const target = readTemplate(template);
    assert.ok(target === undefined || !pattern.couldGrant(target), template);
  }
  for (const template of ['file:///srv/../{name}', 'file:///{a}/../{b}', 'file:///srv/%2e%2e/{name}']) {
    assert.equal(readTemplate(template), undefined, template);
  }
  const covered = readTemplate('file:///srv/public/{+path}');
  const half = readTemplate('file:///srv/{+path}');
  assert.ok(covered && pattern.refusesAll(covered));
  assert.ok(half && !pattern.refusesAll(half));
});

test('a target speaks of its server alone, and of its kind', () => {
  assert.ok(parsed('*').concerns('docs', 'prompts'));
  assert.ok(parsed('docs').concerns('docs', 'resources'));
  assert.ok(!parsed('docs').concerns('docs2'));
  assert.ok(parsed('docs/a').concerns('docs', 'tools'));
  assert.ok(!parsed('docs/a').concerns('docs', 'prompts'));
});

const NO_TARGETS: readonly (readonly [text: string, message: RegExp])[] = [
  ['', /expected \*, server/],
  ['**', /expected \*, server/],
  ['*/a', /expected \*, server/],
  ['do*', /expected \*, server/],
  ['Docs/a', /expected \*, server/],
  ['/a', /expected \*, server/],
  ['docs/', /nothing stands behind the last slash/],
  ['docs/prompts/', /nothing stands behind the last slash/],
  ['docs/a ', /neither begins nor ends with a space/],
  [`docs/${'a'.repeat(600)}`, /at most 512 characters/],
  ['docs/resources/file:///srv/../etc/**', /dot segments/],
];

for (const [text, message] of NO_TARGETS) {
  test(`no target: ${JSON.stringify(text.slice(0, 40))}`, () => {
    const found = parseTargetPattern(text);
    assert.ok(!(found instanceof TargetPattern));
    assert.match(found.message, message);
  });
}

function parsed(text: string): TargetPattern {
  const pattern = parseTargetPattern(text);
  assert.ok(pattern instanceof TargetPattern, text);
  return pattern;
}

function grants(text: string, kind: Thing[0], name: string): boolean {
  const pattern = parsed(text);
  const target = readTarget(kind, name);
  assert.ok(target, `${kind} ${name} is looked at`);
  const server = pattern.server ?? 'docs';
  return pattern.concerns(server, kind) && pattern.grants(target);
}

function refuses(pattern: TargetPattern, uri: string): boolean {
  const target = readTarget('resources', uri);
  assert.ok(target, uri);
  return pattern.refuses(target);
}
