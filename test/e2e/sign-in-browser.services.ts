// Sign-in as people do it: the official client's own OAuth code, a real browser, a real authorization server, and the
// demo's two people, of whom each sees tools of their own.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PEOPLE, type Person } from '../demo-auth/people.ts';
import { type DemoGateway, startDemo } from '../support/demo-gateway.ts';
import { OAuthClient } from '../support/oauth-client.ts';
import { type PersonAtBrowser, sitDown, startBrowser } from '../support/person-at-browser.ts';

const [ADA, BOB] = PEOPLE as [Person, Person];
const BOBS_TOOLS = ['echo', 'get-structured-content', 'get-sum'];
const MODES = ['legacy', 'modern'] as const;
type Mode = (typeof MODES)[number];

const browser = await startBrowser();
after(() => browser.close());

interface Signing extends AsyncDisposable {
  readonly client: OAuthClient;
  readonly person: PersonAtBrowser;
}

async function newClient({ gateway }: DemoGateway, mode: Mode): Promise<Signing> {
  const person = await sitDown(browser);
  const client = new OAuthClient({ url: gateway.url, mode, redirectUrl: person.redirectUrl });
  return {
    client,
    person,
    async [Symbol.asyncDispose]() {
      await using _person = person;
      await client[Symbol.asyncDispose]();
    },
  };
}

/** From the first 401 to the open connection. */
async function signIn(demo: DemoGateway, mode: Mode, who: Person): Promise<Signing> {
  const signing = await newClient(demo, mode);
  const { client, person } = signing;
  const address = await client.connect();
  assert.ok(address !== undefined);
  await person.open(address);
  await person.signIn(who);
  await client.finish(await person.answer('Allow'));
  assert.equal(await client.connect(), undefined);
  return signing;
}

for (const mode of MODES) {
  test(`a ${mode} client finds by itself where to sign in, registers, and waits for the browser`, async () => {
    await using demo = await startDemo();
    await using signing = await newClient(demo, mode);
    const { client, person } = signing;
    const address = await client.connect();
    assert.ok(address !== undefined);
    assert.equal(address.origin, demo.idp.issuer);
    assert.equal(client.keychain.registrations, 1);
    const asked = Object.fromEntries(address.searchParams);
    assert.equal(asked.resource, demo.gateway.url);
    assert.equal(asked.code_challenge_method, 'S256');
    assert.deepEqual(asked.scope?.split(' '), ['mcp', 'offline_access']);

    await person.open(address);
    await person.signIn({ ...ADA, password: 'a guess' });
    assert.match(await person.asked(), /No such user, or not this password/);
    await person.signIn(ADA);
    const question = await person.asked();
    for (const part of [/A client of its own/, new URL(person.redirectUrl).host, 'mcp', demo.gateway.url]) {
      assert.match(question, new RegExp(part));
    }
    const answer = await person.answer('Allow');
    assert.equal(answer.get('iss'), demo.idp.issuer);
    await client.finish(answer);
    assert.equal(await client.connect(), undefined);
    assert.match(await client.call('echo', { message: 'signed in' }), /signed in/);
    assert.equal(client.sessionId === undefined, mode === 'modern');
  });

  test(`whoever says no in the browser stays outside (${mode})`, async () => {
    await using demo = await startDemo();
    await using signing = await newClient(demo, mode);
    const { client, person } = signing;
    const address = await client.connect();
    assert.ok(address !== undefined);
    await person.open(address);
    await person.signIn(ADA);
    const answer = await person.answer('Deny');
    assert.equal(answer.get('error'), 'access_denied');
    await assert.rejects(client.finish(answer));
    assert.ok((await client.connect()) !== undefined);
  });

  test(`two people, each with a browser of their own, see tools of their own (${mode})`, async () => {
    await using demo = await startDemo();
    await using ada = await signIn(demo, mode, ADA);
    await using bob = await signIn(demo, mode, BOB);
    const adas = await ada.client.tools();
    assert.ok(adas.length > BOBS_TOOLS.length && adas.includes('get-env'), adas.join());
    assert.deepEqual(await bob.client.tools(), BOBS_TOOLS);
    assert.deepEqual(await ada.client.tools(), adas);
    assert.match(await bob.client.call('get-sum', { a: 2, b: 3 }), /5/);
    // What is hidden is as if it did not exist.
    const [hidden, absent] = await Promise.all(
      ['get-env', 'no-such-tool'].map((name) =>
        bob.client.call(name).then(
          () => assert.fail(`${name} was called`),
          ({ code, message }: { code: number; message: string }) => ({ code, message }),
        ),
      ),
    );
    assert.deepEqual(hidden, absent);
  });

  test(`a call that needs more asks for a wider consent, once (${mode})`, async () => {
    await using demo = await startDemo();
    await using signing = await signIn(demo, mode, ADA);
    const { client, person } = signing;
    const { sessionId } = client;
    const address = await client.callWithoutConsent('get-env');
    assert.deepEqual(address.searchParams.get('scope')?.split(' ').sort(), [
      'mcp',
      'mcp:admin',
      'offline_access',
    ]);
    assert.equal(client.keychain.registrations, 1);
    // Known to the authorization server by now, she only has to say yes.
    await person.open(address);
    assert.match(await person.asked(), /mcp:admin new/);
    await client.finish(await person.answer('Allow'));
    assert.match(await client.call('get-env'), /PATH/);
    assert.match(await client.call('echo', { message: 'still' }), /still/);
    assert.equal(client.sessionId, sessionId);
  });

  test(`who refuses the wider consent keeps what there was (${mode})`, async () => {
    await using demo = await startDemo();
    await using signing = await signIn(demo, mode, ADA);
    const { client, person } = signing;
    await person.open(await client.callWithoutConsent('get-env'));
    await assert.rejects(client.finish(await person.answer('Deny')));
    assert.match(await client.call('echo', { message: 'still' }), /still/);
    assert.ok(await client.callWithoutConsent('get-env'));
  });

  test(`F51 a withdrawn signing key counts at once, and the client goes on with a new token (${mode})`, async () => {
    await using demo = await startDemo();
    await using ada = await signIn(demo, mode, ADA);
    const { sessionId } = ada.client;
    assert.match(await ada.client.call('echo', { message: 'before' }), /before/);
    const first = ada.client.keychain.saved?.access_token;
    demo.idp.rotateKeys();
    // Bob's token is the first of the new key, and so how the gateway hears of it.
    await using bob = await signIn(demo, mode, BOB);
    assert.deepEqual(await bob.client.tools(), BOBS_TOOLS);
    assert.match(await ada.client.call('echo', { message: 'after' }), /after/);
    assert.notEqual(ada.client.keychain.saved?.access_token, first);
    assert.equal(ada.client.sessionId, sessionId);
    const refused = demo.gateway.logs.filter(({ reason }) => String(reason).startsWith('token_'));
    assert.deepEqual([...new Set(refused.map(({ reason }) => reason))], ['token_key_unknown']);
  });

  test(`who loses a group sees less from the next token on, in the same session (${mode})`, async () => {
    await using demo = await startDemo();
    demo.users.bob = ['sales', 'eng'];
    await using signing = await signIn(demo, mode, BOB);
    const { client } = signing;
    const { sessionId } = client;
    assert.ok((await client.tools()).includes('get-env'));
    demo.users.bob = ['sales'];
    client.wearOut();
    assert.deepEqual(await client.tools(), BOBS_TOOLS);
    await assert.rejects(client.call('get-tiny-image'), { code: -32602 });
    assert.equal(client.sessionId, sessionId);
    demo.users.bob = [];
    client.wearOut();
    await assert.rejects(client.call('echo', { message: 'x' }), /4041/);
    demo.users.bob = ['sales'];
    client.wearOut();
    assert.match(await client.call('echo', { message: 'again' }), /again/);
    assert.equal(client.sessionId, sessionId);
  });
}

test('a token that runs out is refreshed in the middle, and nobody notices', async () => {
  await using demo = await startDemo({ accessTokenSeconds: 1 });
  await using legacy = await signIn(demo, 'legacy', ADA);
  await using modern = await signIn(demo, 'modern', ADA);
  const clients = [legacy.client, modern.client];
  const before = clients.map(({ keychain, sessionId }) => [keychain.saved?.access_token, sessionId]);
  // Its second, and the 30 that clocks may differ by.
  await new Promise((resolve) => setTimeout(resolve, 32_000));
  for (const [index, client] of clients.entries()) {
    assert.match(await client.call('echo', { message: 'refreshed' }), /refreshed/);
    const [token, sessionId] = before[index] ?? [];
    assert.notEqual(client.keychain.saved?.access_token, token);
    assert.equal(client.sessionId, sessionId);
  }
});
