import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferBudget } from '../../src/http/buffer-budget.ts';

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
