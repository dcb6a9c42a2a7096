// Sign-in through the whole gateway: who comes in with tokens of a real authorization server, and who does not.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { clientCredentials, refresh, revoke, signIn } from '../support/scripted-sign-in.ts';
import {
  askingIssuer,
  bearer,
  issuerOf,
  METADATA,
  RESOURCE,
  refusal,
  startIdp,
  startSetup,
  tokenFrom,
} from '../support/sign-in-rig.ts';
import { startGateway } from '../support/start-gateway.ts';
import { signingKey, startTokenIssuer } from '../support/token-issuer.ts';

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
