import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../src/state/memory-store.ts';
import { heldBytes } from '../support/held-memory.ts';
import { storeContract } from './store-contract.ts';

const MINUTE = { amount: 1, max: 3, windowMs: 60_000 };

function clocked(maxCounters?: number) {
  let now = 0;
  const store = new MemoryStore({ now: () => now, ...(maxCounters === undefined ? {} : { maxCounters }) });
  const pass = async (milliseconds: number) => {
    now += milliseconds;
  };
  return { store, pass };
}

describe('a store in process', () => storeContract(async () => clocked()));

test('F56: a spray of a million keys is held in bounded memory', async () => {
  const { store } = clocked();
  const before = heldBytes();
  for (let n = 0; n < 1_000_000; n += 1) store.takeNow([{ ...MINUTE, key: `spray ${n}` }]);
  assert.equal(store.size, 100_000);
  const grownMb = (heldBytes() - before) / 1e6;
  assert.ok(grownMb < 30, `the heap grew by ${grownMb.toFixed(0)} MB`);
  assert.equal(store.size, 100_000);
});

test('F56: a spray of keys rids nobody of the counter that stops them', async () => {
  const { store } = clocked(1_000);
  const caller = { ...MINUTE, key: 'the sprayer himself' };
  for (let n = 0; n < 3; n += 1) store.takeNow([caller]);
  for (let n = 0; n < 100_000; n += 1) store.takeNow([{ ...MINUTE, key: `spray ${n}` }]);
  assert.equal(store.size, 1_000);
  assert.equal(store.takeNow([caller]).taken, false);
});

test('windows that are over make room first', async () => {
  const { store, pass } = clocked(10);
  for (let n = 0; n < 5; n += 1) store.takeNow([{ ...MINUTE, key: `old ${n}` }]);
  await pass(60_001);
  for (let n = 0; n < 8; n += 1) store.takeNow([{ ...MINUTE, key: `new ${n}`, amount: 3 }]);
  assert.equal(store.size, 8);
  for (let n = 0; n < 8; n += 1) assert.equal(store.takeNow([{ ...MINUTE, key: `new ${n}` }]).taken, false);
});

test('windows of different lengths share the room', async () => {
  const { store } = clocked(100);
  for (let n = 0; n < 300; n += 1) {
    store.takeNow([{ ...MINUTE, key: `${n}`, windowMs: [1_000, 60_000, 3_600_000][n % 3] ?? 0 }]);
  }
  assert.equal(store.size, 100);
});

test('nothing is left after its end', async () => {
  const { store } = clocked();
  store.takeNow([{ ...MINUTE, key: 'key' }]);
  await store.close();
  assert.equal(store.size, 0);
});
