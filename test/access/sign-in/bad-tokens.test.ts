// F48, F49: everything that is no access token of ours, over real sockets. Each is told 401 with the challenge of the
// view addressed and nothing more; the reason is for our own log.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startEdge } from '../../http/edge.ts';
import { RawClient } from '../../http/raw-client.ts';
import { hmacToken, pemOf, signingKey, signToken } from '../../support/token-issuer.ts';
import { PUBLIC_URL, RESOURCE, type Rig, startRig } from './sign-in-rig.ts';

interface BadRequest {
  readonly name: string;
  /** The Authorization lines, whole. */
  readonly lines: (rig: Rig) => readonly string[];
  /** In the record of the exchange. */
  readonly reason: string | undefined;
  readonly path?: string;
}

type Changes = Readonly<Record<string, unknown>>;

const bearer = (token: string) => [`Authorization: Bearer ${token}`];
const withClaims = (name: string, claims: (rig: Rig) => Changes, reason: string): BadRequest => ({
  name,
  lines: (rig) => bearer(rig.token(claims(rig))),
  reason,
});
const withHeader = (name: string, header: Changes, reason: string): BadRequest => ({
  name,
  lines: (rig) => bearer(rig.token({}, header)),
  reason,
});
/** A JWT of no declared type: its claims must show that it is an access token. */
const untyped = (name: string, claims: Changes, typ: unknown = 'JWT'): BadRequest => ({
  name,
  lines: (rig) => bearer(rig.token(claims, { typ })),
  reason: 'token_kind',
});
const raw = (name: string, line: string, reason: string | undefined): BadRequest => ({
  name,
  lines: () => [`Authorization: ${line}`],
  reason,
});
const seconds = (rig: Rig) => rig.clock.nowMs / 1000;

const AUDIENCES: readonly [string, unknown][] = [
  ['absent', undefined],
  ['null', null],
  ['an empty text', ''],
  ['an empty list', []],
  ['a number', 7],
  ['an object', { [RESOURCE]: true }],
  ['a list that holds more than texts', [RESOURCE, 7]],
  ['a list of lists', [[RESOURCE]]],
  ['another service', 'https://other.example/mcp'],
  ['a list without us', ['https://other.example', 'app']],
  ['the client id', 'app'],
  ['the origin alone', PUBLIC_URL],
  ['the origin with a slash', `${PUBLIC_URL}/`],
  ['a longer text', `${RESOURCE}x`],
  ['a shorter text', RESOURCE.slice(0, -1)],
  ['our text within another', `x${RESOURCE}`],
  ['a host that begins like ours', 'https://mcp.example.com.evil.example/mcp'],
  ['a host that ends like ours', 'https://evilmcp.example.com/mcp'],
  ['another scheme', 'http://mcp.example.com/mcp'],
  ['another port', 'https://mcp.example.com:8443/mcp'],
  ['another case in the path', `${PUBLIC_URL}/MCP`],
  ['two slashes', `${RESOURCE}//`],
  ['a query', `${RESOURCE}?x=1`],
  ['a fragment', `${RESOURCE}#x`],
  ['a dot segment', `${PUBLIC_URL}/x/../mcp`],
  ['white space around', ` ${RESOURCE} `],
  ['two in one text', `${RESOURCE} https://other.example`],
  ['a wildcard', `${PUBLIC_URL}/*`],
  ['a view below a view', `${RESOURCE}/docs/x`],
  ['a view that cannot be', `${RESOURCE}/Docs`],
];

const CASES: readonly BadRequest[] = [
  // The header.
  { name: 'no header', lines: () => [], reason: undefined },
  raw('an empty header', '', undefined),
  raw('the scheme alone', 'Bearer', undefined),
  raw('the scheme and a space', 'Bearer ', undefined),
  raw('another scheme', 'Basic YWxpY2U6c2VjcmV0', undefined),
  raw('a DPoP token', 'DPoP abc.def.ghi', undefined),
  raw('a token without a scheme', 'abcdef', undefined),
  raw('a scheme that begins like ours', 'Bearerx abc', undefined),
  raw('a token with a space', 'Bearer abc def', 'token_malformed'),
  raw('a token with a comma', 'Bearer abc,def', 'token_malformed'),
  raw('a quoted token', 'Bearer "abc"', 'token_malformed'),
  raw('a token beyond ASCII', 'Bearer caf\u00e9', 'token_malformed'),
  raw('lower case and garbage', 'bearer x', 'token_opaque'),
  raw('garbage with dots', 'Bearer a.b.c', 'token_opaque'),
  raw('only dots', 'Bearer ..', 'token_opaque'),
  raw('an opaque token', `Bearer ${'x'.repeat(43)}`, 'token_opaque'),
  raw('an encrypted token', 'Bearer a.b.c.d.e', 'token_opaque'),
  raw('a token of 20 kB', `Bearer ${'x'.repeat(20_000)}`, 'token_too_long'),
  {
    name: 'two headers, the first of them good',
    lines: (rig) => [...bearer(rig.token()), 'Authorization: Bearer x'],
    reason: 'token_repeated',
  },
  {
    name: 'the same good header twice',
    lines: (rig) => [...bearer(rig.token()), ...bearer(rig.token())],
    reason: 'token_repeated',
  },
  {
    name: 'two tokens in one header',
    lines: (rig) => [`Authorization: Bearer ${rig.token()}, Bearer ${rig.token()}`],
    reason: 'token_malformed',
  },
  {
    name: 'a token in the query',
    lines: () => [],
    path: '/mcp?access_token=abc',
    reason: 'token_in_query',
  },
  {
    name: 'a token in the query beside a good one in the header',
    lines: (rig) => bearer(rig.token()),
    path: '/mcp?x=1&access_token=abc',
    reason: 'token_in_query',
  },
  {
    name: 'a good token in the query, percent-encoded name',
    lines: () => [],
    path: '/mcp?access%5ftoken=abc',
    reason: 'token_in_query',
  },

  // The signature.
  withHeader('alg none, signed all the same', { alg: 'none' }, 'token_algorithm'),
  {
    name: 'alg none without a signature',
    lines: (rig) => bearer(`${rig.token({}, { alg: 'none' }).split('.').slice(0, 2).join('.')}.`),
    reason: 'token_algorithm',
  },
  {
    name: 'no signature',
    lines: (rig) => bearer(`${rig.token().split('.').slice(0, 2).join('.')}.`),
    reason: 'token_signature',
  },
  {
    name: 'HS256 with the public key as its secret',
    lines: (rig) => {
      const header = { typ: 'at+jwt', alg: 'HS256', kid: 'first' };
      return bearer(hmacToken(pemOf(rig.key), header, rig.claims()));
    },
    reason: 'token_algorithm',
  },
  withHeader('an algorithm in lower case', { alg: 'es256' }, 'token_algorithm'),
  withHeader('no algorithm', { alg: undefined }, 'token_algorithm'),
  withHeader('an algorithm that is a list', { alg: ['ES256'] }, 'token_algorithm'),
  withHeader('an algorithm that this issuer does not use', { alg: 'ES384' }, 'token_algorithm'),
  withHeader('an algorithm of another kind of key', { alg: 'RS256' }, 'token_signature'),
  {
    name: 'another key under a known kid',
    lines: (rig) => {
      const stranger = signingKey('ES256', 'first');
      return bearer(signToken(stranger, { typ: 'at+jwt', alg: 'ES256', kid: 'first' }, rig.claims()));
    },
    reason: 'token_signature',
  },
  {
    name: 'claims changed after signing',
    lines: (rig) => {
      const [header, , signature] = rig.token().split('.');
      const [, claims] = rig.token({ sub: 'root' }).split('.');
      return bearer([header, claims, signature].join('.'));
    },
    reason: 'token_signature',
  },
  {
    name: 'a key that the token brings along',
    lines: (rig) => {
      const own = signingKey('ES256', 'own');
      return bearer(signToken(own, { typ: 'at+jwt', alg: 'ES256', kid: 'own', jwk: own.jwk }, rig.claims()));
    },
    reason: 'token_key_unknown',
  },
  withHeader('an unknown kid', { kid: 'second' }, 'token_key_unknown'),
  withHeader('a kid that is a path', { kid: '../../first' }, 'token_key_unknown'),
  withHeader('an empty kid', { kid: '' }, 'token_key_unknown'),
  withHeader('a kid that is a number', { kid: 1 }, 'token_malformed'),
  withHeader('an unknown critical extension', { crit: ['x'], x: 1 }, 'token_critical'),
  withHeader('a known critical extension', { crit: ['b64'], b64: false }, 'token_critical'),
  withHeader('an empty list of critical extensions', { crit: [] }, 'token_critical'),
  withHeader('a critical extension that is no list', { crit: 'exp' }, 'token_critical'),

  // The kind.
  withHeader('a logout token', { typ: 'logout+jwt' }, 'token_kind'),
  withHeader('a DPoP proof', { typ: 'dpop+jwt' }, 'token_kind'),
  withHeader('a security event', { typ: 'secevent+jwt' }, 'token_kind'),
  withHeader('an answer to an introspection', { typ: 'token-introspection+jwt' }, 'token_kind'),
  withHeader('a type that is a number', { typ: 1 }, 'token_kind'),
  withHeader('a type that begins like ours', { typ: 'at+jwt+x' }, 'token_kind'),
  untyped('an ID token', { scope: undefined, client_id: undefined, azp: 'app' }),
  untyped('an ID token with a nonce, for us by its audience', { nonce: 'n' }),
  untyped('an ID token with a hash', { at_hash: 'h', azp: 'app' }),
  untyped('an ID token with the hash of a code', { c_hash: 'h' }, undefined),
  untyped('a logout token of no type', {
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  }),
  untyped("a provider's own word for a refresh token", { typ: 'Refresh' }),
  untyped("a provider's own word for an ID token", { token_use: 'id' }),
  untyped("a provider's own word that is no word", { typ: 7 }),

  // The claims.
  withClaims('another issuer', () => ({ iss: 'https://other.example' }), 'token_issuer'),
  withClaims('an issuer with a slash more', (rig) => ({ iss: `${rig.issuer.issuer}/` }), 'token_issuer'),
  withClaims('an issuer in upper case', (rig) => ({ iss: rig.issuer.issuer.toUpperCase() }), 'token_issuer'),
  withClaims('an issuer in a list', (rig) => ({ iss: [rig.issuer.issuer] }), 'token_issuer'),
  withClaims('no issuer', () => ({ iss: undefined }), 'token_issuer'),
  ...AUDIENCES.map(([name, aud]) =>
    withClaims(`an audience that is ${name}`, () => ({ aud }), 'token_audience'),
  ),
  {
    name: 'a token for one view, on another',
    lines: (rig) => bearer(rig.token({ aud: `${RESOURCE}/docs` })),
    path: '/mcp/files',
    reason: 'token_view',
  },
  {
    name: 'a token for one view, on the view of all',
    lines: (rig) => bearer(rig.token({ aud: `${RESOURCE}/docs` })),
    reason: 'token_view',
  },
  withClaims('no end', () => ({ exp: undefined }), 'token_times'),
  withClaims('an end that is a text', (rig) => ({ exp: String(seconds(rig) + 300) }), 'token_times'),
  withClaims('an end that is null', () => ({ exp: null }), 'token_times'),
  withClaims('an end in the past', (rig) => ({ exp: seconds(rig) - 31 }), 'token_expired'),
  withClaims('an end long past', () => ({ exp: 0 }), 'token_expired'),
  withClaims('an end before time began', () => ({ exp: -1e300 }), 'token_expired'),
  withClaims('a beginning in the future', (rig) => ({ nbf: seconds(rig) + 31 }), 'token_not_yet'),
  withClaims('a beginning that is a text', () => ({ nbf: '0' }), 'token_times'),
  withClaims('an issue time that is no number', () => ({ iat: 'now' }), 'token_times'),
  withClaims('no subject', () => ({ sub: undefined }), 'token_subject'),
  withClaims('an empty subject', () => ({ sub: '' }), 'token_subject'),
  withClaims('a subject that is a number', () => ({ sub: 7 }), 'token_subject'),
  withClaims('a client that is an object', () => ({ client_id: {} }), 'token_subject'),
  withClaims('a token bound to a key', () => ({ cnf: { jkt: 'x' } }), 'token_bound'),
  withClaims('a token bound to nothing', () => ({ cnf: null }), 'token_bound'),

  // The encoding.
  {
    name: 'a payload that is no JSON',
    lines: (rig) => bearer(signToken(rig.key, { typ: 'at+jwt', alg: 'ES256', kid: 'first' }, 'nonsense')),
    reason: 'token_malformed',
  },
  {
    name: 'a payload that is a list',
    lines: (rig) => bearer(signToken(rig.key, { typ: 'at+jwt', alg: 'ES256', kid: 'first' }, '[]')),
    reason: 'token_malformed',
  },
  {
    name: 'a header that is no object',
    lines: (rig) => bearer(signToken(rig.key, 'null', rig.claims())),
    reason: 'token_opaque',
  },
  {
    name: 'a payload nested without end',
    lines: (rig) =>
      bearer(signToken(rig.key, { typ: 'at+jwt', alg: 'ES256', kid: 'first' }, '['.repeat(8_000))),
    reason: 'token_malformed',
  },
];

test('F48 F49 bad tokens and headers', async (t) => {
  assert.ok(CASES.length >= 60);
  const rig = await startRig(t, { auth: { requiredScopes: ['mcp'] } });
  const edge = await startEdge(t, { signIn: rig.authenticator, config: { publicUrl: PUBLIC_URL } });
  for (const { name, lines, reason, path = '/mcp' } of CASES) {
    await t.test(name, async (t) => {
      const settled = edge.nextSettled();
      const answer = await ask(t, edge.port, path, lines(rig));
      assert.match(answer, /^HTTP\/1\.1 401 /, answer);
      const view = /^\/mcp\/?([^?]*)/.exec(path)?.[1];
      const metadata = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp${view === '' ? '' : `/${view}`}`;
      const error = reason === undefined ? '' : ', error="invalid_token"';
      assert.deepEqual(
        [...answer.matchAll(/^WWW-Authenticate: (.*)\r$/gm)].map((match) => match[1]),
        [`Bearer resource_metadata="${metadata}", scope="mcp"${error}`],
      );
      const words =
        reason === undefined ? 'An access token is required' : 'The access token is not valid here';
      assert.ok(answer.endsWith(`{"jsonrpc":"2.0","error":{"code":4010,"message":"${words}"}}`), answer);
      assert.equal((await settled).reason, reason);
    });
  }
});

test('F58 no token, from header or query, is in a log line', async (t) => {
  const rig = await startRig(t);
  const edge = await startEdge(t, { signIn: rig.authenticator, config: { publicUrl: PUBLIC_URL } });
  const canary = rig.token({ jti: 'canary' });
  await ask(t, edge.port, `/mcp?access_token=${canary}`, []);
  await ask(t, edge.port, '/mcp', bearer(canary.slice(0, -4)));
  await ask(t, edge.port, '/mcp', bearer(canary));
  const lines = [...rig.logs, ...edge.logLines, JSON.stringify(edge.settled)].join('');
  assert.ok(!lines.includes(canary.slice(0, 40)) && !lines.includes(canary.split('.')[1] ?? ''));
});

async function ask(t: TestContext, port: number, path: string, lines: readonly string[]): Promise<string> {
  const client = await RawClient.open(t, port);
  const head = [`POST ${path} HTTP/1.1`, 'Host: mcp.example.com', 'Content-Type: application/json', ...lines];
  client.send(
    Buffer.from(`${[...head, 'Content-Length: 2', 'Connection: close', '', ''].join('\r\n')}{}`, 'latin1'),
  );
  return client.closed();
}
