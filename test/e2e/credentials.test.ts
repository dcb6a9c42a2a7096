// How Portico signs in to a server, through the whole gateway: what a server sees of Portico and of the caller, whose
// token it is, and what becomes of a refusal.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { ServerAuthConfig } from '../../src/config/server-auth-config.ts';
import { type CredentialsRig, exchangeAt, startCredentialsRig } from '../support/credentials-rig.ts';
import { pemOf } from '../support/identity-keys.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import {
  CLIENT,
  claimsOf,
  holderOf,
  startTokenEndpoint,
  type TokenEndpoint,
} from '../support/token-endpoint.ts';

const SECRET = 'our-own-credential-of-the-server';
/** Each process gets one token. */
const ISSUED = new RegExp(`^Bearer upstream\\.\\S+\\.[1-${PROCESSES}]$`);

const clientCredentialsAt =
  ({ url: tokenUrl }: TokenEndpoint) =>
  (url: string): ServerAuthConfig => ({
    type: 'client_credentials',
    tokenUrl,
    ...CLIENT,
    clientAuth: 'basic',
    scopes: ['read', 'write'],
    resource: url,
    audience: undefined,
  });

/** Everything that callers of both eras make Portico send. */
async function useEverything({ modern, legacy }: CredentialsRig, token: string): Promise<void> {
  await using client = modern(token);
  await client.tool('headers');
  await using session = await legacy(token);
  await session.tool('headers');
  assert.equal(await session.delete(), 204);
}

/** What a server of each era gets of it. */
const MESSAGES = {
  modern: ['server/discover', 'tools/list', 'tools/call'],
  legacy: ['initialize', 'notifications/initialized', 'GET', 'tools/list', 'tools/call', 'DELETE'],
} as const;

function assertNothingOfTheCaller(
  { upstream }: CredentialsRig,
  token: string,
  sessionIds: readonly string[] = [],
) {
  const received = JSON.stringify(
    upstream.received.map(({ headers, path, body }) => ({ headers, path, body })),
  );
  for (const secret of [token, 'of-the-caller', ...sessionIds]) assert.ok(!received.includes(secret), secret);
}

test('F52 every request carries the credential of its type, and nothing of the caller', async (t) => {
  const types: Record<
    string,
    { auth: (endpoint: TokenEndpoint) => (url: string) => ServerAuthConfig; is: RegExp }
  > = {
    bearer: { auth: () => () => ({ type: 'bearer', token: SECRET }), is: new RegExp(`^Bearer ${SECRET}$`) },
    client_credentials: { auth: clientCredentialsAt, is: ISSUED },
    token_exchange: { auth: (endpoint) => exchangeAt(endpoint), is: ISSUED },
    identity: { auth: () => (url) => ({ type: 'identity', audience: url }), is: /^Bearer eyJ\S+$/ },
  };
  const cases = Object.entries(types).flatMap(([name, type]) =>
    (['modern', 'legacy'] as const).map((era) => ({ name, era, ...type })),
  );
  for (const { name, era, auth, is } of cases) {
    await t.test(`${name}, of a ${era} server`, async (t) => {
      const endpoint = await startTokenEndpoint(t);
      const rig = await startCredentialsRig(t, {
        auth: auth(endpoint),
        era,
        gateway: { identity: { key: pemOf('ES256'), next: [], previous: [] } },
        secrets: [SECRET, CLIENT.clientSecret],
      });
      const token = rig.tokenOf('alice');
      await useEverything(rig, token);
      for (const what of MESSAGES[era]) {
        await rig.upstream.until(() => rig.seen('authorization').some((request) => request.what === what));
      }
      for (const { what, value } of rig.seen('authorization')) assert.match(value ?? '', is, what);
      assertNothingOfTheCaller(rig, token);
      assert.ok(!JSON.stringify(rig.gateway.logs).includes(token));
      for (const issued of endpoint.issued) assert.ok(!JSON.stringify(rig.gateway.logs).includes(issued));
    });
  }
});

test('two people with two sets of scopes are exchanged for four tokens, each used by its own alone', async (t) => {
  const endpoint = await startTokenEndpoint(t);
  const rig = await startCredentialsRig(t, { auth: exchangeAt(endpoint), secrets: [CLIENT.clientSecret] });
  endpoint.expiresIn = 86_400;
  const callers = ['alice', 'bob'].flatMap((subject) =>
    ['mcp', 'admin mcp'].map((scope) => ({ subject, scope, token: rig.tokenOf(subject, { scope }) })),
  );
  const used = new Set<string>();
  for (let round = 0; round < 2; round += 1) {
    for (const { subject, scope, token } of callers) {
      await using client = rig.modern(token);
      const { authorization = '' } = JSON.parse(await client.tool('headers')) as Record<string, string>;
      assert.equal(holderOf(authorization), `${subject} ${scope}`);
      await using session = await rig.legacy(token);
      const legacy = JSON.parse(await session.tool('headers')) as Record<string, string>;
      assert.equal(holderOf(legacy.authorization ?? ''), `${subject} ${scope}`);
      for (const token of [authorization, legacy.authorization ?? '']) used.add(token);
    }
  }
  assert.ok(used.size >= 4 && used.size <= 4 * PROCESSES, `${used.size}`);
  assert.equal(endpoint.issued.length, used.size, 'none was got in vain');
  for (const { token } of callers) assertNothingOfTheCaller(rig, token);
  const [first] = endpoint.asked;
  assert.deepEqual(Object.fromEntries(first?.form ?? []), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: callers[0]?.token,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    resource: rig.upstream.url,
  });
  // RFC 6749, section 2.3.1.
  const basic = Buffer.from('portico%3A1:secret-of+the%2Fclient').toString('base64');
  assert.equal(first?.headers.authorization, `Basic ${basic}`);
});

test('a legacy session that steps up calls with what its new token was exchanged for', async (t) => {
  const endpoint = await startTokenEndpoint(t);
  const rig = await startCredentialsRig(t, { auth: exchangeAt(endpoint) });
  await using session = await rig.legacy(rig.tokenOf('alice'));
  const call = async (token: string) => {
    const said = await session.ask('tools/call', { name: 'headers' }, rig.headers(token));
    const [{ text = '' } = {}] = (said.result?.content ?? []) as { text?: string }[];
    return holderOf((JSON.parse(text) as Record<string, string>).authorization ?? '');
  };
  assert.equal(await call(rig.tokenOf('alice')), 'alice mcp');
  assert.equal(await call(rig.tokenOf('alice', { scope: 'mcp admin' })), 'alice mcp admin');
  assert.equal(await call(rig.tokenOf('alice')), 'alice mcp');
});

test('64 calls at once wait for one exchange', async (t) => {
  const endpoint = await startTokenEndpoint(t);
  const rig = await startCredentialsRig(t, { auth: exchangeAt(endpoint) });
  endpoint.delayMs = 50;
  const token = rig.tokenOf('alice');
  await using client = rig.modern(token);
  const answers = await Promise.all(Array.from({ length: 64 }, () => client.tool('echo', { text: 'all' })));
  assert.deepEqual(new Set(answers), new Set(['all']));
  assert.equal(endpoint.asked.length, PROCESSES);
});

test('what nobody can exchange is refused, and shown to no token endpoint', async (t) => {
  const endpoint = await startTokenEndpoint(t);
  const key = 'sk-of-the-ci-machine';
  const sha256 = createHash('sha256').update(key).digest('hex');
  const signIn = { apiKeys: [{ name: 'ci', sha256, scopes: [], groups: [] }] };
  const rig = await startCredentialsRig(t, { auth: exchangeAt(endpoint), signIn, secrets: [key] });
  await using client = rig.modern(key);
  const { error } = await client.ask('tools/call', { name: 'echo' });
  assert.equal(error?.code, 5021);
  assert.equal(endpoint.asked.length, 0);
});

test('a refusal is 5021 to the caller, and the reason is for the operator', async (t) => {
  const rig = await startCredentialsRig(t, {
    auth: () => ({ type: 'bearer', token: SECRET }),
    secrets: [SECRET],
  });
  await using client = rig.modern(rig.tokenOf('alice'));
  const challenge = `Bearer error="invalid_token", error_description="expired: ${SECRET}", resource_metadata="https://elsewhere.example/"`;
  const answer = { status: 401, headers: { 'www-authenticate': challenge }, type: 'text/plain', body: 'no' };
  rig.upstream.fault('tools/call', { answer });
  const refused = await client.start('tools/call', { name: 'echo', arguments: {} }).answer;
  const body = await refused.json();
  assert.deepEqual([refused.status, body.error?.code], [200, 5021]);
  assert.equal(refused.headers['www-authenticate'], undefined);
  assert.ok(!JSON.stringify(body).includes('elsewhere'));
  const line = await rig.gateway.logged(({ msg }) => msg === 'could not sign in to a server');
  assert.deepEqual([line.server, line.auth, line.reason], ['faulty', 'bearer', 'server-refused']);
  assert.match(String(line.problem), /answered 401: invalid_token: expired/);
  for (let again = 1; again < 2 * PROCESSES; again += 1) {
    await client.ask('tools/call', { name: 'echo', arguments: {} });
  }
  const lines = rig.gateway.logs.filter(({ msg }) => msg === 'could not sign in to a server');
  assert.equal(lines.length, PROCESSES, 'one line a minute');
  const metrics = await (await fetch(`${rig.gateway.adminUrl}/metrics`)).text();
  const counted = 'portico_credential_failures_total{server="faulty",type="bearer",reason="server-refused"}';
  assert.ok(metrics.includes(`${counted} ${2 * PROCESSES}`));
});

test('a token endpoint that is down is 5021 with a hint, and is not hammered', async (t) => {
  const endpoint = await startTokenEndpoint(t);
  const rig = await startCredentialsRig(t, { auth: exchangeAt(endpoint) });
  endpoint.answer = () => ({ status: 503, body: { error: 'temporarily_unavailable' } });
  for (const subject of ['alice', 'bob', 'cal']) {
    await using client = rig.modern(rig.tokenOf(subject));
    const { error } = await client.ask('tools/call', { name: 'echo', arguments: {} });
    assert.equal(error?.code, 5021);
    const { retryAfterMs = 0 } = (error?.data ?? {}) as { retryAfterMs?: number };
    assert.ok(retryAfterMs > 0);
  }
  assert.equal(endpoint.asked.length, PROCESSES);
});

test('an identity names the caller to one server, for a short time', async (t) => {
  const rig = await startCredentialsRig(t, {
    auth: (url) => ({ type: 'identity', audience: url }),
    gateway: { identity: { key: pemOf('EdDSA'), next: [], previous: [] } },
  });
  const of = async (token: string) => {
    await using client = rig.modern(token);
    const headers = JSON.parse(await client.tool('headers')) as Record<string, string>;
    return claimsOf(headers.authorization ?? '');
  };
  const alice = await of(rig.tokenOf('alice', { groups: ['eng'] }));
  assert.deepEqual(
    [alice.iss, alice.aud, alice.sub, alice.groups, alice.client_id, alice.idp],
    ['http://127.0.0.1', rig.upstream.url, 'alice', ['eng'], 'app', rig.issuer.issuer],
  );
  assert.equal(Number(alice.exp) - Number(alice.iat), 300);
  const bob = await of(rig.tokenOf('bob', { lifetimeSeconds: 30 }));
  assert.equal(bob.sub, 'bob');
  assert.ok(Number(bob.exp) - Number(bob.iat) <= 30, 'never for longer than the caller is signed in');
  assert.notEqual(alice.jti, bob.jti);
});
