// Keys for machines, known by their hash.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { principalKey } from '../../../src/access/principal.ts';
import { startRig } from './sign-in-rig.ts';

const KEY = 'sk-5f1d9c1e-b6a5';

function entry(name: string, key: string, scopes: readonly string[] = ['mcp']) {
  return { name, sha256: createHash('sha256').update(key).digest('hex'), scopes, groups: ['bots'] };
}

test('a key is a principal of its own, opens every view, and has no end', async (t) => {
  const rig = await startRig(t, { auth: { apiKeys: [entry('other', 'x'), entry('ci', KEY)] } });
  const principal = await rig.signIn(KEY, 'docs');
  assert.deepEqual(
    [principal.subject, principal.clientId, principal.scopes, principal.groups, principal.expiresAtMs],
    ['ci', 'ci', ['mcp'], ['bots'], undefined],
  );
  assert.equal(principal.tokenId, createHash('sha256').update(KEY).digest('base64url'));
  assert.equal(await rig.verdict(KEY), 'ok');
  // No issuer can name itself so: issuers are URLs.
  assert.ok(!URL.canParse(principal.issuer) || !/^https?:/.test(principal.issuer));
  assert.notEqual(
    principalKey(principal),
    principalKey(await rig.signIn(rig.token({ sub: 'ci', client_id: 'ci' }))),
  );
});

test('what is nearly a key is none, and its hash neither', async (t) => {
  const rig = await startRig(t, { auth: { issuers: [], apiKeys: [entry('ci', KEY)] } });
  for (const token of [`${KEY}x`, KEY.slice(0, -1), KEY.toUpperCase(), entry('ci', KEY).sha256]) {
    assert.equal(await rig.verdict(token), 'token-invalid/token_opaque');
  }
});

test('F50 a key without a required scope is refused like a token', async (t) => {
  const rig = await startRig(t, {
    auth: { apiKeys: [entry('ci', KEY, ['other'])], requiredScopes: ['mcp'] },
  });
  assert.equal(await rig.verdict(KEY), 'scope-insufficient/required_scopes');
});

test('with keys alone there is nowhere to sign in, so the challenge points nowhere', async (t) => {
  const rig = await startRig(t, { auth: { issuers: [], apiKeys: [entry('ci', KEY)] } });
  assert.equal(rig.authenticator.metadata(undefined), undefined);
  assert.equal(rig.authenticator.challenge({ kind: 'missing_token', view: 'docs' }), 'Bearer');
  assert.equal(
    rig.authenticator.challenge({ kind: 'invalid_token', view: undefined }),
    'Bearer error="invalid_token"',
  );
});
