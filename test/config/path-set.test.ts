import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PathSet } from '../../src/config/path-set.ts';

test('a path is covered by itself and by what stands above it, and by nothing else', () => {
  const paths = new PathSet([
    ['a', 'b'],
    ['list', 0],
    ['a', 'b', 'c'],
  ]);
  const covered = [
    ['a', 'b'],
    ['a', 'b', 'x', 'y'],
    ['list', 0],
    ['list', 0, 'key'],
  ];
  const free = [[], ['a'], ['b'], ['list'], ['list', 1], ['list', '0'], ['a', 'bc']];
  for (const path of covered) assert.ok(paths.covers(path), path.join('.'));
  for (const path of free) assert.ok(!paths.covers(path), path.join('.'));
});

test('only the whole file covers everything', () => {
  const paths = new PathSet([[]]);
  assert.ok(paths.covers([]) && paths.covers(['a', 0]));
  assert.ok(!new PathSet().covers([]));
});

test('a member is a path that was added, not one above or below', () => {
  const paths = new PathSet([['a', 'b']]);
  assert.deepEqual(
    [['a'], ['a', 'b'], ['a', 'b', 'c']].map((path) => paths.has(path)),
    [false, true, false],
  );
});

test('a hundred thousand faults are asked about a hundred thousand times', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ['mcpServers', `s${index}`, 'url']);
  const paths = new PathSet(many);
  assert.ok(many.every((path) => paths.covers([...path, 'below']) && paths.has(path)));
});
