// Sign-in through the whole gateway: tokens of a real authorization server, sessions, streams, and what reaches the
// server behind (F52).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { AuthConfig, IssuerConfig } from '../../src/config/auth-config.ts';
import type { HttpServerConfig } from '../../src/config/config.ts';
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from '../support/authorization-server.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { clientCredentials, refresh, revoke, signIn } from '../support/scripted-sign-in.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { signingKey, signToken, startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';

/** What a started gateway has for its public URL, unless a test says otherwise. */
const RESOURCE = 'http://127.0.0.1/mcp';
const METADATA = 'http://127.0.0.1/.well-known/oauth-protected-resource/mcp';
const USERS = { alice: ['eng'], bob: ['ops'] };

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

interface Setup {
  readonly gateway: StartedGateway;
  readonly upstream: FaultyHttpServer;
}

async function startSetup(
  t: TestContext,
  auth: Partial<AuthConfig>,
  { secrets = [], server = {} }: { secrets?: readonly string[]; server?: Partial<HttpServerConfig> } = {},
): Promise<Setup> {
  const upstream = await startFaultyHttpServer();
  t.after(() => upstream.close());
  const gateway = await startGateway({
    http: { url: upstream.url, ...server },
    gateway: { auth: { issuers: [], apiKeys: [], scopesSupported: [], requiredScopes: [], ...auth } },
    secrets,
  });
  t.after(() => gateway.close());
  return { gateway, upstream };
}

async function startIdp(
  t: TestContext,
  options: Partial<AuthorizationServerOptions> = {},
): Promise<AuthorizationServer> {
  const server = await startAuthorizationServer({
    resources: [RESOURCE, 'https://other.example'],
    users: USERS,
    ...options,
  });
  t.after(() => server.close());
  return server;
}

function issuerOf({ issuer }: { issuer: string }, changes: Partial<IssuerConfig> = {}): IssuerConfig {
  return {
    issuer,
    audiences: [],
    jwksUri: undefined,
    algorithms: ['ES256'],
    claims: { groups: 'groups', scopes: 'scope' },
    introspection: undefined,
    ...changes,
  };
}

function askingIssuer(server: AuthorizationServer): IssuerConfig {
  const endpoint = `${server.issuer}/token/introspection`;
  return issuerOf(server, { introspection: { endpoint, ...server.resourceServer } });
}

/** Status, challenge and error of a tool call. */
async function refusal(url: string, token?: string) {
  await using client = new ModernClient(url, token === undefined ? {} : bearer(token));
  const answer = await client.start('tools/call', { name: 'echo', arguments: { text: 'x' } }).answer;
  const { error } = await answer.json();
  return { status: answer.status, challenge: answer.headers['www-authenticate'], code: error?.code };
}

test('a JWT of a real authorization server opens every view, in both eras', async (t) => {
  const idp = await startIdp(t);
  const { access_token: token } = await signIn(idp, { login: 'alice', resource: RESOURCE });
  const { gateway } = await startSetup(
    t,
    { issuers: [issuerOf(idp)], requiredScopes: ['mcp'] },
    { secrets: [token] },
  );
  for (const url of [gateway.url, `${gateway.url}/faulty`]) {
    await using modern = new ModernClient(url, bearer(token));
    assert.equal(await modern.tool('echo', { text: 'hello' }), 'hello');
    await using legacy = await openSession(url, bearer(token));
    assert.equal(await legacy.tool('echo', { text: 'hello' }), 'hello');
    assert.equal(await legacy.delete(), 204);
  }
  const machine = await clientCredentials(idp, RESOURCE);
  await using client = new ModernClient(gateway.url, bearer(machine.access_token));
  assert.equal(await client.tool('echo', { text: 'machine' }), 'machine');
});

test('F49 what else a real authorization server issues is refused', async (t) => {
  const idp = await startIdp(t);
  const tokens = await signIn(idp, { login: 'alice', resource: RESOURCE });
  const elsewhere = await signIn(idp, { login: 'alice', resource: 'https://other.example/mcp' });
  const forNobody = await signIn(idp, { login: 'alice' });
  const forOneView = await signIn(idp, { login: 'alice', resource: `${RESOURCE}/faulty` });
  const { gateway } = await startSetup(t, { issuers: [issuerOf(idp, { audiences: [idp.client.clientId] })] });
  const bad = {
    // Its audience is accepted here; its kind is not.
    'an ID token': tokens.id_token,
    'a refresh token': tokens.refresh_token,
    'a token for another resource': elsewhere.access_token,
    'an opaque token': forNobody.access_token,
    'a token for one view': forOneView.access_token,
  };
  for (const [name, token] of Object.entries(bad)) {
    assert.deepEqual(
      await refusal(gateway.url, token),
      { status: 401, challenge: `Bearer resource_metadata="${METADATA}", error="invalid_token"`, code: 4010 },
      name,
    );
  }
  await using client = new ModernClient(`${gateway.url}/faulty`, bearer(forOneView.access_token));
  assert.equal(await client.tool('echo', { text: 'one view' }), 'one view');
});

test("an opaque token is accepted on its issuer's word, and a revoked one is not", async (t) => {
  const idp = await startIdp(t, { format: 'opaque' });
  const good = await signIn(idp, { login: 'alice', resource: RESOURCE });
  const revoked = await signIn(idp, { login: 'alice', resource: RESOURCE });
  const forNobody = await signIn(idp, { login: 'alice' });
  await revoke(idp, revoked.access_token);
  const secrets = [good.access_token, idp.resourceServer.clientSecret];
  const { gateway } = await startSetup(
    t,
    { issuers: [askingIssuer(idp)], requiredScopes: ['mcp'] },
    { secrets },
  );
  assert.doesNotMatch(good.access_token, /\./);
  await using client = new ModernClient(gateway.url, bearer(good.access_token));
  assert.equal(await client.tool('echo', { text: 'opaque' }), 'opaque');
  await using session = await openSession(gateway.url, bearer(good.access_token));
  assert.equal(await session.tool('echo', { text: 'opaque' }), 'opaque');
  for (const token of [revoked.access_token, forNobody.access_token, good.refresh_token]) {
    assert.equal((await refusal(gateway.url, token)).status, 401);
  }
});

test("F05 a session outlives the token that opened it, and is nobody else's", async (t) => {
  const idp = await startIdp(t);
  const tokens = await signIn(idp, { login: 'alice', resource: RESOURCE });
  const bob = await signIn(idp, { login: 'bob', resource: RESOURCE });
  const { gateway } = await startSetup(t, { issuers: [issuerOf(idp)] });
  await using session = await openSession(gateway.url, bearer(tokens.access_token));
  const refreshed = await refresh(idp, tokens, RESOURCE);
  assert.notEqual(refreshed.access_token, tokens.access_token);
  assert.equal(await session.tool('echo', { text: 'again' }, bearer(refreshed.access_token)), 'again');

  for (const method of ['POST', 'GET', 'DELETE'] as const) {
    const answer = await session.send({
      method,
      headers: { ...session.headers, ...bearer(bob.access_token).headers },
      ...(method === 'POST' ? { body: { jsonrpc: '2.0', id: 9, method: 'tools/list' } } : {}),
    });
    assert.equal(answer.status, 404, method);
    assert.equal((await answer.json()).error?.code, 4040);
  }
  assert.equal(await session.tool('echo', { text: 'still' }, bearer(refreshed.access_token)), 'still');
});

test('F48 F50 who lacks a token, a scope or a view is told so, in this order', async (t) => {
  const issuer = await startTokenIssuer(t);
  const key = signingKey('ES256', 'k');
  issuer.keys = [key];
  const { gateway } = await startSetup(t, {
    issuers: [issuer.config()],
    scopesSupported: ['mcp'],
    requiredScopes: ['mcp', 'mcp:call'],
  });
  const scoped = (scope: string) => tokenFrom(issuer, key, { scope });
  const asked = 'scope="mcp mcp:call"';
  assert.deepEqual(await refusal(`${gateway.url}/no-such-server`), {
    status: 401,
    challenge: `Bearer resource_metadata="${METADATA}/no-such-server", ${asked}`,
    code: 4010,
  });
  assert.deepEqual(await refusal(`${gateway.url}/no-such-server`, scoped('mcp')), {
    status: 403,
    challenge: `Bearer resource_metadata="${METADATA}/no-such-server", ${asked}, error="insufficient_scope"`,
    code: 4030,
  });
  assert.deepEqual(await refusal(`${gateway.url}/no-such-server`, scoped('mcp mcp:call')), {
    status: 404,
    challenge: undefined,
    code: 4041,
  });
});

test('F51 with its issuer away the gateway starts, says 503 without a challenge, and recovers by itself', async (t) => {
  const issuer = await startTokenIssuer(t);
  const key = signingKey('ES256', 'k');
  issuer.keys = [key];
  await issuer.down();
  const { gateway } = await startSetup(t, { issuers: [issuer.config()] });
  await gateway.logged(({ msg }) => msg === 'the keys of an issuer cannot be fetched');
  const token = tokenFrom(issuer, key);
  assert.deepEqual(await refusal(gateway.url, token), { status: 503, challenge: undefined, code: 5032 });
  assert.equal((await refusal(gateway.url)).status, 401);
  await issuer.up();
  await using client = new ModernClient(gateway.url, bearer(token));
  for (;;) {
    const answer = await client.start('tools/call', { name: 'echo', arguments: { text: 'back' } }).answer;
    await answer.text();
    if (answer.status === 200) break;
    assert.equal(answer.status, 503);
    const retryAfterMs = Number(answer.headers['retry-after']) * 1_000;
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 2_000);
    await new Promise((resolve) => setTimeout(resolve, retryAfterMs / 10));
  }
});

test('streams end with the token that opened them; calls in flight run on', async (t) => {
  const issuer = await startTokenIssuer(t);
  const key = signingKey('ES256', 'k');
  issuer.keys = [key];
  const { gateway } = await startSetup(t, { issuers: [issuer.config()] });
  const endsAt = Math.ceil(Date.now() / 1000) + 1;
  const token = tokenFrom(issuer, key, { exp: endsAt });
  await using modern = new ModernClient(gateway.url, bearer(token));
  await using legacy = await openSession(gateway.url, bearer(token));
  const listening = await modern.start('subscriptions/listen', LISTEN, { id: '"l"' }).answer;
  assert.match((await listening.event())?.data ?? '', /subscriptions\/acknowledged/);
  const get = await legacy.listen();
  assert.equal(get.status, 200);
  const call = legacy.tool('wait', { ms: endsAt * 1000 - Date.now() + 300 });

  assert.equal(await get.ended(), true);
  assert.ok(Date.now() >= endsAt * 1000);
  const last = JSON.parse((await listening.event())?.data ?? '{}') as Record<string, unknown>;
  assert.deepEqual([last.id, (last.result as { resultType: string }).resultType], ['l', 'complete']);
  assert.equal(await listening.event(), undefined);
  assert.equal(await call, 'waited');

  // Within the skew the token still calls; opened again, a stream would end at once, and be opened again at once.
  assert.equal(await legacy.tool('echo', { text: 'late' }), 'late');
  for (const again of [await legacy.listen(), await modern.start('subscriptions/listen', LISTEN).answer]) {
    assert.equal(again.status, 401);
    assert.match(String(again.headers['www-authenticate']), /error="invalid_token"/);
  }
});

test('F51 a withdrawn key ends the streams of its tokens', async (t) => {
  const issuer = await startTokenIssuer(t);
  const key = signingKey('ES256', 'k');
  const next = signingKey('ES256', 'next');
  issuer.keys = [key];
  const { gateway } = await startSetup(t, { issuers: [issuer.config()] });
  const token = tokenFrom(issuer, key);
  await using modern = new ModernClient(gateway.url, bearer(token));
  await using legacy = await openSession(gateway.url, bearer(token));
  const listening = await modern.start('subscriptions/listen', LISTEN).answer;
  assert.match((await listening.event())?.data ?? '', /subscriptions\/acknowledged/);
  const get = await legacy.listen();
  issuer.keys = [next];
  await using other = new ModernClient(gateway.url, bearer(tokenFrom(issuer, next)));
  assert.equal(await other.tool('echo', { text: 'next' }), 'next');
  assert.equal(await get.ended(), true);
  assert.match((await listening.event())?.data ?? '', /"resultType":"complete"/);
  assert.equal((await refusal(gateway.url, token)).status, 401);
});

/** All that a client may send of its own, none of it a server's business. */
function indiscreetCaller(token: string) {
  return {
    headers: {
      authorization: `Bearer ${token}`,
      cookie: 'sid=cookie-of-the-caller',
      'proxy-authorization': 'Basic proxy-of-the-caller',
      'x-api-key': 'key-of-the-caller',
      'x-forwarded-for': '203.0.113.7',
      forwarded: 'for=203.0.113.7',
    },
  };
}

const CREDENTIALS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  none: {},
  'a bearer token': { Authorization: 'Bearer our-own-credential' },
  'a header': { 'X-Api-Key': 'our-own-credential' },
};

for (const [name, headers] of Object.entries(CREDENTIALS)) {
  test(`F52 nothing that a caller sends about itself reaches a server whose credential is ${name}`, async (t) => {
    const idp = await startIdp(t);
    const { access_token: token } = await signIn(idp, { login: 'alice', resource: RESOURCE });
    const options = { secrets: [token], server: { headers } };
    const { gateway, upstream } = await startSetup(t, { issuers: [issuerOf(idp)] }, options);
    await using modern = new ModernClient(gateway.url, indiscreetCaller(token));
    const echoed = JSON.parse(await modern.tool('headers')) as Record<string, string>;
    await using legacy = await openSession(gateway.url, indiscreetCaller(token));
    await legacy.tool('headers');
    (await legacy.listen()).abort();
    assert.equal(await legacy.delete(), 204);

    assert.deepEqual(
      ['authorization', 'x-api-key', 'cookie', 'proxy-authorization'].map((header) => echoed[header]),
      [headers.Authorization, headers['X-Api-Key'], undefined, undefined],
    );
    const received = JSON.stringify(
      upstream.received.map(({ headers, path, body }) => ({ headers, path, body })),
    );
    for (const secret of [token, 'of-the-caller', '203.0.113.7'])
      assert.ok(!received.includes(secret), secret);
  });
}

test('F52 a server that redirects elsewhere takes nothing of the caller along', async (t) => {
  const idp = await startIdp(t);
  const { access_token: token } = await signIn(idp, { login: 'alice', resource: RESOURCE });
  const elsewhere = await startFaultyHttpServer();
  t.after(() => elsewhere.close());
  const redirecting = await startFaultyHttpServer();
  t.after(() => redirecting.close());
  const query = new URLSearchParams({ status: '307', to: elsewhere.url });
  const server = {
    url: `${redirecting.origin}/elsewhere?${query}`,
    headers: { 'X-Api-Key': 'our-own-credential' },
  };
  const { gateway } = await startSetup(t, { issuers: [issuerOf(idp)] }, { server });
  await using client = new ModernClient(gateway.url, indiscreetCaller(token));
  const { error } = await client.ask('tools/call', { name: 'headers' });
  assert.equal(error?.code, 5020);
  const received = JSON.stringify(elsewhere.received.map(({ headers, body }) => ({ headers, body })));
  for (const secret of [token, 'of-the-caller', 'our-own-credential'])
    assert.ok(!received.includes(secret), secret);
});

test('an API key is a caller like others, and never reaches a server', async (t) => {
  const key = 'sk-of-the-ci-machine';
  const sha256 = createHash('sha256').update(key).digest('hex');
  const apiKeys = [{ name: 'ci', sha256, scopes: ['mcp'], groups: [] }];
  const { gateway, upstream } = await startSetup(t, { apiKeys, requiredScopes: ['mcp'] }, { secrets: [key] });
  await using session = await openSession(gateway.url, bearer(key));
  assert.equal(await session.tool('echo', { text: 'ci' }), 'ci');
  assert.ok(!JSON.stringify(upstream.received.map(({ headers }) => headers)).includes(key));
  const { status, challenge } = await refusal(gateway.url, `${key}x`);
  assert.deepEqual([status, challenge], [401, 'Bearer scope="mcp", error="invalid_token"']);
});

test('serving a network without sign-in is shouted at the start', async (t) => {
  const upstream = await startFaultyHttpServer();
  t.after(() => upstream.close());
  const gateway = await startGateway({
    http: { url: upstream.url },
    gateway: {
      listen: { host: '0.0.0.0', port: 0, tls: undefined },
      publicUrl: 'http://portico.example',
      insecure: true,
    },
  });
  t.after(() => gateway.close());
  await gateway.logged(({ msg, level }) => level === 40 && String(msg).startsWith('INSECURE'));
});

const LISTEN = { notifications: { toolsListChanged: true } };

function tokenFrom(
  issuer: TokenIssuer,
  key: Parameters<typeof signToken>[0],
  claims: Readonly<Record<string, unknown>> = {},
): string {
  const now = Math.floor(Date.now() / 1000);
  return signToken(
    key,
    { typ: 'at+jwt', alg: key.algorithm, kid: key.kid },
    {
      iss: issuer.issuer,
      aud: RESOURCE,
      sub: 'alice',
      client_id: 'app',
      iat: now,
      exp: now + 300,
      ...claims,
    },
  );
}
