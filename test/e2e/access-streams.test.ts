// What is open is authorized again: events of streams one by one, streams that are taken up again, retries of calls.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  accessOf,
  authOf,
  keyOf,
  type People,
  type RuleText,
  startAccessRig,
} from '../support/access-rig.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import type { RawAnswer } from '../support/raw-answer.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { ModernClient, type RawSession } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';

const PUBLIC = 'file:///srv/public/a.txt';
const SECRET = 'file:///srv/secret/plan.txt';
const UPDATED = 'notifications/resources/updated';

const RULES: Readonly<Record<string, RuleText>> = {
  readers: {
    when: { groups: ['readers'] },
    allow: ['library/read_*', 'library/resources/file:///srv/public/**'],
  },
  editors: { when: { groups: ['editors'] }, allow: ['library'] },
};
/** One person before and after the loss of a group, and with a fresh key that changes nothing. */
const PEOPLE: People = {
  ann: { groups: ['readers', 'editors'] },
  'ann-again': { groups: ['readers', 'editors'], is: 'ann' },
  'ann-later': { groups: ['readers'], is: 'ann' },
};

/** Said by the server in this order; the last one is for everybody, so that the end is known. */
const EVENTS: readonly (readonly [method: string, params: Members])[] = [
  [UPDATED, { uri: SECRET }],
  ['notifications/prompts/list_changed', {}],
  ['notifications/com.example/gossip', { about: SECRET }],
  [UPDATED, { uri: PUBLIC }],
  ['notifications/resources/list_changed', {}],
  [UPDATED, { uri: 'file:///srv/public/../secret/plan.txt' }],
  ['notifications/tools/list_changed', {}],
];
const HEARD_BY_READERS = [
  UPDATED,
  'notifications/resources/list_changed',
  'notifications/tools/list_changed',
];

for (const server of ['modern', 'legacy'] as const) {
  test(`a listen of a modern client on a ${server} server hears what its caller may`, async (t) => {
    const rig = await startAccessRig(t, { era: server, rules: RULES, people: PEOPLE });
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: [SECRET, PUBLIC, 'file:///srv/public/../secret/plan.txt'],
    };
    const listening = await rig.modern('ann-later').start('subscriptions/listen', { notifications }).answer;
    const agreed = (await listening.message())?.params?.notifications as Members;
    assert.deepEqual(agreed, {
      toolsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: [PUBLIC],
    });
    assert.ok(!rig.library.wasAsked('resources/subscribe', SECRET));
    assert.ok(!rig.library.wasAsked('subscriptions/listen', SECRET));
    await rig.library.untilStreams(server === 'legacy' ? 2 : 1);
    for (const [method, params] of EVENTS) rig.library.announce(method, params);
    const heard = await untilToolsChanged(listening);
    assert.deepEqual([...new Set(heard.map(({ method }) => method))].sort(), [...HEARD_BY_READERS].sort());
    for (const { params } of heard.filter(({ method }) => method === UPDATED))
      assert.equal(params?.uri, PUBLIC);
    listening.abort();
  });
}

test("a legacy client's GET stream carries what its caller may hear", async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', rules: RULES, people: PEOPLE });
  const session = await rig.legacy('ann-later');
  await session.tool('read_book');
  const stream = await session.listen();
  await rig.library.untilStreams(2);
  for (const [method, params] of EVENTS) rig.library.announce(method, params);
  const heard = await untilToolsChanged(stream);
  assert.deepEqual(
    heard.map(({ method, params }) => params?.uri ?? method),
    [PUBLIC, 'notifications/resources/list_changed', 'notifications/tools/list_changed'],
  );
  stream.abort();
});

for (const server of ['modern', 'legacy'] as const) {
  for (const client of ['modern', 'legacy'] as const) {
    test(`what a ${server} server says during a call is judged too: ${client} client`, async (t) => {
      const rules = {
        ...RULES,
        readers: { ...RULES.readers, allow: [...(RULES.readers?.allow ?? []), 'library/gossip'] },
      };
      const rig = await startAccessRig(t, { era: server, rules, people: PEOPLE });
      const asker = client === 'modern' ? rig.modern('ann-later') : await rig.legacy('ann-later');
      const answer = await asker.start('tools/call', { name: 'gossip' }).answer;
      const { before, response } = await answer.whole();
      assert.ok(response.result);
      assert.deepEqual(
        before.map(({ params }) => params?.uri),
        [PUBLIC],
      );
    });
  }
}

test('what is held for a client that is away is judged when it comes back', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', rules: RULES, people: PEOPLE });
  const before = await rig.legacy('ann');
  await before.tool('read_book');
  const stream = await before.listen();
  await rig.library.untilStreams(2);
  rig.library.announce('notifications/tools/list_changed');
  const first = await stream.event();
  stream.abort();
  await rig.library.untilStreams(2);
  for (const [method, params] of EVENTS) rig.library.announce(method, params);
  const later = await rig.modern('ann-later').send({
    method: 'GET',
    headers: { ...before.headers, 'last-event-id': first?.id ?? '' },
  });
  const heard = await untilToolsChanged(later);
  assert.ok(!JSON.stringify(heard).includes(SECRET));
  assert.ok(heard.some(({ params }) => params?.uri === PUBLIC));
  later.abort();
});

for (const [key, method, params, isReread] of [
  ['ann', 'tools/call', { name: 'slow' }, true],
  ['ann-again', 'tools/call', { name: 'slow' }, true],
  ['ann-later', 'tools/call', { name: 'slow' }, false],
] as const) {
  test(`a call's broken stream, taken up again with the key of ${key}, ${isReread ? 'goes on' : 'is not there'}`, async (t) => {
    const rig = await startAccessRig(t, { era: 'legacy', rules: RULES, people: PEOPLE });
    const session = await rig.legacy('ann');
    const { lastEventId } = await breakOff(session, rig.library, method, params);
    rig.library.release();
    const resumed = await resume(session, key, lastEventId);
    if (isReread) {
      const { response } = await resumed.whole();
      assert.match(JSON.stringify(response.result), /slow was used/);
    } else {
      assert.equal(resumed.status, 400);
      assert.ok(!(await resumed.text()).includes('slow was used'));
    }
  });
}

test('whoever gained a scope meanwhile still gets the result of the call that was made before', async (t) => {
  const people = { ann: {}, 'ann-later': { is: 'ann', scopes: ['mcp', 'more'] } };
  const rig = await startAccessRig(t, { era: 'legacy', rules: { all: { allow: ['library'] } }, people });
  const session = await rig.legacy('ann');
  const { lastEventId } = await breakOff(session, rig.library, 'tools/call', { name: 'slow' });
  rig.library.release();
  const resumed = await resume(session, 'ann-later', lastEventId);
  assert.match(JSON.stringify((await resumed.whole()).response.result), /slow was used/);
});

for (const era of ['modern', 'legacy'] as const) {
  test(`a retry with answers is authorized again: ${era} server`, async (t) => {
    const { url, server } = await startAsking(t, era);
    const capabilities = { elicitation: { form: {} } };
    await using before = new ModernClient(url, { ...keyOf('ann'), capabilities });
    await using later = new ModernClient(url, { ...keyOf('ann-later'), capabilities });
    const call = { name: 'ask', arguments: {} };
    const { result } = await before.ask('tools/call', call);
    assert.equal(result?.resultType, 'input_required');
    const [key = ''] = Object.keys(result?.inputRequests ?? {});
    const retry = {
      ...call,
      requestState: result?.requestState,
      inputResponses: { [key]: { action: 'accept', content: { name: 'ann' } } },
    };
    const calls = () => server.received.filter(({ message }) => message?.method === 'tools/call').length;
    const callsBefore = calls();
    const refused = await later.ask('tools/call', retry);
    assert.deepEqual(refused.error, { code: -32602, message: 'Unknown tool' });
    assert.equal(calls(), callsBefore, 'the server heard nothing of it');
    const done = await before.ask('tools/call', retry);
    assert.match(JSON.stringify(done.result), /ann/);
  });
}

async function startAsking(t: TestContext, era: 'modern' | 'legacy') {
  const server = await startFaultyHttpServer({ era });
  const rules = {
    readers: { when: { groups: ['readers'] }, allow: ['faulty/echo'] },
    editors: { when: { groups: ['editors'] }, allow: ['faulty/ask'] },
  };
  const gateway = await startGateway({
    http: { url: server.url },
    gateway: { auth: authOf(PEOPLE), access: accessOf(rules) },
  });
  t.after(() => gateway.close().finally(() => server.close()));
  return { url: gateway.url, server };
}

/** Makes a call on an event stream and cuts the connection once the client knows an event of it. */
async function breakOff(
  session: RawSession,
  library: { hold(): void; untilCalled(name: string): Promise<void> },
  method: string,
  params: Members,
): Promise<{ lastEventId: string }> {
  library.hold();
  const exchange = session.start(method, params, { headers: { accept: 'text/event-stream' } });
  const answer = await exchange.answer;
  const primed = await answer.event();
  await library.untilCalled(String(params.name));
  exchange.abort();
  await exchange.closed;
  assert.ok(primed?.id);
  return { lastEventId: primed.id };
}

async function resume(session: RawSession, key: string, lastEventId: string): Promise<RawAnswer> {
  const headers = { ...session.headers, ...keyOf(key).headers, 'last-event-id': lastEventId };
  return session.send({ method: 'GET', headers });
}

async function untilToolsChanged(stream: RawAnswer): Promise<Message[]> {
  const heard: Message[] = [];
  for (;;) {
    const message = await stream.message();
    if (message === undefined) throw new Error(`the stream ended after ${JSON.stringify(heard)}`);
    heard.push(message);
    if (message.method === 'notifications/tools/list_changed') return heard;
  }
}
