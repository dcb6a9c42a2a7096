// One at a time, first come first served.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnQueue } from '../../../src/bridge/parking/turn-queue.ts';
import { failure } from '../../support/http-rig.ts';

const PATIENT_MS = 60_000;
const { signal: never } = new AbortController();

test('turns are taken in the order of arrival, and one at a time', async () => {
  const queue = new TurnQueue();
  const order: string[] = [];
  const one = async (name: string) => {
    const end = await queue.take(never, PATIENT_MS);
    order.push(`${name} in`);
    await new Promise(setImmediate);
    order.push(`${name} out`);
    end();
  };
  await Promise.all([one('a'), one('b'), one('c')]);
  assert.deepEqual(order, ['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  assert.equal(queue.waiting, 0);
});

test('nobody slips in between the one who ends and the one who waits', async () => {
  const queue = new TurnQueue();
  const order: string[] = [];
  const end = await queue.take(never, PATIENT_MS);
  const waiting = queue.take(never, PATIENT_MS).then((endOfWaiting) => {
    order.push('waited');
    return endOfWaiting;
  });
  end();
  const late = queue.take(never, PATIENT_MS).then((endOfLate) => {
    order.push('came late');
    return endOfLate;
  });
  (await waiting)();
  (await late)();
  assert.deepEqual(order, ['waited', 'came late']);
});

test('giving a turn back twice gives back one', async () => {
  const queue = new TurnQueue();
  const end = await queue.take(never, PATIENT_MS);
  const second = await Promise.all([queue.take(never, PATIENT_MS), end(), end()]).then(([taken]) => taken);
  let third = false;
  const waiting = queue.take(never, PATIENT_MS).then((taken) => {
    third = true;
    return taken;
  });
  end();
  await new Promise(setImmediate);
  assert.equal(third, false);
  second();
  (await waiting)();
});

test('who has waited long enough is told to come back, and is out of the line', async () => {
  const queue = new TurnQueue();
  const end = await queue.take(never, PATIENT_MS);
  await assert.rejects(queue.take(never, 1), failure('no-capacity', 'turn'));
  assert.equal(queue.waiting, 0);
  end();
  (await queue.take(never, PATIENT_MS))();
});

test('who leaves is out of the line, and the turn goes to the next', async () => {
  const queue = new TurnQueue();
  const end = await queue.take(never, PATIENT_MS);
  const leaving = new AbortController();
  const left = queue.take(leaving.signal, PATIENT_MS);
  const next = queue.take(never, PATIENT_MS);
  leaving.abort(new Error('I left'));
  await assert.rejects(left, /I left/);
  end();
  (await next)();
  assert.equal(queue.waiting, 0);
});

test('who has left before does not come in', async () => {
  const queue = new TurnQueue();
  await assert.rejects(queue.take(AbortSignal.abort(new Error('I left')), PATIENT_MS), /I left/);
  (await queue.take(never, PATIENT_MS))();
});
