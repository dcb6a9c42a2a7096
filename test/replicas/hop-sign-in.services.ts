// What a caller signed in with stays where it came in, and what it opened over a hop ends with it all the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModernClient, openSession, through } from '../support/raw-session.ts';
import { startPair } from '../support/replica-pair.ts';
import { bearer, tokenFrom } from '../support/sign-in-rig.ts';
import { signingKey, startTokenIssuer } from '../support/token-issuer.ts';

test('streams and subscriptions that live elsewhere end with the token that opened them', async (t) => {
  const issuer = await startTokenIssuer(t);
  const key = signingKey('ES256', 'k');
  issuer.keys = [key];
  const auth = { issuers: [issuer.config()], apiKeys: [], scopesSupported: [], requiredScopes: [] };
  const stdio = { switches: ['--era=legacy'] };
  const { a, b } = await startPair(t, { stdio, gateway: { auth } });
  const endsAt = Math.ceil(Date.now() / 1000) + 2;
  const caller = bearer(tokenFrom(issuer, key, { exp: endsAt }));
  const params = { notifications: { resourceSubscriptions: ['faulty://one'] } };
  await using session = await openSession(a, caller);
  const stream = await through(b, session, caller).listen();
  assert.equal(stream.status, 200);
  // One of the two is the home of both.
  await using atA = new ModernClient(a, caller);
  await using atB = new ModernClient(b, caller);
  const listens = [atA, atB].map((client) => client.start('subscriptions/listen', params).answer);
  for (const listen of await Promise.all(listens)) {
    const { response } = await listen.whole();
    assert.equal(response.result?.resultType, 'complete');
  }
  assert.equal(await stream.ended(), true);
  assert.ok(Date.now() >= endsAt * 1000);
});
