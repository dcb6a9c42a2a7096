// What ends an open stream: its token does, or the key that vouched for it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { CredentialWatch } from '../../../src/access/sign-in/credential-watch.ts';
import { abortSignalOf } from '../../../src/runtime/stop.ts';
import { signingKey, signToken } from '../../support/token-issuer.ts';
import { startRig } from './sign-in-rig.ts';

const VOUCHED = { signedIn: { isVouchedFor: () => true } };

test('a watch ends at the time of its credential, and not before', async (t) => {
  const watches = new CredentialWatch(Date.now);
  const done = new AbortController();
  const letGo = t.mock.method(done.signal, 'removeEventListener');
  const expiresAtMs = Date.now() + 60;
  const over = watches.watch({ ...VOUCHED, expiresAtMs }, done.signal);
  assert.equal(over.aborted, false);
  await once(abortSignalOf(over), 'abort');
  assert.ok(Date.now() >= expiresAtMs);
  assert.equal(watches.size, 0);
  assert.equal(letGo.mock.callCount(), 1, 'it waits for the end of the stream no more');
});

test('a credential that is over already ends its watch at once', () => {
  const watches = new CredentialWatch(() => 1_000);
  const over = watches.watch({ ...VOUCHED, expiresAtMs: 1_000 }, new AbortController().signal);
  assert.equal(over.aborted, true);
  assert.equal(watches.size, 0);
});

test('an end beyond what timers can wait for is not now', async () => {
  const watches = new CredentialWatch(Date.now);
  const done = new AbortController();
  const over = watches.watch({ ...VOUCHED, expiresAtMs: Date.now() + 2 ** 40 }, done.signal);
  const forever = watches.watch({ ...VOUCHED, expiresAtMs: undefined }, done.signal);
  // A timer that overflowed would fire after a millisecond.
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([over.aborted, forever.aborted, watches.size], [false, false, 2]);
  done.abort();
  assert.deepEqual([over.aborted, forever.aborted, watches.size], [false, false, 0]);
});

test('a stream that is closed already is not watched', () => {
  const watches = new CredentialWatch(Date.now);
  const done = AbortSignal.abort();
  assert.equal(watches.watch({ ...VOUCHED, expiresAtMs: undefined }, done).aborted, false);
  assert.equal(watches.size, 0);
});

test('F51 a key that leaves the set ends the streams of its tokens, and no others', async (t) => {
  const rig = await startRig(t);
  const second = signingKey('EdDSA', 'second');
  rig.issuer.keys = [rig.key, second];
  const done = new AbortController();
  const watch = async (token: string) => rig.authenticator.watch(await rig.signIn(token), done.signal);
  const first = await watch(rig.token());
  const other = await watch(signToken(second, { typ: 'at+jwt', alg: 'EdDSA', kid: 'second' }, rig.claims()));
  rig.issuer.keys = [second];
  // Noticed because somebody comes with a key that is not there.
  const ended = once(abortSignalOf(first), 'abort');
  assert.equal(await rig.verdict(rig.token({}, { kid: 'third' })), 'token-invalid/token_key_unknown');
  await ended;
  assert.equal(other.aborted, false);
  done.abort();
});

test('F51 a withdrawn key is noticed though nobody signs in', async (t) => {
  const rig = await startRig(t, { timing: { freshMs: 50 } });
  const done = new AbortController();
  const over = rig.authenticator.watch(await rig.signIn(rig.token()), done.signal);
  rig.issuer.keys = [signingKey('ES256', 'second')];
  const ended = once(abortSignalOf(over), 'abort');
  rig.clock.nowMs += 1_000;
  await ended;
  done.abort();
});

test('an authenticator that gives way ends everything that it let in', async (t) => {
  const rig = await startRig(t);
  const over = rig.authenticator.watch(await rig.signIn(rig.token()), new AbortController().signal);
  rig.authenticator.close();
  assert.equal(over.aborted, true);
});
