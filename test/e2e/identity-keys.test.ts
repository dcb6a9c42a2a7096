// Identities as a resource server sees them: verified with the published keys, from two replicas, through a rotation.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { calculateJwkThumbprint, createRemoteJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { IdentityConfig } from '../../src/config/server-auth-config.ts';
import { issuerWith, tokenOf } from '../support/credentials-rig.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { pemOf } from '../support/identity-keys.ts';
import { ModernClient } from '../support/raw-session.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { signingKey } from '../support/token-issuer.ts';

interface Replica {
  readonly gateway: StartedGateway;
  /** The JWT that the server gets when alice calls. */
  identity(): Promise<string>;
  /** A resource server's own set of keys, fetched from here. */
  keySet(): ReturnType<typeof createRemoteJWKSet>;
}

async function startReplicas(t: TestContext, ...identities: IdentityConfig[]): Promise<Replica[]> {
  const key = signingKey('ES256', 'idp');
  const issuer = await issuerWith(t, key);
  const upstream = await startFaultyHttpServer();
  t.after(() => upstream.close());
  const auth = { issuers: [issuer.config()], apiKeys: [], scopesSupported: [], requiredScopes: [] };
  const servers = [httpServerConfig(upstream.url, { auth: { type: 'identity', audience: upstream.url } })];
  const replicas: Replica[] = [];
  for (const identity of identities) {
    const gateway = await startGateway({ servers, gateway: { auth, identity } });
    replicas.push({
      gateway,
      async identity() {
        const headers = { authorization: `Bearer ${tokenOf(issuer, key, 'alice')}` };
        await using client = new ModernClient(gateway.url, { headers });
        const seen = JSON.parse(await client.tool('headers')) as Record<string, string>;
        return (seen.authorization ?? '').slice('Bearer '.length);
      },
      keySet: () => createRemoteJWKSet(new URL('/.well-known/jwks.json', gateway.url)),
    });
  }
  // The one that was started last goes first: each watches what is left when it ends.
  t.after(async () => {
    for (const { gateway } of replicas.toReversed()) await gateway.close();
  });
  return replicas;
}

const verify = async (jwt: string, keys: ReturnType<typeof createRemoteJWKSet>) =>
  (await jwtVerify(jwt, keys, { issuer: 'http://127.0.0.1' })).payload.sub;

test('what any replica signs is verified with what any other publishes, before, during and after a rotation', async (t) => {
  const [old, next] = [pemOf('ES256'), pemOf('EdDSA')];
  const replicas = await startReplicas(
    t,
    { key: old, next: [], previous: [] },
    { key: old, next: [next], previous: [] },
    { key: next, next: [], previous: [old] },
    { key: next, next: [], previous: [] },
  );
  const identities = await Promise.all(replicas.map((replica) => replica.identity()));
  // Replicas restart one by one, so each step of a rotation stands beside the one before it.
  for (const [one, other] of [
    [0, 1],
    [1, 2],
    [2, 3],
  ] as const) {
    for (const [signer, publisher] of [
      [one, one],
      [one, other],
      [other, one],
      [other, other],
    ] as const) {
      const keys = replicas[publisher]?.keySet();
      assert.ok(keys);
      assert.equal(await verify(identities[signer] ?? '', keys), 'alice', `${signer} at ${publisher}`);
    }
  }
  await assert.rejects(verify(identities[0] ?? '', replicas[3]?.keySet() as never), 'a key that is gone');
});

test('keys are published as what they are, the private halves never', async (t) => {
  const [{ gateway }] = (await startReplicas(t, {
    key: pemOf('RS256'),
    next: [JSON.stringify(signingKey('EdDSA').jwk)],
    previous: [pemOf('ES256')],
  })) as [Replica];
  const response = await fetch(new URL('/.well-known/jwks.json', gateway.url));
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  assert.match(response.headers.get('cache-control') ?? '', /max-age=300/);
  const { keys } = (await response.json()) as JSONWebKeySet;
  assert.deepEqual(
    keys.map(({ alg, use }) => `${alg} ${use}`),
    ['RS256 sig', 'EdDSA sig', 'ES256 sig'],
  );
  for (const key of keys) {
    assert.equal(key.kid, await calculateJwkThumbprint(key));
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) assert.ok(!(secret in key), secret);
  }
  const posted = await fetch(new URL('/.well-known/jwks.json', gateway.url), { method: 'POST' });
  assert.equal(posted.status, 405);
});

test('without identity keys there is no such document', async (t) => {
  const gateway = await startGateway({ stdio: {} });
  t.after(() => gateway.close());
  assert.equal((await fetch(new URL('/.well-known/jwks.json', gateway.url))).status, 404);
});
