import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeepAliveComments } from '../../src/http/keep-alive-comments.ts';

test('F42: each stream is served once an interval, from its own start on, by one timer', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const comments = new KeepAliveComments(15_000);
  const counts = { early: 0, late: 0 };
  const early = comments.add({
    writeComment() {
      counts.early += 1;
    },
  });
  t.mock.timers.tick(7_000);
  const late = comments.add({
    writeComment() {
      counts.late += 1;
    },
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

  early.leave();
  early.leave();
  assert.equal(comments.size, 1);
  t.mock.timers.tick(15_000);
  assert.deepEqual(counts, { early: 5, late: 6 });
  late.leave();
  t.mock.timers.tick(60_000);
  assert.deepEqual(counts, { early: 5, late: 6 });
  assert.equal(comments.size, 0);
});

test('F42: the timer does not keep the process alive', () => {
  const comments = new KeepAliveComments(15_000);
  const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const place = comments.add({ writeComment() {} });
  assert.equal(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length, before);
  place.leave();
});

test('F42: streams that open at once are served a few at a time, and none later than after an interval', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const comments = new KeepAliveComments(1_000);
  const served = new Map<number, number>();
  let now = 0;
  const places = Array.from({ length: 5_000 }, () =>
    comments.add({ writeComment: () => served.set(now, (served.get(now) ?? 0) + 1) }),
  );
  for (; now < 1_000; now += 10) t.mock.timers.tick(10);
  const counts = [...served.values()];
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    5_000,
  );
  assert.ok(Math.max(...counts) <= 51, `${Math.max(...counts)} at a time`);
  for (const place of places) place.leave();
  assert.equal(comments.size, 0);
});
