// Conditions of rules: what they read, what counts as an error, what is refused at load, and what callers cannot do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Condition,
  type ConditionFacts,
  ConditionFault,
  type Verdict,
} from '../../../src/access/rules/condition.ts';
import { readJson } from '../../../src/protocol/json-text.ts';

const FACTS: ConditionFacts = {
  principal: {
    issuer: 'https://idp.example.com',
    subject: 'alice',
    clientId: 'ide',
    scopes: ['mcp'],
    groups: ['eng', 'ops'],
    claims: { mfa: true, 'https://example.com/dept': 'r&d', address: { country: 'fr' } },
    tokenId: undefined,
    expiresAtMs: undefined,
  },
  scopes: new Set(['mcp', 'mcp:read']),
  server: 'docs',
  kind: 'tools',
  name: 'search',
  arguments: readJson(
    `{"region":"eu","n":5,"half":1.5,"big":9007199254740993,"one":1.0,"force":null,"tags":["a","b"],
      "o":{"deep":{"x":1}},"constructor":"c","__proto__":"p","name":"héllo"}`,
  ) as ConditionFacts['arguments'],
  annotations: {},
};

const VERDICTS: readonly (readonly [source: string, verdict: Verdict])[] = [
  ['true', 'yes'],
  ['arguments.region == "eu"', 'yes'],
  ['arguments.region == "EU"', 'no'],
  ['arguments["region"] == "eu"', 'yes'],
  ['arguments.region in ["us", "eu"]', 'yes'],
  ['arguments.n == 5 && arguments.n < 6 && arguments.n >= 5', 'yes'],
  ['arguments.n > 4.5 && arguments.half == 1.5', 'yes'],
  ['arguments.n + 1.0 == 6', 'yes'],
  ['int(arguments.n) % 2 == 1', 'yes'],
  ['arguments.big == 9007199254740993', 'yes'],
  ['arguments.big == 9007199254740992', 'no'],
  ['arguments.one == 1', 'yes'],
  ['arguments.o.deep.x == 1', 'yes'],
  ['size(arguments.tags) == 2 && "b" in arguments.tags', 'yes'],
  ['arguments.tags.all(t, t.startsWith("a") || t == "b")', 'yes'],
  ['arguments.tags.exists_one(t, t == "a")', 'yes'],
  ['arguments.tags.filter(t, t != "a").all(t, t == "b")', 'yes'],
  ['arguments.all(key, key != "admin")', 'yes'],
  ['size(arguments.name) == 5', 'yes'],
  ['arguments.region.matches("^(eu|us)$")', 'yes'],
  ['arguments.name.matches("(?i)H.LLO")', 'yes'],
  ['server == "docs" && tool.name == "search"', 'yes'],
  ['principal.subject == "alice" && principal.client == "ide"', 'yes'],
  ['"eng" in principal.groups && "mcp:read" in principal.scopes', 'yes'],
  ['principal.claims.mfa == true && principal.claims["https://example.com/dept"] == "r&d"', 'yes'],
  ['principal.claims.address.country == "de"', 'no'],
  ['has(arguments.region) && !has(arguments.missing)', 'yes'],
  // A member that is null is there.
  ['has(arguments.force) && "force" in arguments && arguments.force == null', 'yes'],
  // Names that every object of JavaScript has are members only where they were sent.
  ['arguments.constructor == "c" && arguments.__proto__ == "p"', 'yes'],
  ['has(arguments.toString) || "hasOwnProperty" in arguments', 'no'],
  ['has(tool.annotations.readOnlyHint)', 'no'],
  // One certain side is enough (CEL, "Logical Operators").
  ['arguments.missing == 1 || true', 'yes'],
  ['arguments.missing == 1 && false', 'no'],
  ['arguments.missing == 1', 'error'],
  ['arguments.missing == 1 || false', 'error'],
  ['arguments.o.nothing.x == 1', 'error'],
  ['tool.annotations.readOnlyHint == true', 'error'],
  ['resource.uri == "a"', 'error'],
  ['prompt.name == "search"', 'error'],
  ['arguments.region', 'error'],
  ['"yes"', 'error'],
  ['1', 'error'],
  ['null', 'error'],
  ['arguments.n + 1 == 6', 'error'],
  ['arguments.region < 5', 'error'],
  ['1 / 0 == 1', 'error'],
  ['int(arguments.region) == 1', 'error'],
  ['arguments.tags[2] == "c"', 'error'],
  ['arguments.n.matches("5")', 'error'],
  ['arguments.region && true', 'error'],
];

for (const [source, verdict] of VERDICTS) {
  test(`${source} is ${verdict}`, () => assert.equal(new Condition(source).judge(FACTS), verdict));
}

test('a condition about a prompt or a resource reads what it is', () => {
  assert.equal(
    new Condition('prompt.name == "greet"').judge({ ...FACTS, kind: 'prompts', name: 'greet' }),
    'yes',
  );
  const resource = { ...FACTS, kind: 'resources', name: 'file:///a' } as const;
  assert.equal(new Condition('resource.uri.startsWith("file:")').judge(resource), 'yes');
  assert.equal(new Condition('tool.name == "file:///a"').judge(resource), 'error');
});

const REFUSED: readonly (readonly [source: string, message: RegExp])[] = [
  ['', /expecting/],
  ['1 +', /at character 3: found/],
  ['true\n|| ||', /at line 2, character 1: found/],
  ['true &&\n  (false', /at character 6: found &/],
  ['argument.region == "eu"', /there is no argument here; did you mean arguments\?/],
  ['region == "eu"', /there is no region here/],
  ['process.env.HOME == "x"', /there is no process here/],
  ['this == 1', /there is no this here/],
  ['arguments.region.startWith("e")', /no function startWith; did you mean startsWith\?/],
  ['fetch("http://a")', /no function fetch/],
  ['arguments.region.lowerAscii() == "eu"', /no function lowerAscii/],
  ['cel.bind(x, 1, x == 1)', /no function bind/],
  ['google.protobuf.Struct{} == arguments', /no type google\.protobuf\.Struct here/],
  ['arguments.a.all(x, arguments.b.exists(y, y == x))', /may not stand within each other/],
  ['arguments.a.map(x, arguments.b.filter(y, y == x)) == []', /may not stand within each other/],
  ['arguments.a.exists(x, x.all(y, y))', /may not stand within each other/],
  [Array(9).fill('arguments.a.all(x, x)').join(' && '), /at most 8 of all, exists/],
  ['arguments.region.matches(arguments.pattern)', /one pattern, as a text in quotes/],
  ['arguments.region.matches("^" + arguments.x)', /one pattern, as a text in quotes/],
  ['matches(arguments.region, "^e")', /one pattern, as a text in quotes/],
  ['arguments.region.matches("(?=a)")', /invalid or unsupported Perl syntax/],
  ['arguments.region.matches("(a)\\\\1")', /invalid escape sequence/],
  ['arguments.region.matches("(")', /missing closing \)/],
  ['arguments.region.matches("(((a{1000}){1000}){1000})")', /repeat/],
  [`arguments.region.matches("${'a'.repeat(300)}")`, /at most 200 characters/],
  [`arguments.region == "${'a'.repeat(2_000)}"`, /at most 1000 characters/],
];

for (const [source, message] of REFUSED) {
  test(`refused at load: ${JSON.stringify(source.slice(0, 60))}`, () => {
    assert.throws(
      () => new Condition(source),
      (thrown) => thrown instanceof ConditionFault && message.test(thrown.message),
    );
  });
}

test('brackets without end are refused, not fatal', () => {
  for (const source of [
    `${'('.repeat(450)}true${')'.repeat(450)}`,
    `${'!'.repeat(900)}true`,
    `${'['.repeat(400)}`,
  ]) {
    try {
      assert.ok(['yes', 'no', 'error'].includes(new Condition(source).judge(FACTS)));
    } catch (thrown) {
      assert.ok(thrown instanceof ConditionFault);
    }
  }
});

test('what a caller sends too much of is an error, where it is read', () => {
  const judge = (source: string, args: ConditionFacts['arguments']) =>
    new Condition(source).judge({ ...FACTS, arguments: args });
  const list = Array.from({ length: 2_000 }, (_, index) => index);
  assert.equal(judge('arguments.list.all(x, x >= 0)', { list }), 'error');
  assert.equal(judge('arguments.text != ""', { text: 'a'.repeat(20_000) }), 'error');
  assert.equal(judge('size(arguments) > 0', { region: 'eu', text: 'a'.repeat(20_000) }), 'error');
  assert.equal(judge('arguments.region == "eu"', { region: 'eu', text: 'a'.repeat(1e6), list }), 'yes');
  let deep: ConditionFacts['arguments'] = {};
  for (let level = 0; level < 500; level += 1) deep = { deep };
  assert.equal(judge('has(arguments.deep.deep)', deep), 'yes');
});

test('no caller makes a condition slow', () => {
  const patterns = ['(a+)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(a|aa)+$', '(x+x+)+y'];
  const matched = {
    ...FACTS,
    arguments: { text: 'a'.repeat(16_000), list: Array(900).fill('aaaaaaaaaaaaaaa') },
  };
  const sources = [
    ...patterns.map((pattern) => `arguments.text.matches("${pattern}")`),
    ...patterns.map((pattern) => `arguments.list.exists(x, x.matches("${pattern}"))`),
    'arguments.list.all(x, x in arguments.list)',
    'arguments.list.map(x, arguments.list).all(x, size(x) > 0)',
  ];
  for (const source of sources) {
    const condition = new Condition(source);
    // A backtracking matcher would take longer than the world has existed; in processor time, whoever else is at work.
    const before = process.cpuUsage();
    condition.judge(matched);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 5_000_000, `${source} took ${(user + system) / 1000} ms`);
  }
});

test('one text matched over and over ends as an error', () => {
  const condition = new Condition('arguments.list.all(x, !arguments.text.matches("b"))');
  const facts = { ...FACTS, arguments: { text: 'a'.repeat(10_000), list: Array(900).fill(1) } };
  assert.equal(condition.judge(facts), 'error');
  assert.equal(condition.judge({ ...facts, arguments: { text: 'a', list: [1, 2] } }), 'yes');
});
