// What every store must do, whatever it is made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store, Take } from '../../src/state/store.ts';

export interface StoreUnderTest {
  readonly store: Store;
  /** Lets so much time pass for the store's windows. */
  pass(milliseconds: number): Promise<void>;
}

export function storeContract(open: () => Promise<StoreUnderTest>): void {
  let serial = 0;
  const counter = (changes: Partial<Take> = {}): Take => {
    serial += 1;
    return { key: `counter ${serial}`, amount: 1, max: 3, windowMs: 60_000, ...changes };
  };

  test('gives out what a window holds, and not one more', async () => {
    const { store } = await open();
    const take = counter();
    for (let n = 0; n < 3; n += 1) assert.deepEqual(await store.take([take]), { taken: true });
    const outcome = await store.take([take]);
    assert.ok(!outcome.taken && outcome.refused === 0);
    assert.ok(outcome.retryAfterMs > 59_000 && outcome.retryAfterMs <= 60_000, String(outcome.retryAfterMs));
  });

  test('gives out as much again when the window is over, and not before', async () => {
    const { store, pass } = await open();
    const take = counter({ windowMs: 200 });
    for (let n = 0; n < 3; n += 1) await store.take([take]);
    await pass(100);
    const outcome = await store.take([take]);
    assert.ok(!outcome.taken && outcome.retryAfterMs > 0 && outcome.retryAfterMs <= 100);
    await pass(101);
    for (let n = 0; n < 3; n += 1) assert.deepEqual(await store.take([take]), { taken: true });
    assert.equal((await store.take([take])).taken, false);
  });

  test('takes all or nothing: what one counter refuses costs nothing of another', async () => {
    const { store } = await open();
    const [wide, narrow] = [counter({ max: 10 }), counter({ max: 1 })];
    assert.deepEqual(await store.take([wide, narrow]), { taken: true });
    for (let n = 0; n < 20; n += 1) {
      const outcome = await store.take([wide, narrow]);
      assert.ok(!outcome.taken && outcome.refused === 1);
    }
    assert.deepEqual(await store.take([{ ...wide, amount: 9 }]), { taken: true });
    assert.equal((await store.take([wide])).taken, false);
  });

  test('a refusal counts for nothing: what is smaller still fits', async () => {
    const { store } = await open();
    const take = counter({ amount: 2 });
    await store.take([take]);
    for (let n = 0; n < 5; n += 1) assert.equal((await store.take([take])).taken, false);
    assert.deepEqual(await store.take([{ ...take, amount: 1 }]), { taken: true });
  });

  test('of several that refuse, the longest wait is told', async () => {
    const { store } = await open();
    const takes = [counter({ max: 1, windowMs: 1_000 }), counter({ max: 1, windowMs: 90_000 }), counter()];
    await store.take(takes);
    const outcome = await store.take(takes);
    assert.ok(!outcome.taken && outcome.refused === 1 && outcome.retryAfterMs > 1_000);
  });

  test('an amount above the whole window is refused for a window', async () => {
    const { store } = await open();
    const outcome = await store.take([counter({ amount: 4 })]);
    assert.deepEqual(outcome, { taken: false, refused: 0, retryAfterMs: 60_000 });
  });

  test('at once, many takers get exactly what there is', async () => {
    const { store } = await open();
    const take = counter({ max: 100 });
    const outcomes = await Promise.all(Array.from({ length: 300 }, () => store.take([take])));
    assert.equal(outcomes.filter(({ taken }) => taken).length, 100);
  });

  test('takes up to an amount: what is left, then nothing', async () => {
    const { store } = await open();
    const take = counter({ amount: 2 });
    const grants = [await store.takeUpTo(take), await store.takeUpTo(take), await store.takeUpTo(take)];
    assert.deepEqual(
      grants.map(({ amount }) => amount),
      [2, 1, 0],
    );
    for (const { endsInMs } of grants) assert.ok(endsInMs > 59_000 && endsInMs <= 60_000, String(endsInMs));
    assert.equal((await store.take([{ ...take, amount: 1 }])).taken, false);
  });

  test('a window that nothing was taken from has not begun', async () => {
    const { store } = await open();
    assert.deepEqual(await store.takeUpTo(counter({ max: 0 })), { amount: 0, endsInMs: 60_000 });
  });

  test('keys may hold anything', async () => {
    const { store } = await open();
    for (const key of ['a:b*?[]{}', 'ü\u0000\n"', ' ']) {
      const take = counter({ key: `${key}${serial}`, max: 1 });
      assert.equal((await store.take([take])).taken, true);
      assert.equal((await store.take([take])).taken, false);
    }
  });

  test('knows of one replica at least', async () => {
    const { store } = await open();
    assert.ok(store.available);
    assert.ok(store.replicas >= 1);
  });
}
