// One link to a legacy server for modern clients: whose question it is, who listens, what is subscribed.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LinkHub, LinkHubs } from '../../../src/bridge/listening/link-hub.ts';
import { ACCEPTED, parkedRig, question, RecordedExchange } from '../../support/parked-rig.ts';
import type { ScriptedLinkOptions } from '../../support/scripted-link.ts';

const DONE = { result: {} };
const PATIENT_MS = 60_000;

function hubRig(
  t: TestContext,
  { patienceMs = PATIENT_MS, ...link }: ScriptedLinkOptions & { patienceMs?: number } = {},
) {
  const rig = parkedRig(t, {}, link);
  const changed: string[] = [];
  const hub = new LinkHub(rig.link, (method) => changed.push(method), patienceMs);
  /** A call with an exchange attached, as long as `leave` has not been called. */
  const running = () => {
    const call = rig.open();
    const exchange = new RecordedExchange();
    const held = hub.hold(call);
    const place = hub.enter(call);
    const told = call.attach(exchange);
    return { call, exchange, told, release: () => held.leave(), leave: () => place.leave() };
  };
  return { ...rig, hub, changed, running };
}

function errorsTo(answers: readonly { id: unknown; outcome: object }[]): unknown[] {
  return answers.map(({ id, outcome }) => [
    id,
    'error' in outcome && (outcome.error as { code: number }).code,
  ]);
}

test('a question belongs to the only call in flight', async (t) => {
  const { hub, running } = hubRig(t);
  const { exchange, told, call } = running();
  hub.receive(question('a'));
  await told;
  assert.deepEqual(exchange.asked, { q1: 'question a' });
  assert.equal(call.state, 'parked');
});

test('one that several calls could have asked is refused, and reaches none of them', async (t) => {
  const { hub, running, wire } = hubRig(t);
  const calls = [running(), running()];
  hub.receive(question('a'));
  assert.deepEqual(errorsTo(wire.answers), [['a', -32601]]);
  for (const { call, exchange, told } of calls) {
    call.finish(DONE);
    await told;
    assert.equal(exchange.required, undefined);
  }
});

test('one that comes while a single call is parked belongs to it, and is asked at its retry', async (t) => {
  const { hub, running, wire } = hubRig(t);
  const { call, told, leave } = running();
  hub.receive(question('a'));
  await told;
  leave();
  hub.receive(question('b'));
  const retry = new RecordedExchange();
  await call.resume(retry, { q1: ACCEPTED });
  assert.deepEqual(retry.asked, { q2: 'question b' });
  assert.deepEqual(errorsTo(wire.answers), [['a', false]]);
});

test('one that comes while several are parked waits for the next call', async (t) => {
  const { hub, running, wire } = hubRig(t);
  const parked = [];
  for (const id of ['a', 'b']) {
    const call = running();
    hub.receive(question(id));
    await call.told;
    call.leave();
    parked.push(call);
  }
  hub.receive(question('c'));
  const next = running();
  await next.told;
  assert.deepEqual(next.exchange.asked, { q1: 'question c' });
  assert.deepEqual(wire.answers, []);
  for (const { call } of parked) call.cancel(new Error('over'));
});

/** The question of a task, which says so. */
function questionOf(task: string, id: string) {
  const { params, ...rest } = question(id);
  const _meta = { 'io.modelcontextprotocol/related-task': { taskId: task } };
  return { ...rest, params: { ...params, _meta } };
}

test('one that names a task belongs to the call that it runs, however many others could have asked', async (t) => {
  const { hub, running, wire } = hubRig(t);
  const [first, second, plain] = [running(), running(), running()];
  hub.nameTask(first.call, 't1');
  hub.nameTask(second.call, 't2');
  hub.receive(questionOf('t2', 'a'));
  hub.receive(questionOf('t1', 'b'));
  await Promise.all([first.told, second.told]);
  assert.deepEqual(
    [first.exchange.asked, second.exchange.asked],
    [{ q1: 'question b' }, { q1: 'question a' }],
  );
  assert.doesNotMatch(JSON.stringify(first.exchange.required), /related-task/);
  const retry = new RecordedExchange();
  const resumed = second.call.resume(retry, { q1: ACCEPTED });
  const related = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't2' } } };
  assert.deepEqual(wire.answers, [{ id: 'a', outcome: { result: { ...ACCEPTED, ...related } } }]);
  for (const { call } of [plain, second]) call.finish(DONE);
  await Promise.all([plain.told, resumed]);
  assert.equal(plain.exchange.required, undefined);
});

test('one that names a task of which its call has not heard yet waits for that, and for no other call', async (t) => {
  const { hub, running, wire } = hubRig(t);
  hub.receive(questionOf('t1', 'early'));
  const [other, own] = [running(), running()];
  hub.nameTask(other.call, 't2');
  hub.nameTask(own.call, 't1');
  await own.told;
  assert.deepEqual(own.exchange.asked, { q1: 'question early' });
  other.call.finish(DONE);
  await other.told;
  assert.equal(other.exchange.required, undefined);
  assert.deepEqual(wire.answers, []);
});

test('one that names a task of nobody is refused when patience is over', async (t) => {
  const { hub, running, wire } = hubRig(t, { patienceMs: 20 });
  const { call, told } = running();
  hub.receive(questionOf('unknown', 'a'));
  while (wire.answers.length === 0) await new Promise(setImmediate);
  assert.deepEqual(errorsTo(wire.answers), [['a', -32601]]);
  call.finish(DONE);
  await told;
});

test('one outside any call waits for the next one', async (t) => {
  const { hub, running, wire } = hubRig(t);
  hub.receive(question('early'));
  const { exchange, told } = running();
  await told;
  assert.deepEqual(exchange.asked, { q1: 'question early' });
  assert.deepEqual(wire.answers, []);
});

test('it is refused when patience is over, never answered with something invented', async (t) => {
  const { hub, running, wire } = hubRig(t, { patienceMs: 1 });
  hub.receive(question('early'));
  const { id, outcome } = await wire.nthAnswer();
  assert.equal(id, 'early');
  assert.ok('error' in outcome && outcome.error.code === -32601);
  const { call, exchange, told } = running();
  call.finish(DONE);
  await told;
  assert.equal(exchange.required, undefined);
});

test('one that the server takes back meanwhile is asked of nobody', async (t) => {
  const { hub, running } = hubRig(t);
  hub.receive(question('early'));
  hub.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'early' } });
  const { call, exchange, told } = running();
  call.finish(DONE);
  await told;
  assert.equal(exchange.required, undefined);
});

test('what the server takes back is taken back of a parked call too', async (t) => {
  const { hub, running } = hubRig(t);
  const { call, told, leave } = running();
  hub.receive(question('a'));
  await told;
  leave();
  hub.receive({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
  assert.equal(call.state, 'withdrawn');
});

test('after a call was given up, questions are refused until the server has answered a ping', async (t) => {
  const { hub, wire, running } = hubRig(t);
  const parked = running();
  hub.receive(question('before'));
  await parked.told;
  parked.leave();
  hub.raiseFence();
  let passed = false;
  const passing = hub.passed().then(() => {
    passed = true;
  });
  hub.receive(question('whose?'));
  assert.deepEqual(errorsTo(wire.answers), [['whose?', -32601]], 'not of the one that is parked either');
  const ping = await wire.nth('ping');
  assert.equal(passed, false);
  ping.answer();
  await passing;
  hub.receive(question('after'));
  const retry = new RecordedExchange();
  await parked.call.resume(retry, { q1: ACCEPTED });
  assert.deepEqual(retry.asked, { q2: 'question after' });
});

test('a server that knows no ping holds nobody up', async (t) => {
  const { hub, wire } = hubRig(t);
  hub.raiseFence();
  (await wire.nth('ping')).refuse(-32601);
  await hub.passed();
});

test('over HTTP a question that may be of a call that was given up is not asked of the one that runs', async (t) => {
  const { hub, wire, running } = hubRig(t, { kind: 'http' });
  const next = running();
  hub.raiseFence();
  hub.receive(question('whose?'));
  assert.deepEqual(errorsTo(wire.answers), [['whose?', -32601]]);
  (await wire.nth('ping')).answer();
  await hub.passed();
  hub.receive(question('mine'));
  await next.told;
});

test('over HTTP the first question beside two calls that run is refused, and shows that turns are needed', async (t) => {
  const { hub, wire, running } = hubRig(t, { kind: 'http' });
  const calls = [running(), running()];
  assert.equal(hub.takesTurns, false);
  hub.receive(question('whose?'));
  assert.deepEqual(errorsTo(wire.answers), [['whose?', -32601]]);
  assert.ok(hub.takesTurns);
  for (const { call } of calls) call.cancel(new Error('over'));
  await Promise.all(calls.map(({ told }) => assert.rejects(told, /over/)));
});

test('turns are taken where questions name no call: on pipes, and on the one stream of HTTP+SSE', (t) => {
  assert.ok(hubRig(t, { kind: 'stdio' }).hub.takesTurns);
  assert.ok(hubRig(t, { kind: 'sse' }).hub.takesTurns);
});

test('over HTTP they are taken once a server has asked beside a call, and not for what it asks before any', async (t) => {
  const { hub, running } = hubRig(t, { kind: 'http' });
  hub.receive(question('early'));
  assert.equal(hub.takesTurns, false);
  const { told } = running();
  await told;
  const next = running();
  hub.receive(question('beside'));
  assert.ok(hub.takesTurns);
  next.call.cancel(new Error('over'));
  await assert.rejects(next.told, /over/);
});

test('list changes are told on, and other notifications too', (t) => {
  const { hub, changed } = hubRig(t);
  hub.receive({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  assert.deepEqual(changed, ['notifications/tools/list_changed']);
});

test('who listens to a principal hears all links of that principal, and of nobody else', (t) => {
  const { link } = hubRig(t);
  const other = hubRig(t).link;
  const hubs = new LinkHubs(() => {}, PATIENT_MS);
  const heard: string[] = [];
  const stop = hubs.listen('ada', ({ method }) => heard.push(method));
  hubs.receive({ jsonrpc: '2.0', method: 'one' }, link, 'ada');
  hubs.receive({ jsonrpc: '2.0', method: 'two' }, other, 'ada');
  hubs.receive({ jsonrpc: '2.0', method: 'three' }, link, 'bob');
  stop();
  hubs.receive({ jsonrpc: '2.0', method: 'four' }, link, 'ada');
  assert.deepEqual(heard, ['one', 'two']);
  assert.equal(hubs.listened, 0);
});

test('a link has one hub, and another link another', (t) => {
  const { link } = hubRig(t);
  const other = hubRig(t).link;
  const hubs = new LinkHubs(() => {}, PATIENT_MS);
  assert.equal(hubs.of(link), hubs.of(link));
  assert.notEqual(hubs.of(link), hubs.of(other));
  assert.notEqual(hubs.of(link).generation, hubs.of(other).generation);
});
