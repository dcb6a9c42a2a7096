// What a legacy server asks a legacy client: on the right stream, under an id of ours, answered once (F23).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import type { RawAnswer } from '../support/raw-answer.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { openSession, type RawSession, textOf } from '../support/raw-session.ts';
import { type StartedGateway, type StartOptions, startGateway } from '../support/start-gateway.ts';

const EVERYTHING = { roots: { listChanged: true }, sampling: {}, elicitation: {} };
const ALLOWED = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
const FORM = { mode: 'form', message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };

type Start = (t: TestContext) => Promise<StartedGateway>;
const stdio =
  (options: StartOptions['stdio'] = {}, rest: StartOptions = {}): Start =>
  async (t) => {
    const switches = ['--era=legacy', ...(options.switches ?? [])];
    const gateway = await startGateway({ ...rest, stdio: { client: ALLOWED, ...options, switches } });
    t.after(() => gateway.close());
    return gateway;
  };
const http: Start = async (t) => (await legacyHttpBehind(t)).gateway;
const impatient = { overrides: { questionPatienceMs: 200 } };

function startAsking(session: RawSession, args: Members, id = '"call"'): Promise<RawAnswer> {
  return session.start('tools/call', { name: 'ask', arguments: args }, { id }).answer;
}

async function questionOn(answer: RawAnswer): Promise<Message> {
  const message = await answer.message();
  assert.ok(message?.id !== undefined && message.method !== undefined, JSON.stringify(message));
  return message;
}

const receivedBy = async (session: RawSession) => JSON.parse(await session.tool('received')) as Message[];

const QUESTIONS: readonly [string, Members, Members][] = [
  ['elicitation/create', FORM, { action: 'accept', content: { name: 'Ada' } }],
  ['sampling/createMessage', { messages: [], maxTokens: 5 }, { role: 'assistant', model: 'm', content: {} }],
  ['roots/list', {}, { roots: [{ uri: 'file:///home' }] }],
];
for (const [wire, start] of [
  ['a pipe', stdio({}, impatient)],
  ['HTTP', http],
] as const) {
  for (const [method, params, result] of QUESTIONS) {
    test(`F23: ${method} over ${wire} reaches the client on the call's stream, and its answer the server`, async (t) => {
      const gateway = await start(t);
      await using session = await openSession(gateway.url, { capabilities: EVERYTHING });
      const answer = await startAsking(session, { method, params });
      const question = await questionOn(answer);
      assert.equal(question.method, method);
      assert.deepEqual(question.params, params);
      assert.equal(typeof question.id, 'number', 'an id of ours, whatever the server calls it');
      assert.equal(await session.respond(question.id, { result }), 202);
      const { response } = await answer.whole();
      assert.equal(response.id, 'call');
      assert.deepEqual(JSON.parse(textOf(response)), result);
    });
  }

  test(`F23: over ${wire} a client's refusal reaches the server as it is`, async (t) => {
    const gateway = await start(t);
    await using session = await openSession(gateway.url, { capabilities: EVERYTHING });
    const answer = await startAsking(session, { method: 'sampling/createMessage', params: {} });
    const error = { code: -1, message: 'The user said no', data: { why: 'because' } };
    await session.respond((await questionOn(answer)).id, { error });
    assert.deepEqual(JSON.parse(textOf((await answer.whole()).response)), error);
  });

  test(`over ${wire} an older client is asked in its own words, and the server hears the answer in its own`, async (t) => {
    const gateway = await start(t);
    const older = { version: '2025-06-18', capabilities: EVERYTHING };
    await using session = await openSession(gateway.url, older);
    const form = (colors: Members) => ({
      message: 'Which?',
      requestedSchema: { type: 'object', properties: { colors } },
    });
    const items = { type: 'string', enum: ['red', 'green'] };
    const params = form({ type: 'array', items });
    const answer = await startAsking(session, { method: 'elicitation/create', params });
    const question = await questionOn(answer);
    const { properties = {} } = (question.params?.requestedSchema ?? {}) as { properties?: Members };
    assert.deepEqual(Object.keys(properties), ['colors.1', 'colors.2']);
    const content = { 'colors.1': false, 'colors.2': true };
    await session.respond(question.id, { result: { action: 'accept', content } });
    const heard = JSON.parse(textOf((await answer.whole()).response));
    assert.deepEqual(heard, { action: 'accept', content: { colors: ['green'] } });
    const unspeakable = { method: 'elicitation/create', params: form({ type: 'object' }) };
    const { response, before } = await (await startAsking(session, unspeakable)).whole();
    assert.equal(JSON.parse(textOf(response)).code, -32602, textOf(response));
    assert.deepEqual(before, []);
  });

  test(`F23: over ${wire} what the client did not declare is refused at once, and it hears nothing`, async (t) => {
    const gateway = await start(t);
    await using session = await openSession(gateway.url, { capabilities: { sampling: {} } });
    for (const method of ['elicitation/create', 'roots/list', 'tasks/list', 'made/up']) {
      const { response, before } = await (await startAsking(session, { method, params: {} })).whole();
      assert.equal(JSON.parse(textOf(response)).code, -32601);
      assert.deepEqual(before, []);
    }
  });

  test(`F23: over ${wire} a client that takes no event stream cannot be asked`, async (t) => {
    const gateway = await start(t);
    await using session = await openSession(gateway.url, { capabilities: EVERYTHING });
    const headers = { accept: 'application/json' };
    const params = { name: 'ask', arguments: { method: 'roots/list', params: {} } };
    assert.equal(JSON.parse(textOf(await session.ask('tools/call', params, { headers }))).code, -32601);
  });
}

test('F23: a server is told exactly what its client can do, less what its config denies', async (t) => {
  const gateway = await stdio({ client: { roots: 'deny', sampling: 'allow', elicitation: 'allow' } })(t);
  const capabilities = { ...EVERYTHING, experimental: { own: { x: 1 } } };
  await using session = await openSession(gateway.url, { capabilities, version: '2025-06-18' });
  const [initialize] = await receivedBy(session);
  const { roots: _denied, ...declared } = capabilities;
  assert.deepEqual(initialize?.params?.capabilities, declared);
  assert.equal(initialize?.params?.protocolVersion, '2025-06-18', "the client's own revision is offered");
  const { response } = await (await startAsking(session, { method: 'roots/list' })).whole();
  assert.equal(JSON.parse(textOf(response)).code, -32601);
});

test('a list of roots from the config is answered here, whatever the client has', async (t) => {
  const roots = [{ uri: 'file:///srv/shared', name: 'shared' }];
  const gateway = await stdio({ client: { ...ALLOWED, roots } })(t);
  await using session = await openSession(gateway.url, { capabilities: {} });
  const { response, before } = await (await startAsking(session, { method: 'roots/list' })).whole();
  assert.deepEqual(JSON.parse(textOf(response)), { roots });
  assert.deepEqual(before, []);
});

test('a ping of the server is answered here', async (t) => {
  const gateway = await stdio()(t);
  await using session = await openSession(gateway.url);
  const { response, before } = await (await startAsking(session, { method: 'ping' })).whole();
  assert.deepEqual(JSON.parse(textOf(response)), {});
  assert.deepEqual(before, []);
});

test('F23: an answer counts once; a second one, and answers to nothing, are dropped', async (t) => {
  const gateway = await stdio()(t);
  await using session = await openSession(gateway.url, { capabilities: EVERYTHING });
  const answer = await startAsking(session, { id: 'q', method: 'roots/list' });
  const { id } = await questionOn(answer);
  for (const wrong of ['q', String(id), 4_711, '']) {
    assert.equal(await session.respond(wrong, { result: { roots: [] } }), 202);
  }
  for (const roots of [['first'], ['second']])
    assert.equal(await session.respond(id, { result: { roots } }), 202);
  assert.deepEqual(JSON.parse(textOf((await answer.whole()).response)), { roots: ['first'] });
  const answers = (await receivedBy(session)).filter(({ result }) => result !== undefined);
  assert.equal(answers.length, 1);
  assert.equal(answers[0]?.id, 'q', "the server's own id is restored");
});

test('F23: two sessions whose servers ask under the same id get their own answers', async (t) => {
  const gateway = await stdio()(t);
  const sessions = await Promise.all(
    ['a', 'b'].map(() => openSession(gateway.url, { capabilities: EVERYTHING })),
  );
  const answers = await Promise.all(
    sessions.map((session) => startAsking(session, { id: 1, method: 'roots/list' })),
  );
  const questions = await Promise.all(answers.map(questionOn));
  for (const index of [1, 0]) {
    await sessions[index]?.respond(questions[index]?.id, { result: { roots: [`of ${index}`] } });
  }
  for (const [index, answer] of answers.entries()) {
    assert.deepEqual(JSON.parse(textOf((await answer.whole()).response)), { roots: [`of ${index}`] });
    await sessions[index]?.[Symbol.asyncDispose]();
  }
});

test('F23, F25: a question outlives the connection that it went out on', async (t) => {
  const gateway = await http(t);
  await using session = await openSession(gateway.url, { capabilities: EVERYTHING });
  const call = session.start('tools/call', { name: 'ask', arguments: { method: 'roots/list', params: {} } });
  const answer = await call.answer;
  const primed = await answer.event();
  const question = await questionOn(answer);
  call.abort();
  const resumed = await session.listen(primed?.id);
  assert.deepEqual(await questionOn(resumed), question, 'asked again, under the same id');
  await session.respond(question.id, { result: { roots: [] } });
  assert.deepEqual(JSON.parse(textOf((await resumed.whole()).response)), { roots: [] });
});

test('F23: a question that the server takes back is taken back from the client, under the id that it knows', async (t) => {
  const gateway = await stdio()(t);
  await using session = await openSession(gateway.url, { capabilities: EVERYTHING });
  const params = { name: 'ask-and-withdraw', arguments: { id: 'mine' } };
  const answer = await session.start('tools/call', params).answer;
  const question = await questionOn(answer);
  const cancelled = await answer.message();
  assert.equal(cancelled?.method, 'notifications/cancelled');
  assert.deepEqual(cancelled?.params, { requestId: question.id });
  assert.equal(textOf((await answer.whole()).response), 'withdrawn');
  assert.equal(await session.respond(question.id, { result: { action: 'accept' } }), 202);
  assert.ok((await receivedBy(session)).every(({ result }) => result === undefined));
});

test('F23: real servers ask for roots at once: the first call that may be asked brings the question', async (t) => {
  const gateway = await stdio({ switches: ['--roots-after-initialized'] })(t);
  await using session = await openSession(gateway.url, { capabilities: EVERYTHING });
  const call = session.start('tools/call', { name: 'wait', arguments: { ms: 100 } });
  const question = await questionOn(await call.answer);
  assert.equal(question.method, 'roots/list');
  await session.respond(question.id, { result: { roots: [] } });
  const early = (await receivedBy(session)).find(
    ({ id, result }) => id === 'early-roots' && result !== undefined,
  );
  assert.deepEqual(early?.result, { roots: [] });
});

/** Two calls that may both be asked something: the pipe does not tell whose a question is. */
async function ambiguous(t: TestContext, questionPatienceMs: number) {
  const gateway = await stdio({}, { overrides: { questionPatienceMs } })(t);
  const session = await openSession(gateway.url, { capabilities: EVERYTHING });
  t.after(() => session[Symbol.asyncDispose]());
  const other = session.start('tools/call', { name: 'never', arguments: {} }, { id: '"other"' });
  while (!(await receivedBy(session)).some(({ params }) => params?.name === 'never')) {
    // One of the calls is there once the server has it.
  }
  return { session, other };
}

test('F23: a question that could be of two calls goes out on the GET stream', async (t) => {
  const { session } = await ambiguous(t, 60_000);
  const listening = await session.listen();
  const asking = startAsking(session, { method: 'roots/list' });
  const question = await questionOn(listening);
  await session.respond(question.id, { result: { roots: [] } });
  const { before, response } = await (await asking).whole();
  assert.deepEqual(before, []);
  assert.deepEqual(JSON.parse(textOf(response)), { roots: [] });
  listening.abort();
});

test('F23: it waits for a GET stream to be opened', async (t) => {
  const { session } = await ambiguous(t, 60_000);
  const asking = startAsking(session, { method: 'roots/list' });
  assert.equal((await session.start('ping').answer).status, 200);
  const listening = await session.listen();
  const question = await questionOn(listening);
  await session.respond(question.id, { result: { roots: [] } });
  assert.deepEqual(JSON.parse(textOf((await (await asking).whole()).response)), { roots: [] });
  listening.abort();
});

test('F23: it waits for the other call to end', async (t) => {
  const { session } = await ambiguous(t, 60_000);
  const asking = startAsking(session, { method: 'roots/list' });
  await session.notify('notifications/cancelled', { requestId: 'other' });
  const question = await questionOn(await asking);
  await session.respond(question.id, { result: { roots: [] } });
  assert.deepEqual(JSON.parse(textOf((await (await asking).whole()).response)), { roots: [] });
});

test('F23: without any of these it is refused when patience is over', async (t) => {
  const { session } = await ambiguous(t, 200);
  const { response, before } = await (await startAsking(session, { method: 'roots/list' })).whole();
  assert.equal(JSON.parse(textOf(response)).code, -32601);
  assert.deepEqual(before, []);
});

test('F23: a server that asks without end is refused beyond a bound, and the session lives', async (t) => {
  const gateway = await stdio()(t);
  await using session = await openSession(gateway.url, { capabilities: EVERYTHING });
  const lines = Array.from({ length: 130 }, (_, id) =>
    JSON.stringify({ jsonrpc: '2.0', id: `q${id}`, method: 'roots/list' }),
  );
  const flooding = { name: 'raw', arguments: { text: `${lines.join('\n')}\n`, answer: true } };
  const { before } = await (await session.start('tools/call', flooding).answer).whole();
  assert.equal(before.length, 100);
  const refused = (await receivedBy(session)).filter(({ error }) => error !== undefined);
  assert.equal(refused.length, 30);
});
