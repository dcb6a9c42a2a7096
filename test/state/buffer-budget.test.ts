import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BufferBudget, type Spare } from '../../src/state/buffer-budget.ts';

test('holds share one budget; what finds no room changes nothing', () => {
  const budget = new BufferBudget(100);
  const first = budget.open();
  const second = budget.open();
  assert.equal(first.resize(60), true);
  assert.equal(second.resize(40), true);
  assert.equal(second.resize(41), false);
  assert.equal(budget.usedBytes, 100);
  assert.equal(first.resize(0), true);
  assert.equal(second.resize(100), true);
  assert.equal(second.resize(0), true);
  assert.equal(budget.usedBytes, 0);
});

test('a hold may always shrink, also while the budget is full', () => {
  const budget = new BufferBudget(10);
  const hold = budget.open();
  hold.resize(10);
  assert.equal(hold.resize(9), true);
  assert.equal(budget.usedBytes, 9);
});

function spare(name: string, heldBytes: number, given: string[] = []): Spare {
  return { heldBytes, giveUp: () => void given.push(name) };
}

test('what could be done without gives way, the oldest first, before anybody is refused', () => {
  const budget = new BufferBudget(100);
  const given: string[] = [];
  const spares = ['first', 'second', 'third'].map((name) => spare(name, 30, given));
  for (const one of spares) assert.ok(budget.keep(one));
  assert.deepEqual([budget.usedBytes, budget.spareBytes], [90, 90]);
  const hold = budget.open();
  assert.ok(hold.resize(50));
  assert.deepEqual(given, ['first', 'second']);
  assert.deepEqual([budget.usedBytes, budget.spareBytes], [80, 30]);
  assert.ok(hold.resize(100));
  assert.deepEqual(given, ['first', 'second', 'third']);
  assert.equal(hold.resize(101), false);
  assert.equal(budget.keep(spare('fourth', 1)), false, 'a spare pushes nobody out but older spares');
  hold.resize(0);
  assert.equal(budget.usedBytes, 0);
});

test('what is in memory already is counted, room or not, and keeps newcomers out', () => {
  const budget = new BufferBudget(100);
  const underWay = budget.open();
  const newcomer = budget.open();
  underWay.count(150);
  assert.equal(budget.usedBytes, 150);
  assert.equal(newcomer.resize(1), false);
  underWay.count(99);
  assert.ok(newcomer.resize(1));
});

test('a spare that was released is given up no more, and counts no more, however often it is released', () => {
  const budget = new BufferBudget(100);
  const given: string[] = [];
  const one = spare('one', 60, given);
  budget.keep(one);
  budget.release(one);
  budget.release(one);
  assert.equal(budget.usedBytes, 0);
  assert.ok(budget.open().resize(100));
  assert.deepEqual(given, []);
});

test('whatever the order of holds and spares: never over the bound by asking, and nothing is left at the end', () => {
  const step = fc.record({
    kind: fc.constantFrom('resize', 'count', 'keep', 'release'),
    index: fc.nat(4),
    bytes: fc.nat(120),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = new BufferBudget(100);
      const holds = Array.from({ length: 5 }, () => budget.open());
      const kept = new Set<Spare>();
      for (const { kind, index, bytes } of steps) {
        const before = budget.usedBytes;
        const hold = holds[index];
        if (kind === 'resize') hold?.resize(bytes);
        if (kind === 'count') hold?.count(bytes);
        if (kind === 'keep') {
          const one: Spare = { heldBytes: bytes, giveUp: () => kept.delete(one) };
          if (budget.keep(one)) kept.add(one);
        }
        if (kind === 'release') for (const one of kept) budget.release(one);
        if (kind === 'release') kept.clear();
        if (kind !== 'count') assert.ok(budget.usedBytes <= Math.max(before, 100));
        const keptBytes = [...kept].reduce((sum, { heldBytes }) => sum + heldBytes, 0);
        assert.equal(budget.spareBytes, keptBytes);
      }
      for (const hold of holds) hold.resize(0);
      for (const one of kept) budget.release(one);
      assert.deepEqual([budget.usedBytes, budget.spareBytes], [0, 0]);
    }),
  );
});
