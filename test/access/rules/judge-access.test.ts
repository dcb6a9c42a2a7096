// gateway.access: what it becomes, and what it may not say, found with its place before it decides anything.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeAccess } from '../../../src/access/rules/judge-access.ts';
import { gateway, testBadConfigs } from '../../config/bad-config.ts';
import { loadedConfig, loadText, problemTexts } from '../../config/written-config.ts';

const judges = [judgeAccess];
const AUTH = `auth: { apiKeys: [{ name: ci, sha256: "${'a'.repeat(64)}" }] }`;

/** One rule with these keys. */
function rule(keys: string): string {
  return gateway(`{ ${AUTH}, access: { rules: [{ name: r, ${keys} }] } }`);
}

test('every key of access is read, and what is left out means nothing', async (t) => {
  const text = gateway(`
  ${AUTH}
  access:
    rules:
      - name: engineers
        when: { groups: [eng], scopes: [mcp] }
        allow: ["a", "a/resources/file:///srv/**"]
        deny: ["a/delete_*"]
        if: 'arguments.region == "eu" && tool.annotations.readOnlyHint == true'
      - { name: everyone, allow: ["*"] }
    scopes: { "a/delete_*": ["gh:admin"] }
    scopeImplies: { "gh:admin": ["gh:read"] }`);
  const { config, warnings } = await loadedConfig(t, text, { judges });
  assert.deepEqual(warnings, []);
  const nobody = { subjects: [], clients: [], issuers: [] };
  assert.deepEqual(JSON.parse(JSON.stringify(config.gateway.access)), {
    rules: [
      {
        name: 'engineers',
        when: { groups: ['eng'], scopes: ['mcp'], ...nobody },
        allow: ['a', 'a/resources/file:///srv/**'],
        deny: ['a/delete_*'],
        if: 'arguments.region == "eu" && tool.annotations.readOnlyHint == true',
      },
      { name: 'everyone', when: { groups: [], scopes: [], ...nobody }, allow: ['*'], deny: [] },
    ],
    scopes: { 'a/delete_*': ['gh:admin'] },
    scopeImplies: { 'gh:admin': ['gh:read'] },
  });
});

testBadConfigs(
  'access that would not do what it says is refused',
  [
    {
      name: 'targets that are none',
      text: rule('allow: ["a", ▸"do*/x", ▸"a/"], deny: [▸"a/x "]'),
      problems: [
        'gateway.access.rules[0].allow[1]: expected *, server',
        'gateway.access.rules[0].allow[2]: nothing stands behind the last slash',
        'gateway.access.rules[0].deny[0]: a target neither begins nor ends with a space',
      ],
    },
    {
      name: 'servers that are not there',
      text: gateway(
        `{ ${AUTH}, access: { rules: [{ name: r, allow: [▸"b/x"] }], scopes: { ▸"github/x": [s] } } }`,
      ),
      problems: [
        'gateway.access.rules[0].allow[0]: there is no server b',
        'gateway.access.scopes["github/x"]: there is no server github',
      ],
    },
    {
      name: 'two rules of one name',
      text: gateway(`{ ${AUTH}, access: { rules: [{ name: r, allow: [a] }, { name: ▸r, allow: [a] }] } }`),
      problems: 'gateway.access.rules[1].name: a rule above has the same name',
    },
    {
      name: 'a rule without a name',
      text: gateway(`{ ${AUTH}, access: { rules: [▸{ allow: [a] }] } }`),
      problems: 'gateway.access.rules[0]: "name" is missing here',
    },
    {
      name: 'a condition that does not parse',
      text: rule(`allow: [a], if: ▸'arguments.region = "eu"'`),
      problems: 'gateway.access.rules[0].if: this is no condition: at character 18: found',
    },
    {
      name: 'a condition about what is not there',
      text: rule(`allow: [a], if: ▸'argument.region == "eu"'`),
      problems:
        'gateway.access.rules[0].if: this is no condition: there is no argument here; did you mean arguments?',
    },
    {
      name: 'a condition with a loop in a loop',
      text: rule(`allow: [a], if: ▸'arguments.a.all(x, arguments.b.exists(y, x == y))'`),
      problems: 'gateway.access.rules[0].if: this is no condition: all, exists, map and filter may not',
    },
    {
      name: 'scopes that are none',
      text: gateway(
        `{ ${AUTH}, access: { scopes: { a: [▸"x y"] }, scopeImplies: { b: [▸'"'], ▸"c d": [e] } } }`,
      ),
      problems: [
        'gateway.access.scopes.a[0]: expected a scope',
        'gateway.access.scopeImplies.b[0]: expected a scope',
        'gateway.access.scopeImplies["c d"]: expected a scope',
      ],
    },
    {
      name: 'an unknown key',
      text: rule('allow: [a], when: { ▸group: [eng] }'),
      problems: 'gateway.access.rules[0].when.group: there is no key "group" here',
      hint: 'Did you mean groups?',
    },
  ].map((bad) => ({ ...bad, judges })),
);

const WARNINGS: readonly (readonly [name: string, text: string, warnings: readonly string[]])[] = [
  ['sign-in without rules', gateway(`{ ${AUTH} }`), ['gateway.auth: nobody may use anything']],
  [
    'rules without sign-in',
    gateway('{ access: { rules: [{ name: r, allow: ["*"] }] } }'),
    ['gateway.access: without gateway.auth'],
  ],
  [
    'a rule that says nothing',
    rule('when: { groups: [eng] }'),
    ['gateway.access.rules[0]: this rule neither allows'],
  ],
  [
    'a kind in the singular',
    rule('deny: ["a/resource/file:///x"]'),
    ['gateway.access.rules[0].deny[0]: this means tools'],
  ],
  [
    'a subject of any of several issuers',
    gateway(`{ auth: { issuers: [{ issuer: "https://a" }], apiKeys: [{ name: ci, sha256: "${'a'.repeat(64)}" }] },
      access: { rules: [{ name: r, when: { subjects: [ci] }, allow: [a] }] } }`),
    ['gateway.access.rules[0].when: subjects and clients have their names'],
  ],
  ['nothing', rule('when: { subjects: [ci] }, allow: [a]'), []],
];

for (const [name, text, warnings] of WARNINGS) {
  test(`a warning of ${name}`, async (t) => {
    const loaded = await loadText(t, text, { judges });
    assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
    const found = problemTexts(loaded).map((line) => line.replace(/^\S+ /, ''));
    assert.deepEqual(
      found.map((line, index) => (line.startsWith(warnings[index] ?? '?') ? warnings[index] : line)),
      warnings,
    );
  });
}
