// What becomes of open streams when what opened them is worth nothing any more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { bearer, refusal, startSetup, tokenFrom } from '../support/sign-in-rig.ts';
import { signingKey, startTokenIssuer } from '../support/token-issuer.ts';

const LISTEN = { notifications: { toolsListChanged: true } };

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
