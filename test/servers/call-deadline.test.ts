import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../src/errors.ts';
import { abortSignalOf } from '../../src/runtime/stop.ts';
import { startDeadline } from '../../src/servers/call-deadline.ts';

const never = () => new AbortController().signal;
const FAR_MS = 60_000;

test('F43: the clock runs out with deadline-passed', async () => {
  const deadline = startDeadline({ callTimeoutMs: 20, maxCallTimeMs: FAR_MS }, never());
  await once(abortSignalOf(deadline.signal), 'abort');
  assert.ok(deadline.signal.reason instanceof GatewayError);
  assert.equal(deadline.signal.reason.code, 'deadline-passed');
});

test('F43: the maximum holds where it is the shorter', async () => {
  const startedAt = performance.now();
  const deadline = startDeadline({ callTimeoutMs: FAR_MS, maxCallTimeMs: 20 }, never());
  await once(abortSignalOf(deadline.signal), 'abort');
  assert.ok(performance.now() - startedAt < FAR_MS);
});

test('F43: progress gives the call its full time again', async () => {
  const deadline = startDeadline({ callTimeoutMs: 150, maxCallTimeMs: FAR_MS }, never());
  const startedAt = performance.now();
  for (let step = 0; step < 4; step += 1) {
    await delay(60);
    deadline.extend();
  }
  const extendedAt = performance.now();
  assert.equal(deadline.signal.aborted, false, 'after more than one timeout');
  assert.ok(extendedAt - startedAt > 150);
  await once(abortSignalOf(deadline.signal), 'abort');
  assert.ok(performance.now() - extendedAt >= 145, 'a whole timeout after the last sign of life');
});

test('F43: progress moves the maximum not at all', async () => {
  const deadline = startDeadline({ callTimeoutMs: 80, maxCallTimeMs: 200 }, never());
  const busy = setInterval(() => deadline.extend(), 10);
  const startedAt = performance.now();
  await once(abortSignalOf(deadline.signal), 'abort');
  clearInterval(busy);
  assert.ok(performance.now() - startedAt >= 195);
});

test('while a person is asked no time passes, towards the maximum neither', async () => {
  const deadline = startDeadline({ callTimeoutMs: 60, maxCallTimeMs: 80 }, never());
  deadline.pause();
  await delay(150);
  assert.equal(deadline.signal.aborted, false);
  deadline.resume();
  const resumedAt = performance.now();
  await once(abortSignalOf(deadline.signal), 'abort');
  assert.ok(performance.now() - resumedAt >= 40, 'what was left of the time is still there');
});

test("the parent's abort goes through, with its reason, even when it came before", () => {
  const parent = new AbortController();
  const deadline = startDeadline({ callTimeoutMs: FAR_MS, maxCallTimeMs: FAR_MS }, parent.signal);
  const reason = new Error('the client left');
  parent.abort(reason);
  assert.equal(deadline.signal.reason, reason);
  deadline.stop();
  const late = startDeadline({ callTimeoutMs: FAR_MS, maxCallTimeMs: FAR_MS }, parent.signal);
  assert.equal(late.signal.reason, reason);
  late.stop();
});

test('a stopped clock hears nothing any more, neither of time nor of its parent', async () => {
  const parent = new AbortController();
  const deadline = startDeadline({ callTimeoutMs: 20, maxCallTimeMs: 20 }, parent.signal);
  deadline.stop();
  await delay(50);
  parent.abort();
  assert.equal(deadline.signal.aborted, false);
});

test('no limit means none: a subscription stays', async () => {
  const unlimited = Number.POSITIVE_INFINITY;
  const deadline = startDeadline({ callTimeoutMs: unlimited, maxCallTimeMs: unlimited }, never());
  await delay(30);
  assert.equal(deadline.signal.aborted, false);
  deadline.stop();
});

test('a time beyond what a timer can hold is waited for all the same', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  const monthMs = 31 * 24 * 3_600_000;
  const deadline = startDeadline({ callTimeoutMs: monthMs, maxCallTimeMs: monthMs }, never());
  await delay(20);
  deadline.stop();
  assert.equal(deadline.signal.aborted, false);
  assert.deepEqual(warnings, []);
});

test('a clock that was stopped while it stood still stays stopped', async () => {
  const deadline = startDeadline({ callTimeoutMs: 20, maxCallTimeMs: 20 }, never());
  deadline.pause();
  deadline.stop();
  deadline.resume();
  await delay(50);
  assert.equal(deadline.signal.aborted, false);
});
