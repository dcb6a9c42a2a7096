// Where credentials come from, against a token endpoint on a real socket: what it is asked, what its answers mean, how
// long they count, and what a link does with them.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ServerAuthConfig } from '../../../src/config/server-auth-config.ts';
import type { Caller } from '../../../src/servers/credentials/caller.ts';
import { CallerToken } from '../../../src/servers/credentials/caller-token.ts';
import { CredentialFailure } from '../../../src/servers/credentials/credential.ts';
import { createSource } from '../../../src/servers/credentials/credentials.ts';
import { IssuerNames } from '../../../src/servers/credentials/issuer-names.ts';
import { LinkCredential } from '../../../src/servers/credentials/link-credential.ts';
import { createFetchJson } from '../../../src/servers/http/fetch-json.ts';
import { createOutbound } from '../../../src/servers/http/outbound.ts';
import { failure, legacyRig, modernRig, sseRig } from '../../support/http-rig.ts';
import { CLIENT, startTokenEndpoint, type TokenEndpoint } from '../../support/token-endpoint.ts';

const SECOND = 1_000;

interface Rig {
  readonly endpoint: TokenEndpoint;
  readonly source: ReturnType<typeof createSource>;
  get(caller?: Caller): Promise<string>;
  pass(ms: number): void;
  readonly now: number;
}

type Endpoint = Extract<ServerAuthConfig, { type: 'token_exchange' | 'client_credentials' }>;

async function rig(t: TestContext, type: Endpoint['type'], changes: Partial<Endpoint> = {}): Promise<Rig> {
  const endpoint = await startTokenEndpoint(t);
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  t.after(() => outbound.close());
  let now = Date.now();
  const auth = {
    tokenUrl: endpoint.url,
    ...CLIENT,
    clientAuth: 'basic',
    scopes: [],
    resource: undefined,
    audience: undefined,
    ...changes,
    type,
  } as Endpoint;
  const options = {
    fetchJson: createFetchJson(outbound),
    now: () => now,
    signer: undefined,
    issuers: new IssuerNames(undefined),
    timing: { freshMs: 0 },
  };
  const source = createSource(auth, 'docs', options);
  return {
    endpoint,
    source,
    get: async (caller) => (await source.credentialFor(caller)).token,
    pass(ms) {
      now += ms;
    },
    get now() {
      return now;
    },
  };
}

function caller(subject: string, changes: Partial<Caller> = {}): Caller {
  const claims = Buffer.from(JSON.stringify({ sub: subject, scope: 'mcp' })).toString('base64url');
  return {
    key: `["https://idp.example","${subject}","app"]`,
    issuer: 'https://idp.example',
    subject,
    clientId: 'app',
    scopes: ['mcp'],
    groups: [],
    expiresAtMs: undefined,
    token: () => new CallerToken(`e30.${claims}.`),
    ...changes,
  };
}

const BASIC = `Basic ${Buffer.from('portico%3A1:secret-of+the%2Fclient').toString('base64')}`;

test('a client shows its secret as it is told to, and asks for what it is told to', async (t) => {
  const cases: { changes: Partial<Endpoint>; authorization?: string; form: Record<string, string> }[] = [
    { changes: { scopes: ['a', 'b'] }, authorization: BASIC, form: { scope: 'a b' } },
    {
      changes: { clientAuth: 'post', resource: 'https://x.example/' },
      form: {
        resource: 'https://x.example/',
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
      },
    },
    {
      changes: { clientSecret: undefined, audience: 'x' },
      form: { audience: 'x', client_id: CLIENT.clientId },
    },
  ];
  for (const { changes, authorization, form } of cases) {
    const { endpoint, get } = await rig(t, 'client_credentials', changes);
    await get();
    const [asked] = endpoint.asked;
    assert.equal(asked?.headers.authorization, authorization);
    assert.deepEqual(Object.fromEntries(asked?.form ?? []), { grant_type: 'client_credentials', ...form });
  }
});

test('what an endpoint answers other than a bearer token is a failure in words for the operator', async (t) => {
  const token = { access_token: 'abc', token_type: 'Bearer' };
  const secret = 'eyJhbGciOiJub25lIn0eyJhbGciOiJub25lIn0';
  const cases: [number, object | string, CredentialFailure['reason'], RegExp][] = [
    [
      400,
      { error: 'invalid_grant', error_description: `no\n<${secret}>` },
      'endpoint-refused',
      /invalid_grant: no/,
    ],
    [401, 'nothing', 'endpoint-refused', /status 401/],
    [429, {}, 'endpoint-unavailable', /429/],
    [500, { error: 'x' }, 'endpoint-unavailable', /500/],
    [302, token, 'endpoint-unavailable', /redirect, which is not followed/],
    [307, token, 'endpoint-unavailable', /redirect, which is not followed/],
    [200, 'html', 'endpoint-answer', /without a token/],
    [200, { ...token, access_token: 'a b' }, 'endpoint-answer', /without a token/],
    [200, { ...token, access_token: 'a\r\nX: y' }, 'endpoint-answer', /without a token/],
    [200, { ...token, access_token: 'a'.repeat(20_000) }, 'endpoint-answer', /without a token/],
    [200, { ...token, token_type: 'DPoP' }, 'endpoint-answer', /DPoP/],
    [200, { ...token, token_type: 'N_A' }, 'endpoint-answer', /N_A/],
    [200, { access_token: 'abc' }, 'endpoint-answer', /of no type/],
  ];
  for (const [status, body, reason, words] of cases) {
    const { endpoint, get } = await rig(t, 'client_credentials');
    endpoint.answer = () => ({ status, body });
    await assert.rejects(get(), (thrown) => {
      assert.ok(thrown instanceof CredentialFailure, String(thrown));
      assert.equal(thrown.reason, reason, words.source);
      assert.match(thrown.message, words);
      assert.ok(!thrown.message.includes(secret));
      return true;
    });
    assert.equal(endpoint.asked.length, 1);
  }
});

test('an endpoint that is not there is a failure, and is asked again after a pause', async (t) => {
  const { endpoint, get, pass } = await rig(t, 'client_credentials');
  await endpoint.down();
  await assert.rejects(get(), (thrown) => thrown instanceof CredentialFailure);
  await endpoint.up();
  await assert.rejects(get(), /cannot be asked/);
  pass(1_000);
  assert.match(await get(), /^upstream/);
});

test('a token without a stated life counts for a minute', async (t) => {
  const { endpoint, source } = await rig(t, 'client_credentials');
  endpoint.expiresIn = undefined;
  const before = Date.now();
  const { expiresAtMs = 0 } = await source.credentialFor(undefined);
  assert.ok(expiresAtMs >= before && expiresAtMs <= Date.now() + 60 * SECOND);
});

test("an exchanged token ends with the caller's own, and a caller whose sign-in is over gets none", async (t) => {
  const { endpoint, source, get, pass, now } = await rig(t, 'token_exchange');
  endpoint.expiresIn = 86_400;
  const alice = caller('alice', { expiresAtMs: now + 30 * SECOND });
  assert.equal((await source.credentialFor(alice)).expiresAtMs, alice.expiresAtMs);
  pass(29 * SECOND);
  const later = caller('alice', { expiresAtMs: now + 600 * SECOND });
  await get(later);
  assert.equal(endpoint.issued.length, 2, 'the first is about to end');
  pass(1 * SECOND);
  await assert.rejects(get(alice), /sign-in of the caller is over/);
});

test('nobody, and who came without a token, is exchanged for nothing', async (t) => {
  const { endpoint, get } = await rig(t, 'token_exchange');
  await assert.rejects(get(undefined), CredentialFailure);
  await assert.rejects(get(caller('ci', { token: () => undefined })), /nothing that could be exchanged/);
  assert.equal(endpoint.asked.length, 0);
});

test('what another replica has got for a caller is shown to the server that it is for, while it is good', async (t) => {
  const { endpoint, get, pass, now } = await rig(t, 'token_exchange');
  const token = () => undefined;
  const credential = { token: 'got-elsewhere', expiresAtMs: now + 60 * SECOND };
  const handedOver = (server: string) => (server === 'docs' ? credential : undefined);
  assert.equal(await get(caller('ann', { token, handedOver })), 'got-elsewhere');
  assert.equal(endpoint.asked.length, 0);
  assert.equal(await get(caller('ann', { token })), 'got-elsewhere', 'kept as one of our own would be');
  pass(61 * SECOND);
  await assert.rejects(get(caller('ann', { token, handedOver: () => undefined })), { reason: 'no-caller' });
});

test('the token of a caller shows in no text that is made of it', () => {
  const token = new CallerToken('a-very-secret-token');
  const held = { caller: caller('alice', { token: () => token }), token };
  for (const text of [JSON.stringify(held), `${token}`, String(Object.entries(token))]) {
    assert.ok(!text.includes('secret'), text);
  }
});

for (const [wire, open] of [
  ['modern', modernRig],
  ['legacy', legacyRig],
  ['HTTP+SSE', sseRig],
] as const) {
  test(`a server that answers 401 gets the call once more with another token (${wire})`, async (t) => {
    const { endpoint, source, pass } = await rig(t, 'client_credentials');
    const reports: CredentialFailure[] = [];
    const credential = new LinkCredential({ source, report: (problem) => reports.push(problem) });
    const { server, text, tool } = await open(t, { credential });
    assert.equal(await text('echo', { text: 'first' }), 'first');
    assert.equal(endpoint.issued.length, 1);
    pass(1);
    const refusal = { answer: { status: 401, type: 'text/plain', body: 'no' } };
    server.fault('tools/call', refusal, 1);
    assert.equal(await text('echo', { text: 'again' }), 'again');
    assert.equal(endpoint.issued.length, 2);
    assert.equal(reports.length, 0);
    pass(1);
    server.fault('tools/call', refusal, 2);
    await assert.rejects(tool('echo'), failure('credential-refused', 'http-status'));
    assert.deepEqual(
      reports.map(({ reason }) => reason),
      ['server-refused'],
    );
    assert.equal(endpoint.issued.length, 3, 'once, and not again');
    endpoint.answer = () => ({ status: 400, body: { error: 'invalid_client' } });
    pass(1);
    server.fault('tools/call', refusal, 1);
    await assert.rejects(tool('echo'), failure('credential-refused', 'endpoint-refused'));
  });
}
