// Counters that take from the store for many requests at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Leases } from '../../../src/access/limits/leases.ts';
import { MemoryStore } from '../../../src/state/memory-store.ts';
import { type Grant, StoreUnavailable, type Take } from '../../../src/state/store.ts';

const TAKE: Take = { key: 'k', amount: 1, max: 100, windowMs: 60_000 };

/** A store whose answers a test lets out. */
class HeldStore extends MemoryStore {
  asked = 0;
  failing = false;
  #gate = Promise.withResolvers<void>();
  #open = true;

  hold(): void {
    this.#open = false;
    this.#gate = Promise.withResolvers();
  }

  release(): void {
    this.#open = true;
    this.#gate.resolve();
  }

  override async takeUpTo(take: Take): Promise<Grant> {
    this.asked += 1;
    if (!this.#open) await this.#gate.promise;
    if (this.failing) throw new StoreUnavailable('sick');
    return super.takeUpTo(take);
  }
}

function rig() {
  const clock = { nowMs: 0 };
  const now = () => clock.nowMs;
  const store = new HeldStore({ now });
  const leases = (size = 10) => {
    const held = new Leases({ store, now });
    return async (times = 1) => {
      let taken = 0;
      for (let n = 0; n < times; n += 1) taken += (await held.take(TAKE, size)).taken ? 1 : 0;
      return taken;
    };
  };
  return { clock, store, leases };
}

const settled = () => new Promise(setImmediate);

test('ten at once: a tenth of the questions', async () => {
  const { store, leases } = rig();
  assert.equal(await leases()(100), 100);
  assert.ok(store.asked <= 21, `asked ${store.asked} times`);
});

test('alone, it gives out what there is, to the last, and not one more', async () => {
  const { leases } = rig();
  const take = leases();
  let taken = 0;
  for (let n = 0; n < 200; n += 1) {
    taken += await take();
    await settled();
  }
  assert.equal(taken, 100);
});

test('several replicas together pass the limit by one lease each at most', async () => {
  const { leases } = rig();
  const replicas = Array.from({ length: 4 }, () => leases());
  const taken = await Promise.all(replicas.map((take) => take(100)));
  const all = taken.reduce((sum, each) => sum + each, 0);
  assert.ok(all >= 100 && all <= 100 + 4 * 10, `${all}`);
});

test('nobody waits while the store is slow, until a whole lease is out on credit', async () => {
  const { store, leases } = rig();
  const take = leases();
  store.hold();
  assert.equal(await take(10), 10);
  let eleventh = false;
  const waiting = take().then(() => {
    eleventh = true;
  });
  await settled();
  assert.equal(eleventh, false);
  store.release();
  await waiting;
});

test('where nothing is left, nothing is given on credit either', async () => {
  const { store, leases } = rig();
  await store.takeUpTo({ ...TAKE, amount: 100 });
  const take = leases();
  const onCredit = await take(1);
  await settled();
  assert.equal(onCredit, 1);
  assert.equal(await take(50), 0);
});

test('a new window begins with nothing owed', async () => {
  const { clock, leases } = rig();
  const take = leases();
  await take(150);
  await settled();
  assert.equal(await take(), 0);
  clock.nowMs = 60_001;
  let taken = 0;
  for (let n = 0; n < 150; n += 1) {
    taken += await take();
    await settled();
  }
  assert.equal(taken, 100);
});

test('tells how long the window still lasts', async () => {
  const { clock, store } = rig();
  await store.takeUpTo({ ...TAKE, amount: 100 });
  clock.nowMs = 20_000;
  const leases = new Leases({ store, now: () => clock.nowMs });
  await leases.take(TAKE, 10);
  await settled();
  assert.deepEqual(await leases.take(TAKE, 10), { taken: false, retryAfterMs: 40_000 });
});

test('what is undone can be taken again', async () => {
  const { store, clock } = rig();
  const leases = new Leases({ store, now: () => clock.nowMs });
  const take = { ...TAKE, max: 3 };
  for (let n = 0; n < 10; n += 1) {
    const outcome = await leases.take(take, 3);
    assert.ok(outcome.taken);
    outcome.undo();
    await settled();
  }
});

test('a store that fails is said to fail, once the credit is used up', async () => {
  const { store, leases } = rig();
  const take = leases();
  store.failing = true;
  assert.equal(await take(10), 10);
  await assert.rejects(take(), StoreUnavailable);
  store.failing = false;
  assert.equal(await take(), 1);
});

test('F56: a spray of keys is held in bounded memory', async () => {
  const { store } = rig();
  const leases = new Leases({ store, maxLeases: 100 });
  for (let n = 0; n < 1_000; n += 1) await leases.take({ ...TAKE, key: `${n}` }, 10);
  assert.ok(leases.size <= 200);
});

test('a lease gives at once what it has, and nothing where it would have to wait', async () => {
  const store = new HeldStore();
  store.hold();
  const held = new Leases({ store });
  let given = 0;
  while (held.takeNow(TAKE, 10)?.taken) given += 1;
  assert.equal(given, 10);
  assert.equal(held.takeNow(TAKE, 10), undefined);
  store.release();
  assert.equal((await held.take(TAKE, 10)).taken, true);
});
