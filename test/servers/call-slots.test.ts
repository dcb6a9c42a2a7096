import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../src/errors.ts';
import { CallSlots } from '../../src/servers/call-slots.ts';

const never = new AbortController().signal;

function slots(maxInFlight: number, max = 10, timeoutMs = 10_000) {
  return new CallSlots({ maxInFlight, queue: { max, timeoutMs } });
}

function noCapacity(reason: string) {
  return (error: unknown) => {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.code, 'no-capacity');
    assert.equal(error.details.reason, reason);
    assert.ok((error.details.retryAfterMs ?? 0) > 0, 'says when to come back');
    return true;
  };
}

test('calls beyond the limit wait, and are served in the order they came', async () => {
  const limit = slots(2);
  const [first, second] = [await limit.acquire(never), await limit.acquire(never)];
  const order: number[] = [];
  const waiting = [3, 4, 5].map(async (n) => {
    const release = await limit.acquire(never);
    order.push(n);
    release();
  });
  assert.deepEqual([limit.inFlight, limit.waiting], [2, 3]);
  first();
  await Promise.all(waiting);
  second();
  assert.deepEqual(order, [3, 4, 5]);
  assert.deepEqual([limit.inFlight, limit.waiting], [0, 0]);
});

test('a slot is given back once, however often it is released', async () => {
  const limit = slots(1);
  const release = await limit.acquire(never);
  release();
  release();
  assert.equal(limit.inFlight, 0);
  await limit.acquire(never);
  release();
  assert.equal(limit.inFlight, 1);
});

test('a slot passes straight to the one who waits: a newcomer cannot jump the queue', async () => {
  const limit = slots(1);
  const release = await limit.acquire(never);
  const order: string[] = [];
  const patient = limit.acquire(never).then((done) => {
    order.push('patient');
    done();
  });
  release();
  const newcomer = limit.acquire(never).then((done) => {
    order.push('newcomer');
    done();
  });
  await Promise.all([patient, newcomer]);
  assert.deepEqual(order, ['patient', 'newcomer']);
});

test('a full queue refuses at once', async () => {
  const limit = slots(1, 1);
  const release = await limit.acquire(never);
  const waiting = limit.acquire(never);
  await assert.rejects(limit.acquire(never), noCapacity('queue-full'));
  release();
  (await waiting)();
});

test('with a queue of none, only free slots are given', async () => {
  const limit = slots(1, 0);
  const release = await limit.acquire(never);
  await assert.rejects(limit.acquire(never), noCapacity('queue-full'));
  release();
  (await limit.acquire(never))();
});

test('whoever waits too long is refused, and leaves no hole in the line', async () => {
  const limit = slots(1, 10, 20);
  const release = await limit.acquire(never);
  await assert.rejects(limit.acquire(never), noCapacity('queue-timeout'));
  assert.equal(limit.waiting, 0);
  const next = limit.acquire(never);
  release();
  (await next)();
  assert.equal(limit.inFlight, 0);
});

test('an abort while waiting rejects with its reason; the slot goes to the one behind, in the same tick too', async () => {
  const limit = slots(1);
  const release = await limit.acquire(never);
  const leaving = new AbortController();
  const reason = new Error('left');
  const left = limit.acquire(leaving.signal);
  const behind = limit.acquire(never);
  leaving.abort(reason);
  release();
  await assert.rejects(left, reason);
  (await behind)();
  await assert.rejects(limit.acquire(leaving.signal), reason);
  assert.deepEqual([limit.inFlight, limit.waiting], [0, 0]);
});

test('closing refuses those who wait and those who come', async () => {
  const limit = slots(1);
  const release = await limit.acquire(never);
  const gone = new GatewayError('server-unavailable');
  const waiting = limit.acquire(never);
  limit.close(gone);
  limit.close(new GatewayError('internal'));
  await assert.rejects(waiting, gone);
  await assert.rejects(limit.acquire(never), gone);
  release();
  assert.deepEqual([limit.inFlight, limit.waiting], [0, 0]);
});

test('callers take turns: one whose hundred calls wait does not hold up another’s one', async () => {
  const limit = slots(1, 200);
  let release = await limit.acquire(never, 'ada');
  const order: string[] = [];
  const call = async (caller: string) => {
    const done = await limit.acquire(never, caller);
    order.push(caller);
    release = done;
  };
  const calls = [...Array.from({ length: 100 }, () => call('ada')), call('bob'), call('cyd'), call('bob')];
  for (let served = 0; served < calls.length; served += 1) {
    release();
    await new Promise((resolve) => setImmediate(resolve));
  }
  release();
  await Promise.all(calls);
  assert.deepEqual(order.slice(0, 6), ['ada', 'bob', 'cyd', 'ada', 'bob', 'ada']);
  assert.deepEqual([limit.inFlight, limit.waiting], [0, 0]);
  assert.equal(limit.stats.waits, 103);
});

test('one caller does not get the last slots; with few of them, or for Portico itself, it is all', async () => {
  const limit = slots(16);
  const held = await Promise.all(Array.from({ length: 14 }, () => limit.acquire(never, 'ada')));
  const waiting = limit.acquire(never, 'ada');
  assert.equal(limit.waiting, 1);
  const others = [await limit.acquire(never, 'bob'), await limit.acquire(never)];
  others[0]?.();
  assert.equal(limit.waiting, 1, 'what another gives back is not for the one who has its share');
  held[0]?.();
  (await waiting)();
  const few = slots(7);
  for (let i = 0; i < 7; i += 1) await few.acquire(never, 'ada');
  assert.equal(few.inFlight, 7);
});

test('in a full queue the longest line loses its last to a shorter one, and never the other way', async () => {
  const limit = slots(1, 3);
  const release = await limit.acquire(never, 'ada');
  const lines = [1, 2, 3].map(() => limit.acquire(never, 'ada'));
  const bob = limit.acquire(never, 'bob');
  await assert.rejects(lines[2] as Promise<unknown>, noCapacity('queue-full'));
  await assert.rejects(limit.acquire(never, 'ada'), noCapacity('queue-full'));
  await assert.rejects(limit.acquire(never, 'bob'), noCapacity('queue-full'));
  release();
  for (const next of [lines[0], bob, lines[1]]) (await next)?.();
  assert.deepEqual([limit.inFlight, limit.waiting], [0, 0]);
});

test('a free slot is had at once; where none is, nobody has joined the queue', async () => {
  const limit = slots(1);
  const release = limit.acquireNow(never);
  assert.ok(release);
  assert.equal(limit.acquireNow(never), undefined);
  assert.deepEqual([limit.inFlight, limit.waiting], [1, 0]);
  release();
  limit.acquireNow(never)?.();
  limit.close(new GatewayError('server-unavailable'));
  assert.throws(() => limit.acquireNow(never), { code: 'server-unavailable' });
});
