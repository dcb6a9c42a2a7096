// Who has been looked at before is recognized without waiting, by the same rules as at first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../src/errors.ts';
import { RESOURCE, type Rig, startRig } from './sign-in-rig.ts';

function recognize({ authenticator }: Rig, token: string, view?: string): unknown {
  const attempt = { authorization: [`Bearer ${token}`], tokenInQuery: false, view };
  try {
    return authenticator.recognize(attempt);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return `${thrown.code}/${thrown.details.reason ?? ''}`;
  }
}

test('a token is recognized once it has been verified, until it has expired', async (t) => {
  const rig = await startRig(t);
  const token = rig.token();
  assert.equal(recognize(rig, token), undefined);
  const principal = await rig.signIn(token);
  assert.equal(recognize(rig, token), principal);
  assert.equal(recognize(rig, `${token.slice(0, -2)}AA`), undefined);
  rig.clock.nowMs += 3_600_000;
  assert.equal(recognize(rig, token), undefined);
});

test('a token for one view is recognized there, and refused elsewhere', async (t) => {
  const rig = await startRig(t);
  const token = rig.token({ aud: `${RESOURCE}/docs` });
  const principal = await rig.signIn(token, 'docs');
  assert.equal(recognize(rig, token, 'docs'), principal);
  for (const view of [undefined, 'other'])
    assert.match(String(recognize(rig, token, view)), /^token-invalid\//);
});

test('a request without a token, or with one in two places, is refused at once', async (t) => {
  const { authenticator } = await startRig(t);
  const attempt = { authorization: undefined, tokenInQuery: false, view: undefined };
  assert.throws(() => authenticator.recognize(attempt), { code: 'token-missing' });
  assert.throws(() => authenticator.recognize({ ...attempt, tokenInQuery: true }), { code: 'token-invalid' });
});

test('a token that is known is recognized however its scheme is spelled, and refused where it is not alone', async (t) => {
  const rig = await startRig(t);
  const { authenticator } = rig;
  const token = rig.token();
  const principal = await rig.signIn(token);
  const attempt = { authorization: [`Bearer ${token}`], tokenInQuery: false, view: undefined };
  for (const written of [`bearer ${token}`, `BEARER   ${token}`]) {
    assert.equal(authenticator.recognize({ ...attempt, authorization: [written] }), principal, written);
  }
  const twice = { ...attempt, authorization: [`Bearer ${token}`, `Bearer ${token}`] };
  for (const refused of [twice, { ...attempt, tokenInQuery: true }]) {
    assert.throws(() => authenticator.recognize(refused), { code: 'token-invalid' });
  }
  assert.equal(authenticator.recognize({ ...attempt, authorization: [`Bearer ${token},`] }), undefined);
});
