// `portico explain`: what a caller sees by the rules, and which of them decides about one thing.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { explain } from '../../src/cli/explain.ts';
import { writeConfig } from '../config/written-config.ts';

const KEY = 'an-api-key-0123456789';
const CONFIG = `
mcpServers:
  gh: { url: "http://127.0.0.1:1/mcp" }
  docs: { url: "http://127.0.0.1:1/mcp" }
  files: { url: "http://127.0.0.1:1/mcp" }
  few: { url: "http://127.0.0.1:1/mcp", tools: { allow: ["read_*"] } }
gateway:
  publicUrl: https://mcp.example.com
  auth:
    issuers: [{ issuer: "https://idp.example.com", claims: { groups: realm.roles } }]
    apiKeys: [{ name: ci, sha256: "${createHash('sha256').update(KEY).digest('hex')}", groups: [bots] }]
  access:
    rules:
      - { name: engineers, when: { groups: [eng] }, allow: [gh, "docs/search_*"], deny: ["gh/delete_all"] }
      - { name: eu, when: { groups: [eng] }, allow: ["docs/write"], if: 'arguments.region == "eu"' }
      - { name: careful, deny: ["gh/force_*"], if: 'arguments.force == true' }
      - { name: bots, when: { groups: [bots] }, allow: [files] }
    scopes: { "gh/delete_*": ["gh:admin"] }
`;

const CLAIMS = {
  iss: 'https://idp.example.com',
  sub: 'alice',
  aud: 'https://mcp.example.com/mcp',
  exp: 4_000_000_000,
  client_id: 'ide',
  scope: 'mcp gh:read',
  realm: { roles: ['eng'] },
};

async function explained(
  t: TestContext,
  { text, kind = 'claims', target }: { text?: string; kind?: 'token' | 'claims'; target?: string } = {},
) {
  const files = { caller: text ?? JSON.stringify(CLAIMS) };
  const { file, folder } = await writeConfig(t, CONFIG, { files });
  const written = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr') => ({ write: (said: string) => (written[name] += said) });
  const from = { kind, file: `${folder}/caller` };
  const options = { file, from, target, env: {}, stdout: output('stdout'), stderr: output('stderr') };
  const exitCode = await explain(options);
  return { ...written, exitCode };
}

function jwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256', typ: 'at+jwt' })}.${part(claims)}.c2lnbmF0dXJl`;
}

test('claims: who it is, which rules concern them, and what they see of each server', async (t) => {
  const { stdout, exitCode } = await explained(t);
  assert.equal(exitCode, 0);
  assert.deepEqual(stdout.split('\n'), [
    'caller    alice of https://idp.example.com',
    'client    ide',
    'groups    eng',
    'scopes    mcp gh:read',
    'rules     engineers eu careful',
    '',
    'gh:',
    '  sees    gh, by the rule engineers',
    '  hides   gh/delete_all, by the rule engineers',
    '  refuses gh/force_*, by the rule careful, where arguments.force == true',
    '  lacks   gh:admin, for calls of gh/delete_*',
    'docs:',
    '  sees    docs/search_*, by the rule engineers',
    '  sees    docs/write, by the rule eu, where arguments.region == "eu"',
    'files: nothing, as if it did not exist',
    'few: nothing, as if it did not exist',
    '',
  ]);
});

const TARGETS: readonly (readonly [target: string, lines: readonly string[]])[] = [
  ['gh/read', ['gh/read: allowed', '  by      gh, by the rule engineers']],
  ['gh/delete_all', ['gh/delete_all: absent', '  by      gh/delete_all, by the rule engineers']],
  [
    'gh/delete_one',
    [
      'gh/delete_one: visible, but calls need more scopes',
      '  by      gh, by the rule engineers',
      '  lacks   gh:admin, for calls of gh/delete_*',
    ],
  ],
  [
    'gh/force_push',
    [
      'gh/force_push: visible',
      '  by      gh, by the rule engineers',
      '  unless  gh/force_*, by the rule careful, where arguments.force == true',
    ],
  ],
  [
    'docs/write',
    ['docs/write: visible', '  by      docs/write, by the rule eu, where arguments.region == "eu"'],
  ],
  ['few/write', ['few/write: absent', '  since   tools of the server few leave it out, for everybody']],
  ['docs/read', ['docs/read: absent', '  since   no rule grants it']],
  ['docs/prompts/search_x', ['docs/prompts/search_x: absent', '  since   no rule grants it']],
  [
    'gh/resources/file:///a/../b',
    ['gh/resources/file:///a/../b: absent', '  since   no rule is asked about such a URI'],
  ],
  ['files', ['files: nothing, as if it did not exist']],
];

for (const [target, lines] of TARGETS) {
  test(`the target ${target}: which rule decides`, async (t) => {
    const { stdout } = await explained(t, { target });
    assert.deepEqual(stdout.split('\n').slice(6, -1), lines);
  });
}

test('a token is taken at its word, and what would refuse it is said; it is never shown', async (t) => {
  for (const [claims, refusal] of [
    [CLAIMS, undefined],
    [{ ...CLAIMS, exp: 1 }, 'token_expired'],
    [{ ...CLAIMS, aud: 'https://other.example.com' }, 'token_audience'],
  ] as const) {
    const token = jwt(claims);
    const { stdout, stderr, exitCode } = await explained(t, { kind: 'token', text: `Bearer ${token}\n` });
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /^caller {4}alice of/);
    assert.equal(/\((\w+)\)/.exec(stdout)?.[1], refusal);
    assert.ok(!(stdout + stderr).includes(token));
  }
});

test('an API key is known by its hash', async (t) => {
  const { stdout } = await explained(t, { kind: 'token', text: KEY, target: 'files/read' });
  assert.match(stdout, /^caller {4}ci of portico:api-keys\n/);
  assert.match(stdout, /files\/read: allowed\n {2}by {6}files, by the rule bots/);
  assert.ok(!stdout.includes(KEY));
});

const MISTAKES: readonly (readonly [Parameters<typeof explained>[1], RegExp])[] = [
  [{ text: '{' }, /is no JSON object of claims/],
  [{ text: '[]' }, /is no JSON object of claims/],
  [{ text: JSON.stringify({ ...CLAIMS, iss: 'https://else' }) }, /issuer https:\/\/else is not one of/],
  [{ text: JSON.stringify({ ...CLAIMS, sub: undefined }) }, /name no subject/],
  [{ kind: 'token', text: 'opaque-token' }, /neither an API key of the config nor a JWT/],
  [{ kind: 'token', text: `${jwt({}).split('.')[0]}.x.y` }, /no token that could be read/],
  [{ target: 'nowhere/x' }, /there is no server nowhere/],
];

for (const [options, message] of MISTAKES) {
  test(`what says nothing of a caller: ${JSON.stringify(options).slice(0, 60)}`, async (t) => {
    const { stderr, exitCode } = await explained(t, options);
    assert.equal(exitCode, 1);
    assert.match(stderr, message);
  });
}
