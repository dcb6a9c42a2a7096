import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binOf, LATENCY_BINS, quantileOf } from '../../src/telemetry/latency-bins.ts';
import { STEP_MS, STEPS, Traffic } from '../../src/telemetry/traffic.ts';

const OK = { method: 'tools/call', server: 'docs', outcome: 'ok', isError: undefined };

/** That ended at `endedAt`. */
function exchange(endedAt: number, changes: object = {}, durationMs = 10) {
  return { ...OK, startedAt: endedAt - durationMs, durationMs, ...changes };
}

function lastSteps(values: readonly unknown[], count: number): readonly unknown[] {
  return values.slice(-count);
}

test('a request counts in the step in which it ended, and failures are what did not go well', () => {
  const traffic = new Traffic();
  const now = 10 * STEP_MS + 1;
  for (const changes of [
    {},
    { outcome: 'cancelled' },
    { outcome: 'error' },
    { outcome: 'server-unavailable' },
    { isError: true },
  ]) {
    traffic.note(exchange(now, changes));
  }
  traffic.note(exchange(now - STEP_MS));
  const { requests, failed, total } = traffic.of('docs', now);
  assert.equal(requests.length, STEPS);
  assert.deepEqual(lastSteps(requests, 3), [0, 1, 5]);
  assert.deepEqual(lastSteps(failed, 3), [0, 0, 3]);
  assert.deepEqual([total.requests, total.failed], [6, 3]);
});

test('what went to no server, or is a stream that lives for hours, counts nowhere', () => {
  const traffic = new Traffic();
  for (const changes of [
    { server: undefined },
    { method: undefined },
    { method: 'GET' },
    { method: 'subscriptions/listen' },
    { durationMs: undefined },
  ]) {
    traffic.note(exchange(1_000, changes));
  }
  assert.equal(traffic.sum(1_000).total.requests, 0);
});

test('after a quarter of an hour a step is over, whether or not anything came after it', () => {
  const traffic = new Traffic();
  traffic.note(exchange(STEP_MS));
  const lastMoment = (STEPS + 1) * STEP_MS - 1;
  assert.equal(traffic.of('docs', lastMoment).requests[0], 1);
  assert.equal(traffic.of('docs', lastMoment + 1).total.requests, 0);
  // The same place of the ring is used anew, without what it held.
  traffic.note(exchange((STEPS + 1) * STEP_MS));
  const { requests, total } = traffic.of('docs', (STEPS + 1) * STEP_MS);
  assert.deepEqual([lastSteps(requests, 2), total.requests], [[0, 1], 1]);
});

test('a quiet time leaves empty steps, with no latency rather than one of nothing', () => {
  const traffic = new Traffic();
  traffic.note(exchange(STEP_MS));
  traffic.note(exchange(4 * STEP_MS));
  const { requests, p50Ms, p99Ms } = traffic.of('docs', 5 * STEP_MS);
  assert.deepEqual(lastSteps(requests, 5), [1, 0, 0, 1, 0]);
  for (const series of [p50Ms, p99Ms]) {
    assert.deepEqual(
      lastSteps(series, 5).map((value) => value === null),
      [false, true, true, false, true],
    );
  }
});

test('servers are counted apart and together; one that is no more is forgotten', () => {
  const traffic = new Traffic();
  for (const server of ['docs', 'docs', 'files']) traffic.note(exchange(1_000, { server }));
  const counts = () => ['docs', 'files', 'absent'].map((name) => traffic.of(name, 1_000).total.requests);
  assert.deepEqual([counts(), traffic.sum(1_000).total.requests], [[2, 1, 0], 3]);
  traffic.keepOnly(new Set(['files']));
  assert.deepEqual([counts(), traffic.sum(1_000).total.requests], [[0, 1, 0], 1]);
});

test('quantiles are within half an octave of the truth, over steps too', () => {
  const traffic = new Traffic();
  const durations = Array.from({ length: 1_000 }, (_, index) => 2 + index ** 1.7 / 100);
  for (const [index, duration] of durations.entries()) {
    traffic.note(exchange(1_000_000 + (index % 3) * STEP_MS, {}, duration));
  }
  const { p50Ms, p99Ms } = traffic.of('docs', 1_000_000 + 2 * STEP_MS).total;
  for (const [found, truth] of [
    [p50Ms, durations[499]],
    [p99Ms, durations[989]],
  ] as const) {
    const ratio = (found ?? 0) / (truth ?? 0);
    assert.ok(ratio > 1 / Math.SQRT2 && ratio < Math.SQRT2, `${found} for ${truth}`);
  }
});

test('each duration has a bin, however short, long or odd', () => {
  for (const [duration, bin] of [
    [0, 0],
    [0.99, 0],
    [1, 1],
    [2, 3],
    [Number.NaN, 0],
    [-5, 0],
    [131_071, LATENCY_BINS - 1],
    [Number.POSITIVE_INFINITY, LATENCY_BINS - 1],
  ] as const) {
    assert.equal(binOf(duration), bin, String(duration));
  }
  const bins = new Uint32Array(LATENCY_BINS);
  assert.equal(quantileOf(bins, 0.5), null);
  bins[LATENCY_BINS - 1] = 7;
  assert.equal(quantileOf(bins, 0.5), 92_682);
});
