import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NumberedTable } from '../../src/runtime/numbered-table.ts';

interface Item {
  readonly id: number;
}

function enter(table: NumberedTable<Item>): Item {
  const item = { id: table.nextNumber() };
  table.add(item);
  return item;
}

test('numbers are given out one after the other, and found until they are deleted', () => {
  const table = new NumberedTable<Item>();
  const items = [enter(table), enter(table), enter(table)];
  assert.deepEqual(
    items.map(({ id }) => id),
    [1, 2, 3],
  );
  for (const item of items) assert.equal(table.get(item.id), item);
  const [first] = items as [Item, ...Item[]];
  table.delete(first);
  table.delete(first);
  assert.equal(table.get(1), undefined);
  assert.deepEqual([...table], items.slice(1));
  assert.equal(table.size, 2);
});

test('an item that stays is not taken for another, however many come and go meanwhile', () => {
  const table = new NumberedTable<Item>();
  const staying = enter(table);
  const seen = new Set([staying.id]);
  for (let round = 0; round < 1_000; round += 1) {
    const item = enter(table);
    assert.ok(!seen.has(item.id), 'no number is given out twice');
    seen.add(item.id);
    assert.equal(table.get(item.id), item);
    table.delete(item);
    assert.equal(table.get(item.id), undefined);
  }
  assert.equal(table.get(staying.id), staying);
  assert.equal(table.size, 1);
});

test('thousands at a time each keep their own', () => {
  const table = new NumberedTable<Item>();
  const items = Array.from({ length: 5_000 }, () => enter(table));
  for (const item of items) assert.equal(table.get(item.id), item);
  assert.equal(table.size, 5_000);
  for (const item of items) table.delete(item);
  assert.equal(table.size, 0);
  assert.deepEqual([...table], []);
});

test('a number that nobody was given finds nothing', () => {
  const table = new NumberedTable<Item>();
  enter(table);
  for (const id of [0, -1, 1.5, 65, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    assert.equal(table.get(id), undefined, String(id));
  }
});
