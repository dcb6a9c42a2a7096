// What clients notice of a reload: rights count at once, streams hear of it and carry what is allowed by then.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AccessRig,
  accessOf,
  authOf,
  type People,
  type RuleText,
  startAccessRig,
} from '../support/access-rig.ts';
import { eventually } from '../support/eventually.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { startLibrary } from '../support/library-server.ts';
import type { RawAnswer } from '../support/raw-answer.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';
import { faultyConfig } from '../support/stdio-rig.ts';
import { signingKey, signToken, startTokenIssuer } from '../support/token-issuer.ts';

const ERAS = ['modern', 'legacy'] as const;
const PUBLIC = 'file:///srv/public/a.txt';
const SECRET = 'file:///srv/secret/plan.txt';
const UPDATED = 'notifications/resources/updated';
const TOOLS_CHANGED = 'notifications/tools/list_changed';
const PEOPLE: People = { ann: {}, ben: {} };
const ALL: Readonly<Record<string, RuleText>> = { all: { allow: ['library'] } };
const LESS: Readonly<Record<string, RuleText>> = {
  less: { allow: ['library/read_*', 'library/resources/file:///srv/public/**'] },
};

/** An open stream of a client of either era, for whatever the server says of its own accord. */
async function openStream(rig: AccessRig, era: (typeof ERAS)[number]): Promise<RawAnswer> {
  if (era === 'legacy') {
    const session = await rig.legacy('ann');
    await session.tool('read_book');
    const stream = await session.listen();
    await rig.library.untilStreams(2);
    return stream;
  }
  const notifications = { toolsListChanged: true, resourceSubscriptions: [SECRET, PUBLIC] };
  const stream = await rig.modern('ann').start('subscriptions/listen', { notifications }).answer;
  assert.equal((await stream.message())?.method, 'notifications/subscriptions/acknowledged');
  return stream;
}

async function heardUntil(stream: RawAnswer, isLast: (message: Message) => boolean): Promise<Message[]> {
  const heard: Message[] = [];
  for (;;) {
    const message = await stream.message();
    if (message === undefined) throw new Error(`the stream ended after ${JSON.stringify(heard)}`);
    heard.push(message);
    if (isLast(message)) return heard;
  }
}

for (const era of ERAS) {
  test(`an open stream is told that lists may have changed, and carries what is allowed by then: ${era} client`, async (t) => {
    const rig = await startAccessRig(t, { era, rules: ALL, people: PEOPLE });
    const stream = await openStream(rig, era);
    rig.library.announce(UPDATED, { uri: SECRET });
    assert.equal((await stream.message())?.params?.uri, SECRET);
    assert.equal(await rig.gateway.reload({ gateway: { access: accessOf(LESS) } }), 'applied');
    rig.library.announce(UPDATED, { uri: SECRET });
    rig.library.announce(UPDATED, { uri: PUBLIC });
    const heard = await heardUntil(stream, ({ params }) => params?.uri === PUBLIC);
    assert.ok(heard.some(({ method }) => method === TOOLS_CHANGED));
    assert.ok(!heard.some(({ params }) => params?.uri === SECRET));
    await rig.gateway.reload({ gateway: { access: accessOf(ALL) } });
    rig.library.announce(UPDATED, { uri: SECRET });
    await heardUntil(stream, ({ params }) => params?.uri === SECRET);
    stream.abort();
  });

  test(`rules count from the next request on, in a session that is open too: ${era} client`, async (t) => {
    const rig = await startAccessRig(t, { era: 'modern', rules: ALL, people: PEOPLE });
    const asker = await rig.asks('ann', era);
    const call: Members = { name: 'write_book', arguments: {} };
    assert.ok((await asker.ask('tools/call', call)).result);
    await rig.gateway.reload({ gateway: { access: accessOf(LESS) } });
    assert.equal((await asker.ask('tools/call', call)).error?.code, -32602);
    const tools = (await asker.ask('tools/list')).result?.tools as { name: string }[];
    assert.ok(tools.every(({ name }) => name.startsWith('read_')));
    await rig.gateway.reload({ gateway: { access: accessOf({ none: { allow: ['other'] } }) } });
    assert.equal((await asker.ask('tools/list')).error?.code, 4041);
  });

  test(`a key that is gone opens nothing, and ends its stream at once: ${era} client`, async (t) => {
    const rig = await startAccessRig(t, { era, rules: ALL, people: PEOPLE });
    const asker = await rig.asks('ann', era);
    assert.ok((await asker.ask('tools/list')).result);
    const stream = await openStream(rig, era);
    await rig.gateway.reload({ gateway: { auth: authOf({ ben: {} }) } });
    if (era === 'legacy') assert.equal(await stream.ended(), true);
    else assert.equal((await stream.whole()).response.result?.resultType, 'complete');
    assert.equal((await asker.ask('tools/list')).error?.code, 4010);
    const other = await rig.asks('ben', era);
    assert.ok((await other.ask('tools/list')).result);
  });

  test(`a reload of auth counts at once for cached tokens: ${era} client`, async (t) => {
    const [library, issuer, key] = [
      await startLibrary('modern'),
      await startTokenIssuer(t),
      signingKey('ES256', 'k'),
    ];
    issuer.keys = [key];
    const auth = { ...authOf({}), issuers: [issuer.config()] };
    const gateway = await startGateway({
      servers: [httpServerConfig(library.url, { slug: 'library', name: 'library' })],
      gateway: { auth, access: accessOf(ALL) },
    });
    t.after(() => gateway.close().finally(() => library[Symbol.asyncDispose]()));
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer.issuer,
      aud: 'http://127.0.0.1/mcp',
      sub: 'ann',
      client_id: 'app',
      scope: 'mcp',
    };
    const token = signToken(
      key,
      { typ: 'at+jwt', alg: 'ES256', kid: 'k' },
      { ...claims, iat: now, exp: now + 600 },
    );
    const options = { headers: { authorization: `Bearer ${token}` } };
    await using asker =
      era === 'modern' ? new ModernClient(gateway.url, options) : await openSession(gateway.url, options);
    assert.ok((await asker.ask('tools/list')).result);
    await gateway.reload({ gateway: { auth: { ...auth, requiredScopes: ['mcp', 'more'] } } });
    assert.equal((await asker.ask('tools/list')).error?.code, 4030);
    await gateway.reload({ gateway: { auth } });
    assert.ok((await asker.ask('tools/list')).result, 'a session survives what its caller could not use');
    await gateway.reload({
      gateway: { auth: { ...auth, issuers: [issuer.config({ issuer: `${issuer.issuer}/x` })] } },
    });
    assert.equal((await asker.ask('tools/list')).error?.code, 4010);
  });
}

test('a listen ends with its completion result when its server is replaced, after word of the change', async (t) => {
  const rig = await startAccessRig(t, { era: 'modern', rules: ALL, people: PEOPLE });
  const listening = await rig
    .modern('ann')
    .start('subscriptions/listen', { notifications: { toolsListChanged: true } }, { id: '"sub"' }).answer;
  const changed = httpServerConfig(rig.library.url, {
    slug: 'library',
    name: 'library',
    headers: { 'x-new': 'yes' },
  });
  await rig.gateway.reload({ servers: [changed] });
  const { before, response } = await listening.whole();
  assert.deepEqual(
    before.map(({ method }) => method),
    ['notifications/subscriptions/acknowledged', TOOLS_CHANGED],
  );
  assert.equal((response.result as Members).resultType, 'complete');
  assert.equal(response.id, 'sub');
});

for (const [used, goesOn] of [
  [false, true],
  [true, false],
] as const) {
  test(`a session whose server is replaced ${goesOn ? 'goes on' : 'is unknown'} where the server had ${used ? 'a link of its own' : 'not seen it'}`, async (t) => {
    const rig = await startAccessRig(t, { era: 'legacy', rules: ALL, people: PEOPLE });
    const session = await rig.legacy('ann');
    if (used) await session.tool('read_book');
    const stream = await session.listen();
    const changed = { slug: 'library', name: 'library', headers: { 'x-new': 'yes' } };
    await rig.gateway.reload({ servers: [httpServerConfig(rig.library.url, changed)] });
    if (goesOn) {
      assert.equal((await stream.message())?.method, TOOLS_CHANGED);
      assert.match(await session.tool('read_book'), /read_book/);
      assert.equal((await rig.gateway.status()).sessions, 1);
    } else {
      assert.equal(await stream.ended(), true);
      assert.equal((await session.ask('tools/list')).error?.code, 4040);
      assert.equal((await rig.gateway.status()).sessions, 0);
    }
    stream.abort();
  });
}

test('a call of a session whose server is replaced comes to its end, on its link and over its stream', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', rules: ALL, people: PEOPLE });
  const session = await rig.legacy('ann');
  rig.library.hold();
  const call = session.tool('slow');
  await rig.library.untilCalled('slow');
  const changed = { slug: 'library', name: 'library', headers: { 'x-new': 'yes' } };
  await rig.gateway.reload({ servers: [httpServerConfig(rig.library.url, changed)] });
  assert.equal((await session.ask('tools/list')).error?.code, 4040);
  rig.library.release();
  assert.match(await call, /slow/);
});

test('a call that waits for its client while its server is replaced is answered when the client comes back', async (t) => {
  const asking = faultyConfig(['--era=legacy'], { slug: 'asking', name: 'asking' });
  const gateway = await startGateway({ servers: [asking] });
  t.after(() => gateway.close());
  await using client = new ModernClient(`${gateway.url}/asking`, {
    capabilities: { elicitation: { form: {} } },
  });
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
  const question = { method: 'elicitation/create', params: { message: 'Your name?', requestedSchema } };
  const call = { name: 'ask', arguments: question };
  const { result } = await client.ask('tools/call', call);
  assert.equal(result?.resultType, 'input_required');
  await gateway.reload({ servers: [{ ...asking, env: { COLOUR: 'blue' } }] });
  const [key = ''] = Object.keys(result?.inputRequests ?? {});
  const inputResponses = { [key]: { action: 'accept', content: { name: 'ann' } } };
  const done = await client.ask('tools/call', {
    ...call,
    requestState: result?.requestState,
    inputResponses,
  });
  assert.match(JSON.stringify(done.result), /ann/, JSON.stringify(done));
});

test('a session of several servers listens to no server that was removed, and to the next where one was replaced', async (t) => {
  const [library, other] = [await startLibrary('modern'), await startLibrary('modern')];
  const servers = (url: string | undefined) => [
    httpServerConfig(other.url, { slug: 'other', name: 'other' }),
    ...(url === undefined ? [] : [httpServerConfig(url, { slug: 'library', name: 'library' })]),
  ];
  const gateway = await startGateway({ servers: servers(library.url) });
  const next = await startLibrary('modern');
  t.after(async () => {
    await gateway.close();
    for (const each of [library, other, next]) await each[Symbol.asyncDispose]();
  });
  await using session = await openSession(gateway.url);
  const stream = await session.listen();
  assert.ok((await session.ask('resources/subscribe', { uri: `library+${PUBLIC}` })).result);
  await gateway.reload({ servers: servers(next.url) });
  await heardUntil(stream, ({ params }) => params?.uri === `library+${PUBLIC}`);
  await eventually('the one before is let go of', () => library.streams === 0);
  next.announce(UPDATED, { uri: PUBLIC });
  await heardUntil(stream, ({ params }) => params?.uri === `library+${PUBLIC}`);
  await gateway.reload({ servers: servers(undefined) });
  await eventually('what is removed is let go of', () => next.streams === 0);
  stream.abort();
});
