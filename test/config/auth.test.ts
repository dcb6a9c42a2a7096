// gateway.auth: what it becomes, and what it may not say.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { gateway, testBadConfigs } from './bad-config.ts';
import { loadedConfig, loadText, problemTexts } from './written-config.ts';

const ISSUER = 'issuer: "https://idp.example.com"';
const HASH = 'a'.repeat(64);

test('an issuer by its name alone gets every default', async (t) => {
  const { config } = await loadedConfig(t, gateway(`{ auth: { issuers: [{ ${ISSUER} }] } }`));
  assert.deepEqual(JSON.parse(JSON.stringify(config.gateway.auth)), {
    issuers: [
      {
        issuer: 'https://idp.example.com',
        audiences: [],
        algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
        claims: { groups: 'groups', scopes: 'scope' },
      },
    ],
    apiKeys: [],
    scopesSupported: [],
    requiredScopes: [],
  });
});

test('every key of auth is read, and its secret is known as one', async (t) => {
  const { config } = await loadedConfig(
    t,
    gateway(`
  listen: { host: 0.0.0.0 }
  publicUrl: https://mcp.example.com
  auth:
    issuers:
      - issuer: https://idp.example.com/tenant/
        audiences: [api://portico]
        jwksUri: https://idp.example.com/keys
        algorithms: [ES256]
        claims: { groups: realm_access.roles }
        introspection: { endpoint: "https://idp.example.com/introspect", clientId: portico, clientSecret: "hush-hush" }
    apiKeys: [{ name: ci, sha256: "${HASH}", scopes: [mcp], groups: [bots] }]
    scopesSupported: [mcp]
    requiredScopes: [mcp]`),
  );
  assert.deepEqual(JSON.parse(JSON.stringify(config.gateway.auth)), {
    issuers: [
      {
        issuer: 'https://idp.example.com/tenant/',
        audiences: ['api://portico'],
        jwksUri: 'https://idp.example.com/keys',
        algorithms: ['ES256'],
        claims: { groups: 'realm_access.roles', scopes: 'scope' },
        introspection: {
          endpoint: 'https://idp.example.com/introspect',
          clientId: 'portico',
          clientSecret: 'hush-hush',
        },
      },
    ],
    apiKeys: [{ name: 'ci', sha256: HASH, scopes: ['mcp'], groups: ['bots'] }],
    scopesSupported: ['mcp'],
    requiredScopes: ['mcp'],
  });
  assert.ok(config.secrets.includes('hush-hush'));
});

test('the config in docs/auth.md is one that Portico accepts', async (t) => {
  const document = await readFile(new URL('../../docs/auth.md', import.meta.url), 'utf8');
  const yaml = /```yaml\n(.*?)```/s.exec(document)?.[1] ?? '';
  const { config } = await loadedConfig(t, `mcpServers: { a: { url: "http://127.0.0.1:1/mcp" } }\n${yaml}`, {
    env: { CI_KEY_SHA256: HASH },
  });
  assert.equal(config.gateway.auth?.apiKeys[0]?.sha256, HASH);
});

test('what weakens sign-in is a warning', async (t) => {
  const loaded = await loadText(
    t,
    gateway(`
  insecure: true
  auth:
    issuers: [{ issuer: "http://idp.internal", jwksUri: "http://idp.internal/keys" }, { issuer: "http://localhost:1" }]
    requiredScopes: [offline_access]`),
  );
  assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
  const warnings = problemTexts(loaded).map((line) => line.replace(/^\S+ /, '').split('. ')[0]);
  assert.deepEqual(warnings, [
    'gateway.insecure: insecure means nothing beside gateway.auth, which holds',
    'gateway.auth.issuers[0].issuer: this is plain http',
    'gateway.auth.issuers[0].jwksUri: this is plain http',
    'gateway.auth.requiredScopes: offline_access is never asked for by a resource',
  ]);
});

test('a public URL without sign-in is a warning, though the address is loopback: a proxy makes it public', async (t) => {
  const warnings = async (text: string) => {
    const { warnings } = await loadedConfig(t, gateway(text));
    return warnings.map(({ path, message }) => `${path}: ${message}`);
  };
  const doubt =
    'gateway.publicUrl: clients reach this from elsewhere, and whoever does uses every server without sign-in';
  assert.deepEqual(await warnings('{ publicUrl: "https://mcp.example.com" }'), [doubt]);
  assert.deepEqual(await warnings('{ publicUrl: "https://mcp.example.com", insecure: true }'), []);
  assert.deepEqual(await warnings('{ publicUrl: "https://localhost:8443" }'), []);
  const auth = `auth: { issuers: [{ ${ISSUER} }] }`;
  assert.deepEqual(await warnings(`{ publicUrl: "https://mcp.example.com", ${auth} }`), []);
});

testBadConfigs('an auth section that would not do what it says is refused', [
  {
    name: 'nobody could sign in',
    text: gateway('{ ▸auth: { requiredScopes: [mcp] } }'),
    problems: 'gateway.auth: nobody could sign in',
  },
  {
    name: 'issuers that are none',
    text: gateway(
      '{ auth: { issuers: [{ issuer: ▸"https://a?x=1" }, { issuer: ▸"https://u:p@b" }, { issuer: ▸"https://" }] } }',
    ),
    problems: [
      'gateway.auth.issuers[0].issuer: an issuer has no query',
      'gateway.auth.issuers[1].issuer: a user or password',
      'gateway.auth.issuers[2].issuer: expected an http:// or https:// URL',
    ],
  },
  {
    name: 'an issuer that is no URL',
    text: gateway('{ auth: { issuers: [{ issuer: ▸idp.example.com }] } }'),
    problems: 'gateway.auth.issuers[0].issuer: expected an http:// or https:// URL',
  },
  {
    name: 'one issuer twice',
    text: gateway(`{ auth: { issuers: [{ ${ISSUER} }, { issuer: ▸"https://idp.example.com" }] } }`),
    problems: 'gateway.auth.issuers[1].issuer: an entry above has the same',
  },
  {
    name: 'F49 an algorithm with a shared secret',
    text: gateway(`{ auth: { issuers: [{ ${ISSUER}, algorithms: [▸HS256] }] } }`),
    problems: 'gateway.auth.issuers[0].algorithms[0]: expected RS256',
  },
  {
    name: 'no algorithm at all',
    text: gateway(`{ auth: { issuers: [{ ${ISSUER}, algorithms: ▸[] }] } }`),
    problems: 'gateway.auth.issuers[0].algorithms:',
  },
  {
    name: 'two issuers to ask about opaque tokens',
    text: gateway(
      `{ auth: { issuers: [
        { ${ISSUER}, introspection: { endpoint: "https://a", clientId: a, clientSecret: aaaa } },
        { issuer: "https://b", ▸introspection: { endpoint: "https://b", clientId: b, clientSecret: bbbb } }] } }`,
    ),
    problems: 'gateway.auth.issuers[1].introspection: an opaque token does not say who issued it',
  },
  {
    name: 'keys that are no hashes, or there twice',
    text: gateway(
      `{ auth: { apiKeys: [{ name: a, sha256: "${HASH}" }, { name: ▸a, sha256: ▸"${HASH}" }] } }`,
    ),
    problems: [
      'gateway.auth.apiKeys[1].name: an entry above has the same',
      'gateway.auth.apiKeys[1].sha256: an entry above has the same',
    ],
  },
  {
    name: 'a key in plain text',
    text: gateway('{ auth: { apiKeys: [{ name: a, sha256: ▸"my-secret-key" }] } }'),
    problems: 'gateway.auth.apiKeys[0].sha256: expected 64 hex digits',
  },
  {
    name: 'a scope with a quote or a space',
    text: gateway(`{ auth: { issuers: [{ ${ISSUER} }], requiredScopes: [▸'a"b', ▸"a b"] } }`),
    problems: [
      'gateway.auth.requiredScopes[0]: expected a scope',
      'gateway.auth.requiredScopes[1]: expected a scope',
    ],
  },
  {
    name: 'an unknown key',
    text: gateway(`{ auth: { issuers: [{ ${ISSUER}, ▸audience: x }] } }`),
    problems: 'gateway.auth.issuers[0].audience: there is no key "audience" here',
  },
]);
