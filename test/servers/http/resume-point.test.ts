// How long is waited before a stream is asked for again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResumePoint } from '../../../src/servers/http/resume-point.ts';

type Ending = 'dead' | 'alive' | 'message' | 'held';

function delaysAfter(endings: readonly Ending[], retryMs: number | undefined, maxPollMs = 30_000): number[] {
  const point = new ResumePoint();
  if (retryMs !== undefined) point.retryAfter(retryMs);
  return endings.map((ending) => {
    if (ending === 'alive') point.moveTo('e1');
    if (ending === 'message') point.progressed();
    if (ending !== 'dead') point.ended(ending === 'held' ? 6_000 : 1);
    return point.nextDelayMs(maxPollMs);
  });
}
const times = (count: number, ending: Ending): Ending[] => Array.from({ length: count }, () => ending);

const CASES: readonly [string, number[], number[]][] = [
  ['`retry: 0` has a floor', delaysAfter(['message', 'message'], 0), [100, 100]],
  [
    "messages keep the server's retry",
    delaysAfter(times(6, 'message'), 250),
    times(6, 'message').map(() => 250),
  ],
  [
    'a connection that held for a while does too',
    delaysAfter(times(5, 'held'), 250),
    [250, 250, 250, 250, 250],
  ],
  [
    'ends without a message are waited for longer and longer',
    delaysAfter(times(6, 'alive'), 0),
    [100, 100, 100, 200, 400, 800],
  ],
  ['up to a bound', delaysAfter(times(12, 'alive'), 0).slice(-3), [12_800, 25_600, 30_000]],
  [
    'which is lower where somebody waits',
    delaysAfter(times(9, 'alive'), 0, 2_000).slice(-3),
    [1_600, 2_000, 2_000],
  ],
  [
    'a slower server is polled as it wants',
    delaysAfter(times(9, 'alive'), 5_000, 2_000),
    times(9, 'alive').map(() => 5_000),
  ],
  [
    'a message starts the count again',
    delaysAfter([...times(5, 'alive'), 'message', 'alive'], 0).slice(-3),
    [400, 100, 100],
  ],
  ['without `retry` it is a second', delaysAfter(['message'], undefined), [1_000]],
  [
    'nobody there: each attempt is later',
    delaysAfter(times(4, 'dead'), undefined),
    [1_000, 2_000, 4_000, 8_000],
  ],
  ['a `retry` of hours is not kept', delaysAfter(['message'], 7_200_000), [30_000]],
];
for (const [what, delays, expected] of CASES) test(what, () => assert.deepEqual(delays, expected));

test('a sign of life is none of a message, and keeps the call alive', () => {
  const point = new ResumePoint();
  for (let poll = 0; poll < 9; poll += 1) {
    point.retryAfter(0);
    point.nextDelayMs(2_000);
    assert.equal(point.fruitless, 0);
  }
  point.nextDelayMs(2_000);
  assert.equal(point.fruitless, 1);
});
