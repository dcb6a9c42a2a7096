// Tokens that are good, in each form that issuers give them, and what they make of the caller.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { principalKey } from '../../../src/access/principal.ts';
import { type Algorithm, signingKey, signToken, startTokenIssuer } from '../../support/token-issuer.ts';
import { RESOURCE, startRig } from './sign-in-rig.ts';

test('a token becomes a principal', async (t) => {
  const rig = await startRig(t);
  const claims = { groups: ['eng', 'eng', 7, 'ops'], scope: 'mcp  docs:read', extra: { deep: true } };
  const principal = await rig.signIn(rig.token(claims));
  const { claims: all, tokenId, ...rest } = principal;
  assert.deepEqual(rest, {
    issuer: rig.issuer.issuer,
    subject: 'alice',
    clientId: 'app',
    scopes: ['mcp', 'docs:read'],
    groups: ['eng', 'ops'],
    expiresAtMs: rig.clock.nowMs + 300_000,
  });
  assert.deepEqual(all, rig.claims(claims));
  assert.match(tokenId ?? '', /^[\w-]{43}$/);
});

test('a refreshed token is the same principal, another client or issuer is another', async (t) => {
  const rig = await startRig(t);
  const key = async (claims: Record<string, unknown>) => principalKey(await rig.signIn(rig.token(claims)));
  const first = await key({ jti: 'one' });
  assert.equal(await key({ jti: 'two', scope: 'more', exp: rig.clock.nowMs / 1000 + 900 }), first);
  assert.notEqual(await key({ client_id: 'other' }), first);
  assert.notEqual(await key({ sub: 'bob' }), first);
});

test('a token is verified once, and remembered until it ends', async (t) => {
  const rig = await startRig(t);
  const token = rig.token();
  const principal = await rig.signIn(token);
  assert.equal(await rig.signIn(token), principal);
  rig.clock.nowMs += 299_999;
  assert.equal(await rig.signIn(token), principal);
  rig.clock.nowMs += 30_001;
  assert.equal(await rig.verdict(token), 'token-invalid/token_expired');
});

test('F49 times: clocks may differ by half a minute', async (t) => {
  const rig = await startRig(t);
  const now = rig.clock.nowMs / 1000;
  assert.equal(await rig.verdict(rig.token({ exp: now - 29.5 })), 'ok');
  assert.equal(await rig.verdict(rig.token({ exp: now - 30 })), 'token-invalid/token_expired');
  assert.equal(await rig.verdict(rig.token({ nbf: now + 30 })), 'ok');
  assert.equal(await rig.verdict(rig.token({ nbf: now + 30.5 })), 'token-invalid/token_not_yet');
  assert.equal(await rig.verdict(rig.token({ exp: 1e300 })), 'ok');
});

for (const algorithm of ['RS256', 'PS256', 'ES256', 'EdDSA'] as const satisfies readonly Algorithm[]) {
  test(`${algorithm} is verified, where the issuer may use it`, async (t) => {
    const key = signingKey(algorithm, 'k');
    const open = await startRig(t);
    open.issuer.keys = [key];
    const header = { typ: 'at+jwt', alg: algorithm, kid: 'k' };
    assert.equal(await open.verdict(signToken(key, header, open.claims())), 'ok');
    const others = (['RS256', 'PS256', 'ES256', 'EdDSA'] as const).filter((other) => other !== algorithm);
    const pinned = await startRig(t, { issuer: { algorithms: others } });
    pinned.issuer.keys = [key];
    const refused = await pinned.verdict(signToken(key, header, pinned.claims()));
    assert.equal(refused, 'token-invalid/token_algorithm');
  });
}

const KINDS: readonly [string, Record<string, unknown>, Record<string, unknown>][] = [
  ['at+jwt', { typ: 'at+jwt' }, { scope: undefined, client_id: undefined }],
  ['application/at+jwt', { typ: 'application/at+jwt' }, {}],
  ['AT+JWT, since letter case does not matter', { typ: 'AT+JWT' }, {}],
  ['JWT with scope', { typ: 'JWT' }, { client_id: undefined }],
  ['JWT with client_id', { typ: 'JWT' }, { scope: undefined }],
  [
    'no type, scp and cid (Okta)',
    { typ: undefined },
    { scope: undefined, client_id: undefined, scp: ['mcp'], cid: 'app' },
  ],
  [
    'JWT, scp and azp (Entra ID)',
    { typ: 'JWT' },
    { scope: undefined, client_id: undefined, scp: 'mcp', azp: 'app' },
  ],
  [
    'JWT, typ Bearer and sid (Keycloak)',
    { typ: 'JWT' },
    { typ: 'Bearer', client_id: undefined, azp: 'app', sid: 's' },
  ],
  ['JWT, token_use access (Cognito)', { typ: 'JWT' }, { token_use: 'access' }],
];

test('F49 the forms in which access tokens come', async (t) => {
  const rig = await startRig(t);
  for (const [name, header, claims] of KINDS) {
    await t.test(name, async () => assert.equal(await rig.verdict(rig.token(claims, header)), 'ok'));
  }
});

test('F49 the client is client_id, azp, cid or appid, in this order', async (t) => {
  const rig = await startRig(t);
  const clientOf = async (claims: Record<string, unknown>) =>
    (await rig.signIn(rig.token({ client_id: undefined, ...claims }))).clientId;
  assert.equal(await clientOf({ azp: 'a', cid: 'c' }), 'a');
  assert.equal(await clientOf({ cid: 'c', appid: 'i' }), 'c');
  assert.equal(await clientOf({ appid: 'i' }), 'i');
  assert.equal(await clientOf({}), '');
  assert.equal(await clientOf({ client_id: 'x', azp: 'a' }), 'x');
});

test('F50 scopes come as text, list or scp; groups from wherever the issuer puts them', async (t) => {
  const rig = await startRig(t, { issuer: { claims: { groups: 'realm_access.roles', scopes: 'scope' } } });
  const scopesOf = async (claims: Record<string, unknown>) =>
    (await rig.signIn(rig.token({ scope: undefined, ...claims }))).scopes;
  assert.deepEqual(await scopesOf({ scope: 'a b' }), ['a', 'b']);
  assert.deepEqual(await scopesOf({ scope: ['a', 'b', 7, 'c d', ''] }), ['a', 'b']);
  assert.deepEqual(await scopesOf({ scp: 'a b' }), ['a', 'b']);
  assert.deepEqual(await scopesOf({ scp: ['a'] }), ['a']);
  assert.deepEqual(await scopesOf({ scope: '', scp: 'admin' }), []);
  assert.deepEqual(await scopesOf({ scope: { a: true } }), []);
  assert.deepEqual(await scopesOf({}), []);
  const roles = await rig.signIn(rig.token({ realm_access: { roles: ['eng'] } }));
  assert.deepEqual(roles.groups, ['eng']);

  const url = 'https://example.com/roles';
  const named = await startRig(t, { issuer: { claims: { groups: url, scopes: 'permissions.all' } } });
  const principal = await named.signIn(named.token({ [url]: 'eng', permissions: { all: 'x y' }, scp: 'no' }));
  assert.deepEqual([principal.groups, principal.scopes], [['eng'], ['x', 'y']]);
  // A path never leads into what every object has.
  const strange = await startRig(t, { issuer: { claims: { groups: 'constructor.name', scopes: 'scope' } } });
  assert.deepEqual((await strange.signIn(strange.token())).groups, []);
});

test('F49 an audience among others is enough; an extra one opens every view', async (t) => {
  const rig = await startRig(t, { issuer: { audiences: ['api://portico'] } });
  assert.equal(await rig.verdict(rig.token({ aud: ['https://other.example', RESOURCE] }), 'docs'), 'ok');
  assert.equal(await rig.verdict(rig.token({ aud: 'api://portico' }), 'docs'), 'ok');
  assert.equal(await rig.verdict(rig.token({ aud: 'api://portico' })), 'ok');
  for (const aud of ['api://portico/', 'API://portico', 'api://portic']) {
    assert.equal(await rig.verdict(rig.token({ aud })), 'token-invalid/token_audience');
  }
});

test('F49 a token for one view opens that view alone, also when it is remembered', async (t) => {
  const rig = await startRig(t);
  const docs = rig.token({ aud: [`${RESOURCE}/docs`, `${RESOURCE}/files/`] });
  for (const _ of ['first', 'remembered']) {
    assert.equal(await rig.verdict(docs, 'docs'), 'ok');
    assert.equal(await rig.verdict(docs, 'files'), 'ok');
    assert.equal(await rig.verdict(docs, 'other'), 'token-invalid/token_view');
    assert.equal(await rig.verdict(docs), 'token-invalid/token_view');
  }
});

/** `publicUrl` as configured, an audience, and whether the two mean the same. */
const SLASHES: readonly [string, string, boolean][] = [
  ['https://mcp.example.com', 'https://mcp.example.com/mcp', true],
  ['https://mcp.example.com', 'https://mcp.example.com/mcp/', true],
  ['https://mcp.example.com', 'https://mcp.example.com:443/mcp', true],
  ['https://mcp.example.com', 'https://mcp.example.com:443/mcp/', true],
  ['https://mcp.example.com', 'HTTPS://MCP.Example.com/mcp', true],
  ['https://mcp.example.com', 'https://mcp.example.com:80/mcp', false],
  ['https://mcp.example.com', 'https://mcp.example.com/mcp//', false],
  ['https://mcp.example.com', 'https://mcp.example.com//mcp', false],
  ['https://mcp.example.com', 'https://mcp.example.com', false],
  ['https://MCP.Example.com:443', 'https://MCP.Example.com:443/mcp', true],
  ['https://MCP.Example.com:443', 'https://mcp.example.com/mcp', true],
  ['https://MCP.Example.com:443', 'https://mcp.example.com/mcp/', true],
  ['https://mcp.example.com:8443', 'https://mcp.example.com:8443/mcp', true],
  ['https://mcp.example.com:8443', 'https://mcp.example.com/mcp', false],
  ['https://mcp.example.com/Base', 'https://mcp.example.com/Base/mcp', true],
  ['https://mcp.example.com/Base', 'https://mcp.example.com/Base/mcp/', true],
  ['https://mcp.example.com/Base', 'https://mcp.example.com/base/mcp', false],
  ['https://mcp.example.com/Base', 'https://mcp.example.com/mcp', false],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/mcp', true],
  ['http://[::1]:8080', 'http://[::1]:8080/mcp/', true],
];

test('F46 one slash, one letter, one port: a closed list of equivalents', async (t) => {
  for (const [publicUrl, aud, isSame] of SLASHES) {
    await t.test(`${publicUrl} and ${aud}`, async (t) => {
      const rig = await startRig(t, { publicUrl });
      assert.equal(await rig.verdict(rig.token({ aud })), isSame ? 'ok' : 'token-invalid/token_audience');
      const docs = await rig.verdict(rig.token({ aud: `${aud.replace(/\/$/, '')}/docs` }), 'docs');
      assert.equal(docs, isSame ? 'ok' : 'token-invalid/token_audience');
    });
  }
});

test('each issuer has its own keys, rules and audiences', async (t) => {
  const second = await startTokenIssuer(t);
  const secondKey = signingKey('EdDSA', 'first');
  second.keys = [secondKey];
  const first = await startTokenIssuer(t);
  const firstKey = signingKey('ES256', 'first');
  first.keys = [firstKey];
  const rig = await startRig(t, {
    auth: { issuers: [first.config(), second.config({ audiences: ['two'], algorithms: ['EdDSA'] })] },
  });
  const signed = (key: typeof firstKey, iss: string, aud: string) =>
    rig.verdict(
      signToken(key, { typ: 'at+jwt', alg: key.algorithm, kid: 'first' }, rig.claims({ iss, aud })),
    );
  assert.equal(await signed(firstKey, first.issuer, RESOURCE), 'ok');
  assert.equal(await signed(secondKey, second.issuer, 'two'), 'ok');
  assert.equal(await signed(firstKey, first.issuer, 'two'), 'token-invalid/token_audience');
  // A key of one says nothing about the other.
  assert.equal(await signed(secondKey, first.issuer, RESOURCE), 'token-invalid/token_signature');
  assert.equal(await signed(firstKey, second.issuer, RESOURCE), 'token-invalid/token_algorithm');
  await first.down();
  assert.equal(await signed(secondKey, second.issuer, RESOURCE), 'ok');
});

test('F48 the scheme is one whatever its letters, and spaces before the token do not matter', async (t) => {
  const rig = await startRig(t);
  for (const header of [`bearer ${rig.token()}`, `BEARER   ${rig.token()}`, `BeArEr ${rig.token()}`]) {
    const attempt = { authorization: [header], tokenInQuery: false, view: undefined };
    assert.equal((await rig.authenticator.authenticate(attempt)).subject, 'alice');
  }
});

test('F50 a token without a required scope is refused with all of them; a broader one includes it', async (t) => {
  const rig = await startRig(t, {
    auth: { requiredScopes: ['mcp', 'mcp:call'] },
    scopeImplies: { admin: ['mcp:all'], 'mcp:all': ['mcp', 'mcp:call', 'admin'] },
  });
  const scoped = (scope: string) => rig.signIn(rig.token({ scope }));
  await assert.rejects(scoped('mcp'), (error: { code: string; details: { scopes: unknown } }) => {
    assert.deepEqual([error.code, error.details.scopes], ['scope-insufficient', ['mcp', 'mcp:call']]);
    return true;
  });
  await assert.rejects(scoped(''), { code: 'scope-insufficient' });
  await assert.rejects(scoped('toString'), { code: 'scope-insufficient' });
  assert.deepEqual((await scoped('mcp:call mcp')).scopes, ['mcp:call', 'mcp']);
  assert.deepEqual((await scoped('admin')).scopes, ['admin']);
});

test('F47 a token for another public URL is none for us', async (t) => {
  const rig = await startRig(t, { publicUrl: 'https://other.example' });
  assert.equal(await rig.verdict(rig.token({ aud: RESOURCE })), 'token-invalid/token_audience');
});
