// A legacy client and a modern server that needs input: real questions on the call's own stream, the call again with
// their answers, until the server is content.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OPEN_ACCESS } from '../../../src/access/rules/server-access.ts';
import { type BridgeState, type CallToCarry, CarriedCall } from '../../../src/bridge/carried-call.ts';
import { carryWithRounds } from '../../../src/bridge/crossings/input-rounds.ts';
import { LogLanes } from '../../../src/bridge/listening/log-lane.ts';
import { SealedState } from '../../../src/bridge/seals/sealed-state.ts';
import { GatewayError } from '../../../src/errors.ts';
import { NEVER } from '../../../src/runtime/stop.ts';
import type { ServerLink } from '../../../src/servers/server-link.ts';
import { wasNeverAccepted } from '../../../src/servers/was-never-accepted.ts';
import type { FaultyHttpServer } from '../../support/faulty-http-server.ts';
import { type BehindOptions, type HttpBehind, legacyHttpBehind } from '../../support/legacy-http.ts';
import type { RawAnswer } from '../../support/raw-answer.ts';
import type { Members, Message } from '../../support/raw-client.ts';
import { openSession, type RawSession, textOf } from '../../support/raw-session.ts';
import { scriptedLink } from '../../support/scripted-link.ts';
import { startGateway } from '../../support/start-gateway.ts';

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const CALL = 'tools/call:rounds';
const FORM = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Your name?', requestedSchema: {} },
};
const SAMPLE = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } };
const ROOTS = { method: 'roots/list' };
const URL_FORM = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Go', url: 'https://a.example' },
};
const ACCEPTED = { action: 'accept', content: { name: 'Ada' } };
const SAMPLED = { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } };

function modernBehind(t: TestContext, options: BehindOptions = {}): Promise<HttpBehind> {
  const client = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
  return legacyHttpBehind(t, { era: 'modern', ...options, config: { client, ...options.config } });
}

function callWith(
  session: RawSession,
  args: Members,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  return session.start('tools/call', { name: 'rounds', arguments: args }, { id: '"call"', headers }).answer;
}

/** The call's next message, which has to be a question. */
async function question(answer: RawAnswer): Promise<Message> {
  const message = await answer.message();
  assert.ok(message?.method !== undefined && message.id !== undefined, JSON.stringify(message));
  return message;
}

function states(server: FaultyHttpServer): unknown[] {
  return server.requests(CALL).map(({ message }) => message?.params?.requestState);
}

test('each question goes out on the stream of its call, under an id of ours; its answer goes back with the state', async (t) => {
  const { gateway, server } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const listener = await session.listen();
  const answer = await callWith(session, { rounds: [{ name: FORM }, { word: SAMPLE }] });
  const first = await question(answer);
  assert.deepEqual([first.method, first.params], [FORM.method, FORM.params]);
  await session.respond(first.id, { result: ACCEPTED });
  const second = await question(answer);
  assert.deepEqual([second.method, second.params], [SAMPLE.method, SAMPLE.params]);
  assert.notEqual(second.id, first.id);
  await session.respond(second.id, { result: SAMPLED });
  const done = await answer.message();
  assert.equal(done?.id, 'call');
  assert.deepEqual(JSON.parse(textOf(done)), { word: SAMPLED });
  assert.deepEqual(states(server), [undefined, 'round-1', 'round-2']);
  const retry = server.requests(CALL)[1]?.message?.params;
  assert.deepEqual([retry?.inputResponses, retry?.name], [{ name: ACCEPTED }, 'rounds']);
  listener.abort();
});

test('over a pipe as well', async (t) => {
  const gateway = await startGateway({ stdio: { switches: ['--era=modern'] } });
  t.after(() => gateway.close());
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ name: FORM }] });
  await session.respond((await question(answer)).id, { result: ACCEPTED });
  assert.deepEqual(JSON.parse(textOf((await answer.message()) ?? {})), { name: ACCEPTED });
});

for (const [round, name] of [
  [1, 'F03: a call that its server has not begun with may be made again'],
  [
    2,
    'F03: a server that goes away between rounds has begun with the call: it fails, and nobody is asked twice',
  ],
] as const) {
  test(name, async () => {
    const { link, wire } = scriptedLink({ era: 'modern' });
    const carried = carryWithRounds(legacyCall(link));
    if (round > 1) (await wire.nth('tools/call')).answer({ resultType: 'input_required', requestState: 's' });
    const sent = await wire.nth('tools/call', round);
    sent.fail(new GatewayError('server-unavailable', { reason: 'never-sent' }));
    const failed = await carried.then(
      () => assert.fail('nothing was answered'),
      (thrown: unknown) => thrown,
    );
    assert.ok(failed instanceof GatewayError);
    assert.equal(failed.code, 'server-unavailable');
    assert.equal(wasNeverAccepted(failed), round === 1);
  });
}

/** A tool call of a legacy client at a modern server. */
function legacyCall(link: ServerLink): CarriedCall {
  const call = {
    ...{ link, signal: NEVER, output: {}, sessionCall: undefined },
    request: {
      kind: 'request',
      era: 'legacy',
      idText: '1',
      method: 'tools/call',
      params: { name: 'rounds' },
    },
    client: { era: 'legacy', version: '2025-11-25', capabilities: {}, principal: 'ada', access: OPEN_ACCESS },
    server: { slug: 'raw', config: { maxCallTimeMs: 60_000, client: {} } },
  } as unknown as CallToCarry;
  return new CarriedCall(call, {
    state: new SealedState(),
    lanes: new LogLanes(),
    parked: {},
  } as unknown as BridgeState);
}

test('questions of one round are asked side by side, each answer under its own key', async (t) => {
  const { gateway } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ name: FORM, word: SAMPLE, where: ROOTS }] });
  const asked = [await question(answer), await question(answer), await question(answer)];
  const roots = { roots: [{ uri: 'file:///home' }] };
  const answers = new Map<unknown, Members>([
    ['elicitation/create', ACCEPTED],
    ['sampling/createMessage', SAMPLED],
    ['roots/list', roots],
  ]);
  for (const { id, method } of asked.reverse())
    await session.respond(id, { result: answers.get(method) ?? {} });
  assert.deepEqual(JSON.parse(textOf((await answer.message()) ?? {})), {
    name: ACCEPTED,
    word: SAMPLED,
    where: roots,
  });
});

test("a client's error to an elicitation is a cancel to the server", async (t) => {
  const { gateway } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ name: FORM }] });
  await session.respond((await question(answer)).id, { error: { code: -1, message: 'no window' } });
  assert.deepEqual(JSON.parse(textOf((await answer.message()) ?? {})), { name: { action: 'cancel' } });
});

for (const [what, asked] of [
  ['sampling', SAMPLE],
  ['roots', ROOTS],
] as const) {
  test(`a client's error to ${what} ends the call with that error, and takes the other questions back`, async (t) => {
    const { gateway, server } = await modernBehind(t);
    await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
    const answer = await callWith(session, { rounds: [{ name: FORM, other: asked }] });
    const [form, other] = [await question(answer), await question(answer)];
    const error = { code: -1, message: 'user rejected', data: { why: 'not now' } };
    await session.respond(other.id, { error });
    const cancelled = await answer.message();
    assert.equal(cancelled?.method, 'notifications/cancelled');
    assert.equal(cancelled?.params?.requestId, form.id);
    assert.deepEqual((await answer.message())?.error, error);
    // Its answer comes too late for anything.
    assert.equal(await session.respond(form.id, { result: ACCEPTED }), 202);
    assert.equal(server.requests(CALL).length, 1);
  });
}

test('sixteen rounds are as many as there are', async (t) => {
  const { gateway, server } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ name: FORM }], endless: true });
  for (let round = 1; round <= 17; round += 1) {
    await session.respond((await question(answer)).id, { result: ACCEPTED });
    if (round === 17) break;
  }
  assert.equal((await answer.message())?.error?.code, 5020);
  assert.equal(server.requests(CALL).length, 17);
});

test('a state without questions is brought back by itself, ever more slowly', async (t) => {
  const { gateway, server } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const startedAt = performance.now();
  const answer = await (await callWith(session, { rounds: [null, null, null] })).whole();
  assert.equal(textOf(answer.response), 'null');
  assert.deepEqual(states(server), [undefined, 'round-1', 'round-2', 'round-3']);
  assert.ok(performance.now() - startedAt >= 100 + 200 + 400 - 5);
});

test('F26: a call that is cancelled while its question is open: the question is taken back, nothing is retried', async (t) => {
  const { gateway, server } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ name: FORM }] });
  const asked = await question(answer);
  await session.notify('notifications/cancelled', { requestId: 'call', reason: 'enough' });
  const cancelled = await answer.message();
  assert.deepEqual([cancelled?.method, cancelled?.params?.requestId], ['notifications/cancelled', asked.id]);
  assert.equal(await answer.message(), undefined, 'no response follows');
  await session.respond(asked.id, { result: ACCEPTED });
  await session.tool('echo', { text: 'still here' });
  assert.equal(server.requests(CALL).length, 1);
});

test('F04: so it is when the session ends, and the call is answered with that', async (t) => {
  const { gateway, server } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ name: FORM }] });
  await question(answer);
  await session.delete();
  const last = await answer.messages();
  assert.deepEqual(
    last.filter(({ method }) => method === undefined).map(({ id, error }) => [id, error?.code]),
    [['call', 4040]],
  );
  assert.equal(server.requests(CALL).length, 1);
});

test('all rounds together have the time of one call, the questions included', async (t) => {
  const { gateway, server } = await modernBehind(t, { config: { maxCallTimeMs: 300, callTimeoutMs: 200 } });
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ name: FORM }] });
  const asked = await question(answer);
  const cancelled = await answer.message();
  assert.deepEqual([cancelled?.method, cancelled?.params?.requestId], ['notifications/cancelled', asked.id]);
  assert.equal((await answer.message())?.error?.code, 5040);
  assert.equal(server.requests(CALL).length, 1);
});

test('a client that takes no event stream has no features declared for it', async (t) => {
  const { gateway, server } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ name: FORM }] }, { accept: 'application/json' });
  assert.equal((await answer.json()).error?.code, 5020);
  const meta = server.requests(CALL)[0]?.message?.params?._meta as Members;
  assert.deepEqual(meta['io.modelcontextprotocol/clientCapabilities'], {});
});

for (const [what, asked, capabilities] of [
  ['a feature', SAMPLE, { elicitation: {} }],
  ['url, where form alone was meant', URL_FORM, { elicitation: {} }],
  ['tools in a sampling', { ...SAMPLE, params: { ...SAMPLE.params, tools: [] } }, { sampling: {} }],
  ['something that nobody knows', { method: 'dance/now' }, CAPABILITIES],
] as const) {
  test(`a server that asks for what was not declared (${what}) ends its call; the client hears nothing of it`, async (t) => {
    const { gateway } = await modernBehind(t);
    await using session = await openSession(gateway.url, { capabilities });
    const { response, before } = await (await callWith(session, { rounds: [{ name: asked }] })).whole();
    assert.equal(response.error?.code, 5020);
    assert.deepEqual(before, []);
  });
}

test('a URL to visit gets the id that older clients demand, another one each time', async (t) => {
  const { gateway } = await modernBehind(t);
  await using session = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(session, { rounds: [{ one: URL_FORM, two: URL_FORM }] });
  const ids = [(await question(answer)).params, (await question(answer)).params].map((params) => {
    const { elicitationId, ...rest } = params ?? {};
    assert.deepEqual(rest, URL_FORM.params);
    return String(elicitationId);
  });
  assert.match(ids[0] ?? '', /^[\da-f-]{36}$/);
  assert.notEqual(ids[0], ids[1]);
  answer.abort();
});

test('a fixed list of roots is answered here, also for a client that has none', async (t) => {
  const roots = [{ uri: 'file:///srv', name: 'shared' }];
  const client = { roots, sampling: 'allow', elicitation: 'allow' } as const;
  const { gateway } = await modernBehind(t, { config: { client } });
  await using session = await openSession(gateway.url, {});
  const { response, before } = await (await callWith(session, { rounds: [{ where: ROOTS }] })).whole();
  assert.deepEqual(JSON.parse(textOf(response)), { where: { roots } });
  assert.deepEqual(before, []);
});

test('an older client is asked in the words of its revision', async (t) => {
  const { gateway } = await modernBehind(t);
  await using session = await openSession(gateway.url, { version: '2025-06-18', capabilities: CAPABILITIES });
  const color = { oneOf: [{ const: 'r', title: 'Red' }] };
  const form = { ...FORM, params: { ...FORM.params, requestedSchema: { properties: { color } } } };
  const answer = await callWith(session, { rounds: [{ color: form }] });
  const { params } = await question(answer);
  const properties = { color: { enum: ['r'], enumNames: ['Red'] } };
  assert.deepEqual(params?.requestedSchema, { properties });
  answer.abort();
});

const colorsForm = (property: Members) => ({
  ...FORM,
  params: { ...FORM.params, requestedSchema: { type: 'object', properties: { colors: property } } },
});

test('several choices of one field are asked one by one of an older client, and answered as one field', async (t) => {
  const { gateway } = await modernBehind(t);
  await using session = await openSession(gateway.url, { version: '2025-06-18', capabilities: CAPABILITIES });
  const colors = { type: 'array', items: { type: 'string', enum: ['red', 'green'] } };
  const answer = await callWith(session, { rounds: [{ q: colorsForm(colors) }] });
  const asked = await question(answer);
  const { properties = {} } = (asked.params?.requestedSchema ?? {}) as { properties?: Members };
  assert.deepEqual(Object.keys(properties), ['colors.1', 'colors.2']);
  await session.respond(asked.id, { result: { action: 'accept', content: { 'colors.2': true } } });
  const done = JSON.parse(textOf((await answer.message()) ?? {}));
  assert.deepEqual(done, { q: { action: 'accept', content: { colors: ['green'] } } });
});

test('what an older client has no words for ends the call, and it is not asked', async (t) => {
  const { gateway } = await modernBehind(t);
  await using session = await openSession(gateway.url, { version: '2025-06-18', capabilities: CAPABILITIES });
  const rounds = [{ q: colorsForm({ type: 'array', items: { type: 'string' } }) }];
  const { response, before } = await (await callWith(session, { rounds })).whole();
  assert.equal(response.error?.code, 5020);
  assert.match(String(response.error?.message), /protocol revision has no words/);
  assert.deepEqual(before, []);
});

test('F23: one session cannot answer the question of another', async (t) => {
  const { gateway, server } = await modernBehind(t);
  await using mine = await openSession(gateway.url, { capabilities: CAPABILITIES });
  await using theirs = await openSession(gateway.url, { capabilities: CAPABILITIES });
  const answer = await callWith(mine, { rounds: [{ name: FORM }] });
  const { id } = await question(answer);
  await theirs.respond(id, { result: { action: 'decline' } });
  await mine.respond(id, { result: ACCEPTED });
  assert.deepEqual(JSON.parse(textOf((await answer.message()) ?? {})), { name: ACCEPTED });
  assert.equal(server.requests(CALL).length, 2);
});
