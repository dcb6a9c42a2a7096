// All parked calls: how they are found, and how many there may be.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure } from '../../support/http-rig.ts';
import { ACCEPTED, park, parkedRig, question, RecordedExchange } from '../../support/parked-rig.ts';

const DONE = { result: {} };

const ticket = (id: string, round: number, replica?: string) => ({ replica, id, round });

test('a parked call is found by its id, its round and what it was', async (t) => {
  const { calls, open } = parkedRig(t);
  const call = open({ fingerprint: 'mine' });
  await park(call, 1);
  assert.equal(calls.claim(ticket(call.id, 1), 'mine'), call);
  for (const [what, claim] of [
    ['another id', () => calls.claim(ticket('AAAAAAAAAAAAAAAA', 1), 'mine')],
    ['another round', () => calls.claim(ticket(call.id, 2), 'mine')],
    ['another call', () => calls.claim(ticket(call.id, 1), 'theirs')],
    ['another replica', () => calls.claim(ticket(call.id, 1, 'other'), 'mine')],
  ] as const) {
    assert.throws(claim, failure('state-invalid', 'parked'), what);
  }
});

test('a state is good once: not while the retry runs, nor in the next round, nor after the end', async (t) => {
  const { calls, open } = parkedRig(t);
  const call = open();
  await park(call, 1);
  const retry = new RecordedExchange();
  const told = call.resume(retry, { q1: ACCEPTED });
  assert.throws(() => calls.claim(ticket(call.id, 1), 'same'), failure('state-invalid', 'parked'));
  call.ask(question(2));
  await told;
  assert.throws(() => calls.claim(ticket(call.id, 1), 'same'), failure('state-invalid', 'parked'));
  assert.equal(calls.claim(ticket(call.id, 2), 'same'), call);
  void call.resume(new RecordedExchange(), { q2: ACCEPTED });
  call.finish(DONE);
  assert.throws(() => calls.claim(ticket(call.id, 2), 'same'), failure('state-invalid', 'parked'));
  assert.equal(calls.size, 0);
});

test('a call that was withdrawn can still be claimed', async (t) => {
  const { calls, open } = parkedRig(t);
  const call = open();
  await park(call, 1);
  call.withdraw(1);
  assert.equal(calls.claim(ticket(call.id, 1), 'same'), call);
});

test('beyond `max` a call is not parked: it ends with 503, and is cancelled at the server', async (t) => {
  const { calls, open } = parkedRig(t, { max: 2 });
  await park(open({ principal: 'ada' }), 1);
  await park(open({ principal: 'bob' }), 1);
  const refused = open({ principal: 'eve' });
  await assert.rejects(park(refused, 1), failure('no-capacity', 'parked'));
  assert.ok(refused.upstream.signal.aborted);
  assert.deepEqual([calls.parked, calls.size], [2, 2]);
});

test('beyond `maxPerPrincipal` too, and others are not affected', async (t) => {
  const { open } = parkedRig(t, { maxPerPrincipal: 1 });
  const first = open({ principal: 'ada' });
  await park(first, 1);
  await assert.rejects(park(open({ principal: 'ada' }), 1), failure('no-capacity', 'parked'));
  await park(open({ principal: 'bob' }), 1);
  // A place is free as soon as its client comes back.
  void first.resume(new RecordedExchange(), { q1: ACCEPTED });
  await park(open({ principal: 'ada' }), 1);
  first.finish(DONE);
});

test('calls that have asked nothing take no place', async (t) => {
  const { calls, open } = parkedRig(t, { max: 1 });
  const running = [open(), open(), open()];
  const told = running.map((call) => call.attach(new RecordedExchange()));
  await park(open(), 1);
  assert.deepEqual([calls.parked, calls.size], [1, 4]);
  for (const call of running) call.finish(DONE);
  await Promise.all(told);
});

test('what has ended is forgotten, however it ended', async (t) => {
  const { calls, open } = parkedRig(t, { timeoutMs: 1 });
  const expired = open();
  await park(expired, 1);
  await new Promise((resolve) => expired.upstream.signal.addEventListener('abort', resolve));
  const cancelled = open();
  const told = cancelled.attach(new RecordedExchange());
  cancelled.cancel(new Error('gone'));
  await assert.rejects(told, /gone/);
  assert.equal(calls.size, 0);
});

test('the end of the gateway cancels them all', async (t) => {
  const { calls, open } = parkedRig(t);
  const parked = open();
  await park(parked, 1);
  const running = open();
  const told = running.attach(new RecordedExchange());
  calls.close();
  await assert.rejects(told, failure('draining'));
  assert.deepEqual([parked.state, running.state, calls.size], ['cancelled', 'cancelled', 0]);
  assert.ok(parked.upstream.signal.aborted);
});
