// What of a caller reaches the server behind the gateway: nothing (F52).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { signIn } from '../support/scripted-sign-in.ts';
import { issuerOf, RESOURCE, startIdp, startSetup } from '../support/sign-in-rig.ts';

/** All that a client may send of its own, none of it a server's business. */
function indiscreetCaller(token: string) {
  return {
    headers: {
      authorization: `Bearer ${token}`,
      cookie: 'sid=cookie-of-the-caller',
      'proxy-authorization': 'Basic proxy-of-the-caller',
      'x-api-key': 'key-of-the-caller',
      'x-forwarded-for': '203.0.113.7',
      forwarded: 'for=203.0.113.7',
    },
  };
}

const CREDENTIALS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  none: {},
  'a bearer token': { Authorization: 'Bearer our-own-credential' },
  'a header': { 'X-Api-Key': 'our-own-credential' },
};

for (const [name, headers] of Object.entries(CREDENTIALS)) {
  test(`F52 nothing that a caller sends about itself reaches a server whose credential is ${name}`, async (t) => {
    const idp = await startIdp(t);
    const { access_token: token } = await signIn(idp, { login: 'alice', resource: RESOURCE });
    const options = { secrets: [token], server: { headers } };
    const { gateway, upstream } = await startSetup(t, { issuers: [issuerOf(idp)] }, options);
    await using modern = new ModernClient(gateway.url, indiscreetCaller(token));
    const echoed = JSON.parse(await modern.tool('headers')) as Record<string, string>;
    await using legacy = await openSession(gateway.url, indiscreetCaller(token));
    await legacy.tool('headers');
    (await legacy.listen()).abort();
    assert.equal(await legacy.delete(), 204);

    assert.deepEqual(
      ['authorization', 'x-api-key', 'cookie', 'proxy-authorization'].map((header) => echoed[header]),
      [headers.Authorization, headers['X-Api-Key'], undefined, undefined],
    );
    const received = JSON.stringify(
      upstream.received.map(({ headers, path, body }) => ({ headers, path, body })),
    );
    for (const secret of [token, 'of-the-caller', '203.0.113.7'])
      assert.ok(!received.includes(secret), secret);
  });
}

test('F52 a server that redirects elsewhere takes nothing of the caller along', async (t) => {
  const idp = await startIdp(t);
  const { access_token: token } = await signIn(idp, { login: 'alice', resource: RESOURCE });
  const elsewhere = await startFaultyHttpServer();
  t.after(() => elsewhere.close());
  const redirecting = await startFaultyHttpServer();
  t.after(() => redirecting.close());
  const query = new URLSearchParams({ status: '307', to: elsewhere.url });
  const server = {
    url: `${redirecting.origin}/elsewhere?${query}`,
    headers: { 'X-Api-Key': 'our-own-credential' },
  };
  const { gateway } = await startSetup(t, { issuers: [issuerOf(idp)] }, { server });
  await using client = new ModernClient(gateway.url, indiscreetCaller(token));
  const { error } = await client.ask('tools/call', { name: 'headers' });
  assert.equal(error?.code, 5020);
  const received = JSON.stringify(elsewhere.received.map(({ headers, body }) => ({ headers, body })));
  for (const secret of [token, 'of-the-caller', 'our-own-credential'])
    assert.ok(!received.includes(secret), secret);
});
