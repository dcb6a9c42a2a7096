// Opaque tokens, whose issuer is asked on a real socket.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Trouble } from '../../support/token-issuer.ts';
import { RESOURCE, type Rig, type RigOptions, startRig } from './sign-in-rig.ts';

type Claims = Readonly<Record<string, unknown>>;

const CLIENT_ID = 'portico:1';
const CLIENT_SECRET = 'p%ss wörd';

/** A rig whose issuer knows `good`, with these claims. */
async function startOpaqueRig(
  t: Parameters<typeof startRig>[0],
  claims: Claims = {},
  options: RigOptions = {},
) {
  const rig: Rig = await startRig(t, options);
  rig.issuer.introspect = (token) =>
    token === 'good' ? { active: true, ...rig.claims(claims) } : { active: false };
  return rig;
}

/** The issuer's address is known only once it listens, so it is asked through one that stands in for it. */
async function startAskingRig(
  t: Parameters<typeof startRig>[0],
  claims: Claims = {},
  options: RigOptions = {},
) {
  const asked = await startOpaqueRig(t, claims);
  const introspection = {
    endpoint: `${asked.issuer.issuer}/introspect`,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
  };
  const config = asked.issuer.config({ introspection });
  const rig = await startRig(t, { ...options, auth: { issuers: [config], ...options.auth } });
  return { rig, issuer: asked.issuer };
}

test('an active token becomes a principal; the question is asked as RFC 7662 has it', async (t) => {
  const { rig, issuer } = await startAskingRig(t, { groups: ['eng'] });
  const principal = await rig.signIn('good');
  assert.deepEqual(
    [principal.issuer, principal.subject, principal.clientId, principal.scopes, principal.groups],
    [issuer.issuer, 'alice', 'app', ['mcp'], ['eng']],
  );
  assert.deepEqual(
    [...(issuer.introspected?.form ?? [])],
    [
      ['token', 'good'],
      ['token_type_hint', 'access_token'],
    ],
  );
  // Form-encoded before it is Basic (RFC 6749, section 2.3.1).
  const credentials = issuer.introspected?.authorization?.replace(/^Basic /, '') ?? '';
  assert.equal(Buffer.from(credentials, 'base64').toString(), 'portico%3A1:p%25ss+w%C3%B6rd');
  assert.equal(issuer.asked.keys, 0);
});

const REFUSED: readonly [string, Claims, string][] = [
  ['not active', { active: false }, 'token_inactive'],
  ['active as a text', { active: 'true' }, 'token_inactive'],
  ['active as a number', { active: 1 }, 'token_inactive'],
  ['no audience', { aud: undefined }, 'token_audience'],
  ['another audience', { aud: ['https://other.example'] }, 'token_audience'],
  ['another issuer', { iss: 'https://other.example' }, 'token_issuer'],
  ['no subject', { sub: undefined }, 'token_subject'],
  ['at its end', { exp: 1 }, 'token_expired'],
  ['an end that is a text', { exp: '9999999999' }, 'token_times'],
  ['not yet', { nbf: 99_999_999_999 }, 'token_not_yet'],
  ['bound to a certificate', { cnf: { 'x5t#S256': 'x' } }, 'token_bound'],
  ['bound by DPoP', { token_type: 'DPoP' }, 'token_bound'],
  ['no token for resources', { token_type: 'N_A' }, 'token_bound'],
  ["a refresh token, in its provider's words", { typ: 'Refresh' }, 'token_kind'],
];

test('F49 what an issuer says of a token is checked like a token', async (t) => {
  for (const [name, claims, reason] of REFUSED) {
    await t.test(name, async (t) => {
      const { rig } = await startAskingRig(t, claims);
      assert.equal(await rig.verdict('good'), `token-invalid/${reason}`);
    });
  }
});

test('an answer counts for a while, a yes as well as a no, and never past the end of the token', async (t) => {
  const { rig, issuer } = await startAskingRig(t, { exp: Math.floor(Date.now() / 1000) + 20 });
  for (let round = 1; round <= 2; round += 1) {
    assert.equal(await rig.verdict('good'), 'ok');
    assert.equal(await rig.verdict('bad'), 'token-invalid/token_inactive');
    assert.equal(await rig.verdict('good'), 'ok');
    assert.equal(await rig.verdict('bad'), 'token-invalid/token_inactive');
    assert.equal(issuer.asked.introspection, round * 2);
    rig.clock.nowMs += 15_000;
  }
  // Over by now, but for the difference that clocks may have: nothing is remembered any more.
  assert.equal(await rig.verdict('good'), 'ok');
  assert.equal(await rig.verdict('good'), 'ok');
  assert.equal(issuer.asked.introspection, 6);
  rig.clock.nowMs += 30_000;
  assert.equal(await rig.verdict('good'), 'token-invalid/token_expired');
});

test('a token revoked at its issuer is refused once its answer has aged', async (t) => {
  const { rig, issuer } = await startAskingRig(t);
  assert.equal(await rig.verdict('good'), 'ok');
  issuer.introspect = () => ({ active: false });
  rig.clock.nowMs += 15_000;
  assert.equal(await rig.verdict('good'), 'token-invalid/token_inactive');
});

test('an issuer that does not say when a token ends gives it an hour', async (t) => {
  const { rig } = await startAskingRig(t, { exp: undefined });
  assert.equal((await rig.signIn('good')).expiresAtMs, rig.clock.nowMs + 3_600_000);
});

test('everyone who waits shares one question; too many different ones are 503', async (t) => {
  const { rig, issuer } = await startAskingRig(t);
  const same = await Promise.all(Array.from({ length: 40 }, () => rig.verdict('good')));
  assert.deepEqual([...new Set(same)], ['ok']);
  assert.equal(issuer.asked.introspection, 1);
  const made = await Promise.all(Array.from({ length: 100 }, (_, index) => rig.verdict(`made-up-${index}`)));
  const counts = Map.groupBy(made, (verdict) => verdict);
  assert.equal(counts.get('token-invalid/token_inactive')?.length, 64);
  assert.equal(counts.get('issuer-unavailable/introspection_busy')?.length, 36);
});

for (const trouble of ['html', 'error', 'empty', 'redirect', 'endless', 'cut'] as const satisfies Trouble[]) {
  test(`an issuer that cannot be asked (${trouble}) is 503, and what is known still counts`, async (t) => {
    const { rig, issuer } = await startAskingRig(t);
    assert.equal(await rig.verdict('good'), 'ok');
    issuer.introspectionTrouble = trouble;
    assert.equal(await rig.verdict('other'), 'issuer-unavailable/introspection');
    assert.equal(await rig.verdict('good'), 'ok');
    issuer.introspectionTrouble = 'none';
    assert.equal(await rig.verdict('other'), 'token-invalid/token_inactive');
    const logs = rig.logs.join('');
    assert.match(logs, /an issuer cannot be asked about tokens/);
    assert.match(logs, /an issuer answers about tokens again/);
    assert.ok(!logs.includes('Basic'));
  });
}

test('a JWT is never asked about, an API key neither', async (t) => {
  const { createHash } = await import('node:crypto');
  const sha256 = createHash('sha256').update('machine').digest('hex');
  const { rig, issuer } = await startAskingRig(
    t,
    {},
    {
      auth: { apiKeys: [{ name: 'ci', sha256, scopes: ['mcp'], groups: [] }] },
    },
  );
  assert.equal(await rig.verdict(rig.token()), 'token-invalid/token_issuer');
  assert.equal(await rig.verdict('machine'), 'ok');
  assert.equal(issuer.asked.introspection, 0);
});

test('an opaque token for one view opens that view alone', async (t) => {
  const { rig } = await startAskingRig(t, { aud: `${RESOURCE}/docs` });
  assert.equal(await rig.verdict('good', 'docs'), 'ok');
  assert.equal(await rig.verdict('good'), 'token-invalid/token_view');
});
