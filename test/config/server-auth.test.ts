// `auth` of servers, `gateway.identity`, and variables that are made for each caller: what loads, as what, and what is
// refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pemOf } from '../support/identity-keys.ts';
import { shortRsaKey, signingKey } from '../support/token-issuer.ts';
import { testBadConfigs } from './bad-config.ts';
import { loadedConfig } from './written-config.ts';

const ISSUER = 'auth: { issuers: [{ issuer: "https://idp.example", name: idp }] }';
const TWO =
  'auth: { issuers: [{ issuer: "https://a.example", name: a }, { issuer: "https://b.example", name: b }] }';
const KEY = JSON.stringify(pemOf('ES256'));

const remote = (keys: string, gateway = ISSUER) =>
  `mcpServers: { a: { url: "https://x.example/mcp?key=1", ${keys} } }\ngateway: { ${gateway} }\n`;
const program = (value: string, { isolation = 'principal', gateway = ISSUER } = {}) =>
  `mcpServers: { a: { command: node, isolation: ${isolation}, env: { T: ${value} } } }\ngateway: { ${gateway} }\n`;
const EXCHANGE = 'type: token_exchange, tokenUrl: "https://idp.example/token", clientId: me';

test('each type of auth is read, and what it asks for is the server without its query', async (t) => {
  const of = async (keys: string, gateway?: string) => {
    const { config } = await loadedConfig(t, remote(keys, gateway));
    const [server] = config.servers;
    return { auth: server?.type === 'http' ? server.auth : undefined, secrets: config.secrets };
  };
  assert.deepEqual(await of('auth: { type: bearer, token: abcdef }'), {
    auth: { type: 'bearer', token: 'abcdef' },
    secrets: ['abcdef'],
  });
  const endpoint = { tokenUrl: 'https://idp.example/token', clientId: 'me', clientAuth: 'basic', scopes: [] };
  assert.deepEqual(await of(`auth: { ${EXCHANGE}, clientSecret: hush-hush }`), {
    auth: {
      ...{ type: 'token_exchange', ...endpoint, clientSecret: 'hush-hush' },
      ...{ resource: 'https://x.example/mcp', audience: undefined },
    },
    secrets: ['hush-hush'],
  });
  const own = await of(
    `auth: { ${EXCHANGE.replace('token_exchange', 'client_credentials')}, audience: x, scopes: [a] }`,
  );
  assert.deepEqual(own.auth, {
    ...{ type: 'client_credentials', ...endpoint, scopes: ['a'], clientSecret: undefined },
    ...{ resource: undefined, audience: 'x' },
  });
  const identity = await of('auth: { type: identity }', `${ISSUER}, identity: { key: ${KEY} }`);
  assert.deepEqual(identity.auth, { type: 'identity', audience: 'https://x.example/mcp' });
  assert.equal(identity.secrets.length, 1);
});

test('identity keys may be files, JWKs, and public where they do not sign', async (t) => {
  const jwk = JSON.stringify(signingKey('EdDSA').jwk);
  const text = `mcpServers: {}\ngateway: { identity: { key: keys/now.pem, next: [keys/next.jwk], previous: ["\${OLD}"] } }`;
  const files = { 'keys/now.pem': pemOf('RS256'), 'keys/next.jwk': jwk };
  const { config } = await loadedConfig(t, text, { files, env: { OLD: jwk } });
  const { identity } = config.gateway;
  assert.deepEqual(
    [identity?.key, identity?.next, identity?.previous],
    [files['keys/now.pem'], [jwk], [jwk]],
  );
});

test('a variable of the caller is kept in parts, with the folder made absolute', async (t) => {
  const text = program(`"\${PRE}-\${principal.subject}:\${file:secrets/u-\${principal.subject}/t}"`);
  const loaded = await loadedConfig(t, text, { env: { PRE: 'pre' } });
  const [server] = loaded.config.servers;
  assert.ok(server?.type === 'stdio');
  assert.deepEqual(server.env, {});
  const [, , , , file] = server.personalEnv?.T ?? [];
  assert.ok(file?.kind === 'file' && file.path[0]?.kind === 'text');
  assert.match(file.path[0].text, /^\/.*\/secrets\/u-$/);
  assert.deepEqual(file.path.slice(1), [
    { kind: 'principal', field: 'subject' },
    { kind: 'text', text: '/t' },
  ]);
});

testBadConfigs('F52 an auth that could not work, or would mix people, is refused', [
  {
    name: 'a type that is none',
    text: remote('auth: ▸{ type: magic }'),
    problems: 'mcpServers.a.auth: expected a section whose type is bearer',
  },
  {
    name: 'a key of another type',
    text: remote('auth: { type: bearer, token: x, ▸clientId: y }'),
    problems: 'mcpServers.a.auth.clientId: there is no key "clientId" here',
  },
  {
    name: 'a token that fits no header',
    text: remote('auth: { type: bearer, token: ▸"a b" }'),
    problems: 'mcpServers.a.auth.token: expected visible ASCII characters',
  },
  {
    name: 'an Authorization header besides',
    text: remote('headers: { Authorization: x }, ▸auth: { type: bearer, token: y }'),
    problems: 'mcpServers.a.auth: there is `auth` and an Authorization header',
  },
  {
    name: 'on a program',
    text: 'mcpServers: { a: { command: node, ▸auth: { type: bearer, token: y } } }',
    problems: 'mcpServers.a.auth: auth means nothing for a server with a command',
  },
  {
    name: 'a token endpoint in the clear',
    text: remote(`auth: { ${EXCHANGE.replace('"https', '▸"http')} }`),
    problems: 'mcpServers.a.auth.tokenUrl: a token endpoint off loopback has to be https',
  },
  {
    name: 'a resource that is none',
    text: remote(`auth: { ${EXCHANGE}, resource: ▸x }`),
    problems: 'mcpServers.a.auth.resource: expected an absolute URI',
  },
  {
    name: 'a shared link',
    text: remote(`isolation: ▸shared, auth: { ${EXCHANGE} }`),
    problems: 'mcpServers.a.isolation: auth: {type: token_exchange} speaks for one caller',
  },
  {
    name: 'nobody to speak for',
    text: remote(
      `auth: { ${EXCHANGE.replace('token_exchange', '▸token_exchange')} }`,
      'log: { level: info }',
    ),
    problems: 'mcpServers.a.auth.type: token_exchange speaks for the caller',
  },
  {
    name: 'API keys alone to exchange',
    text: remote(
      `auth: { ${EXCHANGE.replace('token_exchange', '▸token_exchange')} }`,
      `auth: { apiKeys: [{ name: ci, sha256: "${'a'.repeat(64)}" }] }`,
    ),
    problems: 'mcpServers.a.auth.type: an API key cannot be exchanged',
  },
  {
    name: 'an identity without a key',
    text: remote('auth: { type: ▸identity }'),
    problems: 'mcpServers.a.auth.type: there is no key to sign with',
  },
  {
    name: 'an identity of two issuers without names',
    text: remote(
      'auth: { type: identity }',
      `auth: { issuers: [▸{ issuer: "https://a.example" }, ▸{ issuer: "https://b.example" }] }, identity: { key: ${KEY} }`,
    ),
    problems: [
      'gateway.auth.issuers[0]: a server is told whose subjects these are',
      'gateway.auth.issuers[1]: a server is told whose subjects these are',
    ],
  },
  {
    name: 'two issuers of one name',
    text: remote('', TWO.replace('name: b', 'name: ▸a')),
    problems: 'gateway.auth.issuers[1].name: an entry above has the same',
  },
  {
    name: 'an issuer with the name of the API keys',
    text: remote('', ISSUER.replace('name: idp', 'name: ▸api-keys')),
    problems: 'gateway.auth.issuers[0].name: this is the name of the API keys',
  },
]);

testBadConfigs('an identity key that is none is refused, and not shown', [
  ...[
    ['no key', 'key: ▸"-----BEGIN nothing"', 'it is neither PEM nor JWK'],
    ['a file that is not there', 'key: ▸nowhere.pem', 'there is no such file'],
    ['a public key', `key: ▸'${JSON.stringify(signingKey('ES256').jwk)}'`, 'it is a public key'],
    [
      'a short RSA key',
      `key: ▸'${JSON.stringify(shortRsaKey('x').privateKey.export({ format: 'jwk' }))}'`,
      'it has less',
    ],
  ].map(([name = '', key, words]) => ({
    name,
    text: `mcpServers: { a: { command: node } }\ngateway: { identity: { ${key} } }\n`,
    problems: `gateway.identity.key: this key is of no use: ${words}`,
  })),
]);

const subjectFile = (path: string) => `▸"\${file:${path}}"`;

testBadConfigs('a variable of the caller that could be somebody else’s is refused', [
  {
    name: 'elsewhere than in env',
    text: remote(`headers: { X: ▸"\${principal.subject}" }`),
    problems:
      'mcpServers.a.headers.X: placeholders of the caller (principal) stand in `env` of a server alone',
  },
  {
    name: 'in the file’s own settings',
    text: remote('', `${ISSUER}, publicUrl: ▸"https://\${principal.subject}"`),
    problems: 'gateway.publicUrl: placeholders of the caller (principal)',
  },
  {
    name: 'something that is not known of a caller',
    text: program(`▸"\${principal.email}"`),
    problems: 'mcpServers.a.env.T: this is not known of a caller',
  },
  ...['auto', 'shared'].map((isolation) => ({
    name: `a process that is not the caller's alone (${isolation})`,
    text: program(`▸"\${principal.subject}"`, { isolation }),
    problems: 'mcpServers.a.env.T: a variable of the caller needs a process that nobody else uses',
  })),
  {
    name: 'no sign-in',
    text: program(`▸"\${principal.subject}"`, { gateway: 'log: { level: info }' }),
    problems: 'mcpServers.a.env.T: without gateway.auth no caller is known',
  },
  {
    name: 'two issuers',
    text: program(`▸"\${principal.subject}"`, { gateway: TWO }),
    problems: 'mcpServers.a.env.T: equal subjects of two issuers would be one person here',
  },
  {
    name: 'two issuers, and the issuer elsewhere than in the path',
    text: program(`▸"\${principal.issuerName}/\${file:/s/\${principal.subject}}"`, { gateway: TWO }),
    problems: 'mcpServers.a.env.T: equal subjects of two issuers would be one person here',
  },
  {
    name: 'an issuer and API keys',
    text: program(`▸"\${principal.subject}"`, {
      gateway: ISSUER.replace('] }', `], apiKeys: [{ name: ci, sha256: "${'a'.repeat(64)}" }] }`),
    }),
    problems: 'mcpServers.a.env.T: equal subjects of two issuers would be one person here',
  },
  {
    name: 'nothing between issuer and subject',
    text: program(`▸"\${principal.issuerName}-\${principal.subject}"`, { gateway: TWO }),
    problems: 'mcpServers.a.env.T: nothing tells the issuer from the subject',
  },
  ...[
    `\${principal.subject}`,
    `/\${principal.subject}`,
    `./\${principal.subject}`,
    `../\${principal.subject}`,
    `x\${principal.subject}`,
  ].map((path) => ({
    name: `a file below no folder of its own: ${path}`,
    text: program(subjectFile(path)),
    problems: 'mcpServers.a.env.T: the path of this file has to begin with a folder',
  })),
  {
    name: 'a placeholder in a placeholder',
    text: program(`▸"\${file:/s/\${HOME}}"`),
    problems: 'mcpServers.a.env.T: placeholders do not nest',
  },
]);
