import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Roster } from '../../src/runtime/roster.ts';

test('what has entered is there until it leaves, in whatever order it goes', () => {
  const roster = new Roster<string>();
  const places = new Map(['a', 'b', 'c', 'd'].map((item) => [item, roster.enter(item)]));
  for (const [gone, left] of [
    ['b', ['a', 'c', 'd']],
    ['d', ['a', 'c']],
    ['a', ['c']],
    ['c', []],
  ] as const) {
    places.get(gone)?.leave();
    assert.deepEqual([...roster].sort(), left);
    assert.equal(roster.size, left.length);
  }
});

test('leaving twice takes nobody else away', () => {
  const roster = new Roster<string>();
  const place = roster.enter('first');
  assert.equal(place.leave(), true);
  roster.enter('second');
  assert.equal(place.leave(), false);
  assert.deepEqual([...roster], ['second']);
});

test('the same item may be there several times', () => {
  const roster = new Roster<string>();
  const place = roster.enter('same');
  roster.enter('same');
  place.leave();
  assert.equal(roster.size, 1);
});

test('who leaves while others are gone through disturbs nobody', () => {
  const roster = new Roster<() => void>();
  const seen: number[] = [];
  for (const number of [1, 2, 3]) {
    const place = roster.enter(() => {
      seen.push(number);
      place.leave();
    });
  }
  for (const each of roster) each();
  assert.deepEqual(seen, [1, 2, 3]);
  assert.equal(roster.size, 0);
});
