// What changes after somebody has signed in: groups, keys, scopes. By scripted HTTP, so that it runs everywhere;
// sign-in-browser.services.ts has the same with a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PEOPLE, type Person } from '../demo-auth/people.ts';
import { type DemoGateway, startDemo } from '../support/demo-gateway.ts';
import { OAuthClient } from '../support/oauth-client.ts';
import { browse } from '../support/scripted-sign-in.ts';

const [ADA, BOB] = PEOPLE as [Person, Person];
const BOBS_TOOLS = ['echo', 'get-structured-content', 'get-sum'];
const MODES = ['legacy', 'modern'] as const;

async function signIn({ gateway, idp }: DemoGateway, mode: 'legacy' | 'modern', { name, password }: Person) {
  const client = new OAuthClient({ url: gateway.url, mode });
  const address = await client.connect();
  assert.ok(address !== undefined);
  await client.finish((await browse(idp, address.href, name, password)).searchParams);
  assert.equal(await client.connect(), undefined);
  return client;
}

for (const mode of MODES) {
  test(`groups count from the next token on, in the session that is open (${mode})`, async () => {
    await using demo = await startDemo();
    demo.users.bob = ['sales', 'eng'];
    await using bob = await signIn(demo, mode, BOB);
    const { sessionId } = bob;
    assert.ok((await bob.tools()).includes('get-env'));
    demo.users.bob = ['sales'];
    assert.ok((await bob.tools()).includes('get-env'), 'a token says what it says until it ends');
    bob.wearOut();
    assert.deepEqual(await bob.tools(), BOBS_TOOLS);
    await assert.rejects(bob.call('get-env'), { code: -32602 });
    demo.users.bob = [];
    bob.wearOut();
    await assert.rejects(bob.tools(), /4041/);
    demo.users.bob = ['sales'];
    bob.wearOut();
    assert.deepEqual(await bob.tools(), BOBS_TOOLS);
    assert.equal(bob.sessionId, sessionId);
  });

  test(`F51 a withdrawn key counts at once; the client refreshes and goes on in its session (${mode})`, async () => {
    await using demo = await startDemo();
    await using ada = await signIn(demo, mode, ADA);
    const { sessionId } = ada;
    const first = ada.keychain.saved?.access_token;
    assert.match(await ada.call('echo', { message: 'before' }), /before/);
    demo.idp.rotateKeys();
    await using bob = await signIn(demo, mode, BOB);
    assert.deepEqual(await bob.tools(), BOBS_TOOLS);
    assert.match(await ada.call('echo', { message: 'after' }), /after/);
    assert.notEqual(ada.keychain.saved?.access_token, first);
    assert.equal(ada.sessionId, sessionId);
  });

  test(`F50 one wider consent is enough, and a narrower token asks again (${mode})`, async () => {
    await using demo = await startDemo();
    await using ada = await signIn(demo, mode, ADA);
    const { sessionId } = ada;
    const narrow = ada.keychain.saved;
    const wider = await ada.callWithoutConsent('get-env');
    assert.equal(wider.searchParams.get('resource'), demo.gateway.url);
    await ada.finish((await browse(demo.idp, wider.href, ADA.name, ADA.password)).searchParams);
    assert.match(await ada.call('get-env'), /PATH/);
    assert.match(await ada.call('echo', { message: 'still' }), /still/);
    ada.wearOut();
    assert.match(await ada.call('get-env'), /PATH/);
    assert.equal(ada.sessionId, sessionId);
    ada.keychain.saved = narrow;
    assert.ok(await ada.callWithoutConsent('get-env'));
  });
}
