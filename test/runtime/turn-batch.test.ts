import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { TurnBatch } from '../../src/runtime/turn-batch.ts';

test('what a turn has brought is done at its end, in order', async () => {
  const done: number[] = [];
  const batch = new TurnBatch<number>((item) => done.push(item));
  batch.add(1);
  batch.add(2);
  await Promise.resolve();
  assert.deepEqual(done, []);
  await turnEnd();
  assert.deepEqual(done, [1, 2]);
  batch.add(3);
  await turnEnd();
  assert.deepEqual(done, [1, 2, 3]);
});

test('what waits is done at once when it is asked for, and once', async () => {
  const done: number[] = [];
  const batch = new TurnBatch<number>((item) => done.push(item));
  batch.add(1);
  batch.flush();
  assert.deepEqual(done, [1]);
  batch.add(2);
  await turnEnd();
  assert.deepEqual(done, [1, 2]);
});

test('what one item leads to is done too', async () => {
  const done: number[] = [];
  const batch = new TurnBatch<number>((item) => {
    done.push(item);
    if (item < 3) batch.add(item + 1);
  });
  batch.add(1);
  while (done.length < 3) await turnEnd();
  assert.deepEqual(done, [1, 2, 3]);
});
