// One call that may be parked: its questions, its exchanges, its end. The states alone: parked-state.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../src/errors.ts';
import { failure } from '../../support/http-rig.ts';
import {
  ACCEPTED,
  ELICITING,
  park,
  parkedRig,
  question,
  RecordedExchange,
} from '../../support/parked-rig.ts';

const DONE = { result: { content: [] } };

test('an answer without questions is the answer of the exchange', async (t) => {
  const call = parkedRig(t).open();
  const exchange = new RecordedExchange();
  const told = call.attach(exchange);
  call.finish(DONE);
  await told;
  assert.equal(exchange.outcome, DONE);
  assert.equal(call.state, 'answered');
});

test('a question ends the exchange, its answer goes to the server, the answer of the server to the retry', async (t) => {
  const { open, wire } = parkedRig(t);
  const call = open();
  const first = await park(call, 'a-7');
  assert.deepEqual(first.required, {
    round: 1,
    inputRequests: {
      q1: { method: 'elicitation/create', params: { mode: 'form', message: 'question a-7' } },
    },
  });
  assert.equal(call.state, 'parked');
  const retry = new RecordedExchange();
  const told = call.resume(retry, { q1: ACCEPTED });
  assert.equal(call.state, 'resumed');
  assert.deepEqual(wire.answers, [{ id: 'a-7', outcome: { result: ACCEPTED } }]);
  call.finish(DONE);
  await told;
  assert.equal(retry.outcome, DONE);
  assert.equal(first.outcome, undefined);
});

test('questions put side by side are asked side by side', async (t) => {
  const call = parkedRig(t).open();
  assert.deepEqual((await park(call, 1, 2, 3)).asked, {
    q1: 'question 1',
    q2: 'question 2',
    q3: 'question 3',
  });
});

for (const [what, responses] of [
  ['missing', {}],
  ['no object', { q1: 'yes' }],
  ['of another shape', { q1: { role: 'assistant' } }],
  ['under another key', { q7: ACCEPTED }],
] as const) {
  test(`an answer that is ${what} is asked for again, in a round of its own`, async (t) => {
    const { open, wire } = parkedRig(t);
    const call = open();
    await park(call, 1);
    const retry = new RecordedExchange();
    await call.resume(retry, responses);
    assert.deepEqual([retry.asked, retry.required?.round], [{ q1: 'question 1' }, 2]);
    assert.deepEqual(wire.answers, []);
  });
}

test('of two answers the one that is there is handed on at once, the other asked for again', async (t) => {
  const { open, wire } = parkedRig(t);
  const call = open();
  await park(call, 1, 2);
  const retry = new RecordedExchange();
  await call.resume(retry, { q2: ACCEPTED });
  assert.deepEqual(retry.asked, { q1: 'question 1' });
  assert.deepEqual(wire.answers, [{ id: 2, outcome: { result: ACCEPTED } }]);
});

test('a question that comes while the call is parked waits for the retry', async (t) => {
  const call = parkedRig(t).open();
  await park(call, 1);
  call.ask(question(2));
  const retry = new RecordedExchange();
  await call.resume(retry, { q1: ACCEPTED, q2: ACCEPTED });
  assert.deepEqual(retry.asked, { q2: 'question 2' }, 'nobody answers what was not asked');
});

test('the answer to a question that the server took back is ignored', async (t) => {
  const { open, wire } = parkedRig(t);
  const call = open();
  await park(call, 1);
  call.withdraw(1);
  assert.equal(call.state, 'withdrawn');
  const retry = new RecordedExchange();
  const told = call.resume(retry, { q1: ACCEPTED });
  call.finish(DONE);
  await told;
  assert.deepEqual(wire.answers, []);
  assert.equal(retry.outcome, DONE);
});

test('one of two questions taken back leaves the other', async (t) => {
  const { open, wire } = parkedRig(t);
  const call = open();
  await park(call, 1, 2);
  call.withdraw(1);
  assert.equal(call.state, 'parked');
  const retry = new RecordedExchange();
  void call.resume(retry, { q1: ACCEPTED, q2: ACCEPTED });
  assert.deepEqual(
    wire.answers.map(({ id }) => id),
    [2],
  );
  call.finish(DONE);
});

test('a question taken back before it was asked is never asked', async (t) => {
  const call = parkedRig(t).open();
  const exchange = new RecordedExchange();
  const told = call.attach(exchange);
  call.ask(question(1));
  call.withdraw(1);
  call.ask(question(2));
  await told;
  assert.deepEqual(exchange.asked, { q2: 'question 2' });
});

test('what the server says reaches the exchange at hand, and nobody while the call is parked', async (t) => {
  const call = parkedRig(t).open();
  const progress = (value: number) =>
    ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: value } }) as const;
  const first = new RecordedExchange();
  const told = call.attach(first);
  call.deliver(progress(1));
  call.ask(question(1));
  await told;
  call.deliver(progress(2));
  const retry = new RecordedExchange();
  void call.resume(retry, { q1: ACCEPTED });
  call.deliver(progress(3));
  call.finish(DONE);
  call.deliver(progress(4));
  assert.deepEqual(first.sent, [progress(1)]);
  assert.deepEqual(retry.sent, [progress(3)]);
});

test('an answer that comes early waits for the retry', async (t) => {
  const call = parkedRig(t).open();
  await park(call, 1);
  call.finish(DONE);
  assert.equal(call.state, 'parked');
  const retry = new RecordedExchange();
  await call.resume(retry, {});
  assert.equal(retry.outcome, DONE);
});

test('so does a failure', async (t) => {
  const call = parkedRig(t).open();
  await park(call, 1);
  call.fail(new GatewayError('server-unavailable', { reason: 'process-ended' }));
  await assert.rejects(
    call.resume(new RecordedExchange(), { q1: ACCEPTED }),
    failure('server-unavailable', 'process-ended'),
  );
});

test('a client that leaves before it was told anything cancels the call at the server, and nothing is parked', async (t) => {
  const call = parkedRig(t).open();
  const exchange = new RecordedExchange();
  const told = call.attach(exchange);
  call.ask(question(1));
  exchange.leaving.abort(new Error('gone'));
  await assert.rejects(told, /gone/);
  assert.equal(call.state, 'cancelled');
  assert.ok(call.upstream.signal.aborted);
  assert.equal(exchange.required, undefined);
});

test('a client that leaves once it was told to come back cancels nothing', async (t) => {
  const call = parkedRig(t).open();
  const exchange = await park(call, 1);
  exchange.leaving.abort();
  assert.equal(call.state, 'parked');
  assert.equal(call.upstream.signal.aborted, false);
});

test('a client that has left before its exchange began cancels the call', async (t) => {
  const call = parkedRig(t).open();
  const exchange = new RecordedExchange();
  exchange.leaving.abort(new Error('gone'));
  await assert.rejects(call.attach(exchange), /gone/);
  assert.equal(call.state, 'cancelled');
});

test('a call that nobody comes back for expires, and is cancelled at the server', async (t) => {
  const call = parkedRig(t, { timeoutMs: 1 }).open();
  await park(call, 1);
  await new Promise((resolve) => call.upstream.signal.addEventListener('abort', resolve));
  assert.equal(call.state, 'expired');
  assert.ok(call.upstream.signal.reason instanceof GatewayError);
});

test('the clock of the call stands still while it is parked', async (t) => {
  const call = parkedRig(t).open();
  const ticks: string[] = [];
  call.clock = { pause: () => ticks.push('pause'), resume: () => ticks.push('resume') };
  await park(call, 1);
  assert.deepEqual(ticks, ['pause']);
  void call.resume(new RecordedExchange(), { q1: ACCEPTED });
  assert.deepEqual(ticks, ['pause', 'resume']);
  call.finish(DONE);
});

for (const [what, asked, code, required] of [
  ['a feature', { method: 'roots/list' }, -32601, { roots: {} }],
  [
    'a mode',
    { method: 'elicitation/create', params: { mode: 'url', message: '' } },
    -32602,
    { elicitation: { url: {} } },
  ],
  ['something unknown', { method: 'tasks/dance' }, -32601, {}],
] as const) {
  test(`a question for ${what} that was not declared is refused at once, and remembered`, async (t) => {
    const { open, wire } = parkedRig(t);
    const call = open({ declared: ELICITING });
    const exchange = new RecordedExchange();
    const told = call.attach(exchange);
    call.ask({ jsonrpc: '2.0', id: 5, ...asked });
    const [{ id, outcome } = { id: 0, outcome: DONE }] = wire.answers;
    assert.equal(id, 5);
    assert.equal('error' in outcome && outcome.error.code, code);
    assert.deepEqual(call.missing, required);
    call.finish(DONE);
    await told;
    assert.equal(exchange.required, undefined);
  });
}

test('an end is an end', async (t) => {
  const call = parkedRig(t).open();
  const told = call.attach(new RecordedExchange());
  call.cancel(new Error('first'));
  call.cancel(new Error('second'));
  call.finish(DONE);
  call.ask(question(1));
  await assert.rejects(told, /first/);
  assert.equal(call.state, 'cancelled');
});

test('a call has so many questions open, and so many bytes of them; what is more is refused at the server', async (t) => {
  const { open, wire } = parkedRig(t);
  const many = open();
  for (let id = 1; id <= 102; id += 1) many.ask(question(id));
  assert.deepEqual(
    wire.answers.map(({ id, outcome }) => [id, 'error' in outcome && outcome.error.code]),
    [
      [101, -32601],
      [102, -32601],
    ],
  );
  const large = open();
  const params = { mode: 'form', message: 'x'.repeat(3 * 1024 * 1024) };
  for (const id of ['one', 'two']) large.ask({ ...question(id), params });
  assert.deepEqual(
    wire.answers.slice(2).map(({ id }) => id),
    ['two'],
  );
  large.withdraw('one');
  large.ask({ ...question('three'), params });
  assert.equal(wire.answers.length, 3, 'what was taken back makes room');
  for (const call of [many, large]) call.cancel(new Error('over'));
});
