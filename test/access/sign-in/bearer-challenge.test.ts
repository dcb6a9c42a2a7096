import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearerChallenge, type Challenge } from '../../../src/access/sign-in/bearer-challenge.ts';
import { resourceIdentifiers } from '../../../src/access/sign-in/resource-identifiers.ts';

const METADATA =
  'resource_metadata="https://MCP.example.com:443/.well-known/oauth-protected-resource/base/mcp';

const CASES: readonly [string, Challenge, readonly string[], string][] = [
  ['no token', { kind: 'missing_token', view: undefined }, [], `Bearer ${METADATA}"`],
  ['no token on a view', { kind: 'missing_token', view: 'docs' }, [], `Bearer ${METADATA}/docs"`],
  [
    'the scopes that all need',
    { kind: 'missing_token', view: undefined },
    ['mcp'],
    `Bearer ${METADATA}", scope="mcp"`,
  ],
  [
    'a bad token',
    { kind: 'invalid_token', view: undefined },
    ['mcp', 'b'],
    `Bearer ${METADATA}", scope="mcp b", error="invalid_token"`,
  ],
  [
    'too few scopes: those of all, and all of the operation, each once',
    { kind: 'insufficient_scope', view: 'docs', scopes: ['docs:write', 'mcp', 'docs:read'] },
    ['mcp'],
    `Bearer ${METADATA}/docs", scope="mcp docs:write docs:read", error="insufficient_scope"`,
  ],
  [
    'F50 offline_access is never asked for',
    { kind: 'missing_token', view: undefined, scopes: ['offline_access'] },
    ['offline_access'],
    `Bearer ${METADATA}"`,
  ],
];

test('F48 every challenge, word for word', async (t) => {
  const resources = resourceIdentifiers('https://MCP.example.com:443/base');
  for (const [name, challenge, requiredScopes, expected] of CASES) {
    await t.test(name, () => {
      assert.equal(bearerChallenge({ resources, hasMetadata: true, requiredScopes }, challenge), expected);
    });
  }
});
