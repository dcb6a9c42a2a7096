// F51: signing keys rotate, or the key endpoint is down.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { metadataUrls } from '../../../src/access/sign-in/issuer-metadata.ts';
import { abortSignalOf } from '../../../src/runtime/stop.ts';
import { eventually } from '../../support/eventually.ts';
import { shortRsaKey, signingKey, signToken, type Trouble } from '../../support/token-issuer.ts';
import { startRig } from './sign-in-rig.ts';

test('F51 a token with a new kid is accepted at once after a rotation, and the old key with it no more', async (t) => {
  const rig = await startRig(t);
  const old = rig.token();
  assert.equal(await rig.verdict(old), 'ok');
  const second = signingKey('EdDSA', 'second');
  rig.issuer.keys = [second];
  const fresh = signToken(second, { typ: 'at+jwt', alg: 'EdDSA', kid: 'second' }, rig.claims());
  assert.equal(await rig.verdict(fresh), 'ok');
  assert.equal(rig.issuer.asked.keys, 2);
  // It was cached: its key has left the set.
  assert.equal(await rig.verdict(old), 'token-invalid/token_key_unknown');
});

test('F51 the same kid with a new key counts as a new key', async (t) => {
  const rig = await startRig(t);
  const old = rig.token();
  assert.equal(await rig.verdict(old), 'ok');
  const second = signingKey('ES256', 'first');
  rig.issuer.keys = [second];
  const fresh = signToken(second, { typ: 'at+jwt', alg: 'ES256', kid: 'first' }, rig.claims());
  assert.equal(await rig.verdict(fresh), 'ok');
  assert.equal(await rig.verdict(old), 'token-invalid/token_signature');
});

test('F51 a flood of unknown kids costs one fetch a cooldown', async (t) => {
  const rig = await startRig(t, { timing: { missCooldownMs: 10_000 } });
  assert.equal(await rig.verdict(rig.token()), 'ok');
  const flood = async () => {
    const tokens = Array.from({ length: 50 }, (_, index) =>
      rig.token({ jti: index }, { kid: `kid-${index}` }),
    );
    const verdicts = await Promise.all(tokens.map((token) => rig.verdict(token)));
    assert.deepEqual([...new Set(verdicts)], ['token-invalid/token_key_unknown']);
  };
  await flood();
  await flood();
  assert.equal(rig.issuer.asked.keys, 2);
  rig.clock.nowMs += 10_000;
  await flood();
  assert.equal(rig.issuer.asked.keys, 3);
});

test('F51 a flood of bad signatures costs one fetch a cooldown too', async (t) => {
  const rig = await startRig(t);
  const stranger = signingKey('ES256', 'first');
  for (let index = 0; index < 20; index += 1) {
    const forged = signToken(
      stranger,
      { typ: 'at+jwt', alg: 'ES256', kid: 'first' },
      rig.claims({ jti: index }),
    );
    assert.equal(await rig.verdict(forged), 'token-invalid/token_signature');
  }
  assert.equal(rig.issuer.asked.keys, 2);
});

test('F51 a change of keys is told to other replicas, and what they say is not told on', async (t) => {
  const rig = await startRig(t, { timing: { missCooldownMs: 0 } });
  assert.equal(await rig.verdict(rig.token()), 'ok');
  await rig.verdict(rig.token({}, { kid: 'nobody has it' }));
  assert.deepEqual(rig.changed, [], 'the first keys, and the same once more, are no news');
  const second = signingKey('ES256', 'second');
  rig.issuer.keys = [rig.key, second];
  const fresh = signToken(second, { typ: 'at+jwt', alg: 'ES256', kid: 'second' }, rig.claims());
  assert.equal(await rig.verdict(fresh), 'ok');
  assert.deepEqual(rig.changed, [rig.issuer.issuer]);

  const done = new AbortController();
  const over = rig.authenticator.watch(await rig.signIn(rig.token()), done.signal);
  rig.issuer.keys = [second];
  const ended = once(abortSignalOf(over), 'abort');
  rig.authenticator.noteKeysChanged('https://other.example');
  rig.authenticator.noteKeysChanged(rig.issuer.issuer);
  await ended;
  assert.equal(await rig.verdict(rig.token()), 'token-invalid/token_key_unknown');
  assert.deepEqual(rig.changed, [rig.issuer.issuer]);
});

test('F51 a flood of news of keys costs one fetch a cooldown, and no token is refused for it', async (t) => {
  const rig = await startRig(t, { timing: { missCooldownMs: 10_000 } });
  rig.authenticator.noteKeysChanged(rig.issuer.issuer);
  assert.equal(await rig.verdict(rig.token()), 'ok');
  const flood = () => {
    for (let index = 0; index < 200; index += 1) rig.authenticator.noteKeysChanged(rig.issuer.issuer);
  };
  flood();
  await eventually('the keys are fetched again', () => rig.issuer.asked.keys === 2);
  flood();
  // Long enough for a fetch that there must not be.
  await setTimeout(50);
  assert.equal(rig.issuer.asked.keys, 2);
  const second = signingKey('ES256', 'second');
  rig.issuer.keys = [second];
  const fresh = signToken(second, { typ: 'at+jwt', alg: 'ES256', kid: 'second' }, rig.claims());
  assert.equal(await rig.verdict(fresh), 'ok');
  assert.equal(rig.issuer.asked.keys, 3);
});

test('F51 news of keys that may not be fetched yet, or cannot be, is looked into later', async (t) => {
  const rig = await startRig(t, { timing: { missCooldownMs: 50, failureCooldownMs: 0 } });
  const old = rig.token();
  assert.equal(await rig.verdict(old), 'ok');
  rig.issuer.keysTrouble = 'error';
  rig.authenticator.noteKeysChanged(rig.issuer.issuer);
  await eventually('the issuer has failed', () => rig.logs.join('').includes('cannot be fetched'));
  assert.equal(await rig.verdict(old), 'ok');
  rig.issuer.keys = [signingKey('ES256', 'second')];
  rig.issuer.keysTrouble = 'none';
  await eventually('the key is gone', async () => (await rig.verdict(old)) !== 'ok');
  rig.issuer.keys = [rig.key];
  rig.authenticator.noteKeysChanged(rig.issuer.issuer);
  await eventually('the key is back', async () => (await rig.verdict(old)) === 'ok');
});

test('F51 everyone who waits shares one fetch', async (t) => {
  const rig = await startRig(t);
  const tokens = Array.from({ length: 30 }, (_, index) => rig.token({ jti: index }));
  const verdicts = await Promise.all(tokens.map((token) => rig.verdict(token)));
  assert.deepEqual([...new Set(verdicts)], ['ok']);
  assert.deepEqual(rig.issuer.asked, { metadata: 1, keys: 1, introspection: 0 });
});

test('F51 a token without kid is held against every fitting key', async (t) => {
  const rig = await startRig(t);
  const other = signingKey('ES256', 'other');
  const rsa = signingKey('RS256', 'rsa');
  rig.issuer.keys = [rsa, other, rig.key];
  const without = { kid: undefined };
  assert.equal(await rig.verdict(rig.token({}, without)), 'ok');
  assert.equal(await rig.verdict(signToken(rsa, { typ: 'at+jwt', alg: 'RS256' }, rig.claims())), 'ok');
  const stranger = signingKey('ES256');
  const forged = signToken(stranger, { typ: 'at+jwt', alg: 'ES256' }, rig.claims());
  assert.equal(await rig.verdict(forged), 'token-invalid/token_key_unknown');
});

const TROUBLES: readonly Trouble[] = ['html', 'error', 'empty', 'no keys', 'redirect', 'endless', 'cut'];

for (const trouble of TROUBLES) {
  test(`F51 keys that cannot be had (${trouble}) are 503 at first, and the last good ones serve later`, async (t) => {
    const rig = await startRig(t, { timing: { freshMs: 1_000, lastGoodMs: 60_000, failureCooldownMs: 100 } });
    rig.issuer.keysTrouble = trouble;
    assert.equal(await rig.verdict(rig.token()), 'issuer-unavailable/issuer_keys');
    rig.issuer.keysTrouble = 'none';
    rig.clock.nowMs += 100;
    assert.equal(await rig.verdict(rig.token()), 'ok');

    rig.issuer.keysTrouble = trouble;
    rig.clock.nowMs += 2_000;
    const token = rig.token({ jti: 'later' });
    assert.equal(await rig.verdict(token), 'ok');
    // Nobody can tell whether this key exists by now.
    const unknown = rig.token({}, { kid: 'second' });
    assert.equal(await rig.verdict(unknown), 'issuer-unavailable/issuer_keys');
    assert.equal(await rig.verdict(unknown), 'issuer-unavailable/issuer_keys');
    assert.match(rig.logs.join(''), /the keys of an issuer cannot be fetched/);
  });
}

test('F51 an endpoint that is down at boot is asked again, not more often than the cooldown, and nobody gets 401', async (t) => {
  const rig = await startRig(t, { timing: { failureCooldownMs: 2_000 } });
  await rig.issuer.down();
  rig.authenticator.warmUp();
  assert.equal(await rig.verdict(rig.token()), 'issuer-unavailable/issuer_keys');
  await rig.issuer.up();
  assert.equal(await rig.verdict(rig.token()), 'issuer-unavailable/issuer_keys');
  assert.equal(rig.issuer.asked.keys, 0);
  rig.clock.nowMs += 2_000;
  assert.equal(await rig.verdict(rig.token()), 'ok');
  assert.match(rig.logs.join(''), /the keys of an issuer are back/);
});

test('F51 the last good keys serve for a bounded time, also for tokens that are remembered', async (t) => {
  const rig = await startRig(t, { timing: { freshMs: 1_000, lastGoodMs: 5_000, failureCooldownMs: 100 } });
  const token = rig.token();
  assert.equal(await rig.verdict(token), 'ok');
  await rig.issuer.down();
  rig.clock.nowMs += 4_900;
  assert.equal(await rig.verdict(token), 'ok');
  rig.clock.nowMs += 100;
  assert.equal(await rig.verdict(token), 'issuer-unavailable/issuer_keys');
});

test('F51 a slow endpoint holds nobody up who has a known key', async (t) => {
  const rig = await startRig(t, { timing: { freshMs: 1_000, timeoutMs: 200 } });
  assert.equal(await rig.verdict(rig.token()), 'ok');
  rig.issuer.keysTrouble = 'silent';
  rig.clock.nowMs += 1_000;
  const asked = rig.issuer.nextKeysRequest();
  assert.equal(await rig.verdict(rig.token({ jti: 'other' })), 'ok');
  await asked;
  assert.equal(await rig.verdict(rig.token({}, { kid: 'second' })), 'issuer-unavailable/issuer_keys');
});

test('F51 keys that are no signing keys are no keys', async (t) => {
  const rig = await startRig(t);
  const short = shortRsaKey('short');
  const forEncryption = signingKey('ES256', 'enc');
  forEncryption.jwk.use = 'enc';
  const leaked = signingKey('ES256', 'leaked');
  leaked.jwk.d = 'AAAA';
  const pinned = signingKey('RS256', 'pinned');
  rig.issuer.keys = [rig.key, short, forEncryption, leaked, pinned];
  rig.issuer.keys.push({ ...rig.key, jwk: { kty: 'oct', k: 'c2VjcmV0', kid: 'oct' } });
  const signed = (key: typeof short, alg: string) =>
    rig.verdict(signToken(key, { typ: 'at+jwt', alg, kid: key.kid }, rig.claims()));
  assert.equal(await signed(short, 'RS256'), 'token-invalid/token_signature');
  assert.equal(await signed(forEncryption, 'ES256'), 'token-invalid/token_key_unknown');
  assert.equal(await signed(leaked, 'ES256'), 'token-invalid/token_key_unknown');
  // Published for RS256, used for PS256.
  assert.equal(await signed({ ...pinned, algorithm: 'PS256' }, 'PS256'), 'token-invalid/token_signature');
  assert.equal(await signed(pinned, 'RS256'), 'ok');
});

test('metadata is that of the configured issuer, to the letter, or it is none', async (t) => {
  const wrong: [string, (issuer: string) => unknown][] = [
    ['another issuer', () => ({ issuer: 'https://other.example', jwks_uri: 'https://other.example/keys' })],
    ['a slash more', (issuer) => ({ issuer: `${issuer}/`, jwks_uri: `${issuer}/keys` })],
    ['no keys', (issuer) => ({ issuer })],
    ['keys that are no URL', (issuer) => ({ issuer, jwks_uri: 'keys' })],
    ['keys in a file', (issuer) => ({ issuer, jwks_uri: 'file:///etc/passwd' })],
    ['a list', () => []],
  ];
  for (const [name, metadata] of wrong) {
    await t.test(name, async (t) => {
      const rig = await startRig(t);
      rig.issuer.metadata = () => metadata(rig.issuer.issuer);
      assert.equal(await rig.verdict(rig.token()), 'issuer-unavailable/issuer_keys');
      assert.equal(rig.issuer.asked.keys, 0);
    });
  }
});

test('metadata of an https issuer may not lead to keys in the clear', async () => {
  const { jwksUriOf } = await import('../../../src/access/sign-in/issuer-metadata.ts');
  const issuer = 'https://idp.example';
  assert.equal(jwksUriOf({ issuer, jwks_uri: 'https://cdn.example/k' }, issuer), 'https://cdn.example/k');
  assert.throws(() => jwksUriOf({ issuer, jwks_uri: 'http://idp.example/k' }, issuer), /not https/);
});

test('metadata is looked for where MCP clients look for it', () => {
  assert.deepEqual(metadataUrls('https://a.example'), [
    'https://a.example/.well-known/oauth-authorization-server',
    'https://a.example/.well-known/openid-configuration',
  ]);
  assert.deepEqual(metadataUrls('https://a.example/'), metadataUrls('https://a.example'));
  assert.deepEqual(metadataUrls('https://a.example:8443/tenant/v2.0'), [
    'https://a.example:8443/.well-known/oauth-authorization-server/tenant/v2.0',
    'https://a.example:8443/.well-known/openid-configuration/tenant/v2.0',
    'https://a.example:8443/tenant/v2.0/.well-known/openid-configuration',
  ]);
});

test('an issuer with a path is discovered, one with a configured key URL is not', async (t) => {
  const tenant = await startRig(t, { issuerPath: '/tenant' });
  assert.equal(await tenant.verdict(tenant.token()), 'ok');
  assert.equal(tenant.issuer.asked.metadata, 1);
  const fixed = await startRig(t);
  const direct = await startRig(t, {
    issuer: { issuer: 'https://idp.example', jwksUri: `${fixed.issuer.issuer}/keys` },
  });
  fixed.issuer.keys = [direct.key];
  assert.equal(await direct.verdict(direct.token({ iss: 'https://idp.example' })), 'ok');
  assert.equal(direct.issuer.asked.metadata, 0);
});
