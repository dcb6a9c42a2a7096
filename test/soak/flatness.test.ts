import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median } from '../support/median.ts';
import { flatness } from './flatness.ts';

const MARGIN = { factor: 1.1, plus: 5 };

test('the median of an even and of an odd number of values, and of none', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.ok(Number.isNaN(median([])));
});

test('growth while it warms up is no growth, and one spike is none either', () => {
  assert.ok(flatness([10, 50, 100, 100, 100, 100, 104, 900, 101], MARGIN).flat);
});

test('what goes on growing is not flat', () => {
  assert.deepEqual(flatness([100, 100, 100, 110, 120, 130, 140, 150, 160], MARGIN), {
    early: 120,
    late: 150,
    flat: false,
  });
});

test('a gateway that gets warm late may grow until it is', () => {
  const growing = [10, 20, 30, 40, 50, 60, 70, 80, 90];
  assert.equal(flatness(growing, { ...MARGIN, warm: 80 }).flat, true);
  assert.equal(flatness(growing, { ...MARGIN, warm: 79 }).flat, false);
});

test('without samples nothing is flat', () => {
  assert.equal(flatness([], MARGIN).flat, false);
});
