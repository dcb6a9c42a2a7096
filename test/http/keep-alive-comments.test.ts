import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeepAliveComments } from '../../src/http/keep-alive-comments.ts';

test('F42: each stream is served once an interval, from its own start on, by one timer', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const comments = new KeepAliveComments(15_000);
  const counts = { early: 0, late: 0 };
  const stopEarly = comments.add(() => {
    counts.early += 1;
  });
  t.mock.timers.tick(7_000);
  const stopLate = comments.add(() => {
    counts.late += 1;
  });
  t.mock.timers.tick(7_999);
  assert.deepEqual(counts, { early: 0, late: 0 });
  t.mock.timers.tick(1);
  assert.deepEqual(counts, { early: 1, late: 0 });
  t.mock.timers.tick(7_000);
  assert.deepEqual(counts, { early: 1, late: 1 });
  t.mock.timers.tick(60_000);
  assert.deepEqual(counts, { early: 5, late: 5 });
  assert.equal(comments.size, 2);

  stopEarly();
  stopEarly();
  assert.equal(comments.size, 1);
  t.mock.timers.tick(15_000);
  assert.deepEqual(counts, { early: 5, late: 6 });
  stopLate();
  t.mock.timers.tick(60_000);
  assert.deepEqual(counts, { early: 5, late: 6 });
  assert.equal(comments.size, 0);
});

test('F42: the timer does not keep the process alive', () => {
  const comments = new KeepAliveComments(15_000);
  const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const stop = comments.add(() => {});
  assert.equal(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length, before);
  stop();
});
