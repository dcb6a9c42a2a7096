// Several limits on one request, what runs at a time, and what happens while the store does not answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Admission, Limits } from '../../../src/access/limits/limits.ts';
import type { LimitConfig } from '../../../src/config/limits-config.ts';
import { MemoryStore } from '../../../src/state/memory-store.ts';
import { type Grant, type Store, StoreUnavailable, type TakeOutcome } from '../../../src/state/store.ts';
import { arrival, limitConfig, limitedRequest, person, verdict } from './limits-rig.ts';

function limitsOf(...configs: Partial<LimitConfig>[]) {
  const clock = { nowMs: 0 };
  const store = new MemoryStore({ now: () => clock.nowMs });
  const limits = new Limits({ limits: configs.map(limitConfig), store });
  const ask = (changes = {}) => verdict(limits.admit(limitedRequest(changes)));
  return { limits, store, clock, ask };
}

test('each caller gets what a limit allows, and is told when there will be more', async () => {
  const { clock, ask } = limitsOf({ name: 'fair', max: 2 });
  assert.equal(await ask(), 'admitted');
  clock.nowMs = 1_500.5;
  assert.equal(await ask(), 'admitted');
  assert.equal(await ask(), 'rate:fair: 58500');
  assert.equal(await ask({ principal: person('bob') }), 'admitted');
  clock.nowMs = 60_000;
  assert.equal(await ask(), 'admitted');
});

test('a call may cost more than a list, and a list nothing', async () => {
  const { ask } = limitsOf({ name: 'work', max: 10, cost: { call: 5, list: 1 } });
  assert.equal(await ask(), 'admitted');
  for (let n = 0; n < 5; n += 1) assert.equal(await ask({ cost: 'list' }), 'admitted');
  assert.equal(await ask({ cost: 'list' }), 'rate:work: 60000');
  const free = limitsOf({ max: 1, cost: { call: 1, list: 0 } });
  for (let n = 0; n < 20; n += 1) assert.equal(await free.ask({ cost: 'list' }), 'admitted');
});

test('what one limit refuses costs nothing of the others', async () => {
  const { ask } = limitsOf(
    { name: 'mine', max: 3 },
    { name: 'team', key: ['group'], max: 100 },
    { name: 'search', match: 'docs/search', max: 1 },
  );
  const search = { target: { kind: 'tools', name: 'search' } };
  assert.equal(await ask(search), 'admitted');
  for (let n = 0; n < 10; n += 1) assert.equal(await ask(search), 'rate:search: 60000');
  assert.equal(await ask(), 'admitted');
  assert.equal(await ask(), 'admitted');
  assert.equal(await ask(), 'rate:mine: 60000');
});

test('a limit that does not concern a request leaves it alone', async () => {
  const { store, ask } = limitsOf(
    { match: 'docs/search', max: 1 },
    { key: ['server'], match: 'files', max: 1 },
  );
  for (let n = 0; n < 5; n += 1) assert.equal(await ask(), 'admitted');
  assert.equal(store.size, 0);
});

test('so many at a time, until one has left', async () => {
  const { limits, ask } = limitsOf({ name: 'busy', max: undefined, inFlight: 2 });
  const admissions: Admission[] = [];
  for (let n = 0; n < 2; n += 1) admissions.push(await limits.admit(limitedRequest()));
  assert.equal(await ask(), 'in-flight:busy: 1000');
  assert.equal(await ask({ principal: person('bob') }), 'admitted');
  admissions[0]?.leave();
  admissions[0]?.leave();
  admissions.push(await limits.admit(limitedRequest()));
  assert.equal(await ask(), 'in-flight:busy: 1000');
});

test('who is refused takes no place, and who finds no place pays nothing', async () => {
  const { limits, ask } = limitsOf(
    { name: 'both', max: 2, inFlight: 1 },
    { name: 'other', key: ['server'], max: 1 },
  );
  const admission = await limits.admit(limitedRequest());
  assert.equal(await ask(), 'in-flight:both: 1000');
  admission.leave();
  for (let n = 0; n < 3; n += 1) assert.equal(await ask(), 'rate:other: 60000');
  const elsewhere = await limits.admit(limitedRequest({ server: 'files' }));
  elsewhere.leave();
  assert.equal(await ask({ server: 'more' }), 'rate:both: 60000');
});

test('a subscription takes no place; a retry takes one even where there is none, and pays nothing', async () => {
  const { limits, ask } = limitsOf({ name: 'busy', max: 1, inFlight: 1 });
  limits.admitFree(limitedRequest({ isEndless: true }));
  const retries = [limits.admitFree(limitedRequest()), limits.admitFree(limitedRequest())];
  assert.equal(await ask(), 'in-flight:busy: 1000');
  for (const retry of retries) retry.leave();
  assert.equal(await ask({ isEndless: true }), 'admitted');
});

test('F57: 500 callers behind one address get their share each', async () => {
  const { ask } = limitsOf({ name: 'fair', max: 3 });
  const people = Array.from({ length: 500 }, (_, n) => person(`person ${n}`));
  for (let round = 0; round < 3; round += 1) {
    const verdicts = await Promise.all(people.map((principal) => ask({ principal })));
    assert.deepEqual([...new Set(verdicts)], ['admitted']);
  }
  const beyond = await Promise.all(people.map((principal) => ask({ principal })));
  assert.deepEqual([...new Set(beyond)], ['rate:fair: 60000']);
});

/** Fails as often as it is told to, and knows how often it was asked. */
class SickStore implements Store {
  available = true;
  replicas = 1;
  asked = 0;
  failing = true;
  readonly #healthy = new MemoryStore({ now: () => 0 });

  take(takes: Parameters<Store['take']>[0]): Promise<TakeOutcome> {
    this.#ask();
    return this.#healthy.take(takes);
  }

  takeUpTo(take: Parameters<Store['takeUpTo']>[0]): Promise<Grant> {
    this.#ask();
    return this.#healthy.takeUpTo(take);
  }

  #ask(): void {
    this.asked += 1;
    if (this.failing) throw new StoreUnavailable('sick');
  }

  async open(): Promise<void> {}
  async close(): Promise<void> {}
}

function sickLimits(...configs: Partial<LimitConfig>[]) {
  const store = new SickStore();
  let fallbacks = 0;
  const limits = new Limits({
    limits: configs.map(limitConfig),
    store,
    onFallback: () => {
      fallbacks += 1;
    },
  });
  const admitted = async (times: number) => {
    const asking = Array.from({ length: times }, () => verdict(limits.admit(limitedRequest())));
    return (await Promise.all(asking)).filter((said) => said === 'admitted').length;
  };
  return { store, limits, admitted, fallbacks: () => fallbacks };
}

test('F56: without the store a limit holds in process, at the share of one replica', async () => {
  const { store, admitted, fallbacks } = sickLimits({ max: 100 });
  store.replicas = 4;
  assert.equal(await admitted(200), 25);
  assert.equal(fallbacks(), 200);
});

test('F56: of however many replicas, one request fits', async () => {
  const { store, admitted } = sickLimits({ max: 10, cost: { call: 5, list: 1 } });
  store.replicas = 100;
  assert.equal(await admitted(10), 1);
});

test('F55: a store that is known to be away is not asked', async () => {
  const { store, admitted } = sickLimits({ max: 5 });
  store.available = false;
  assert.equal(await admitted(10), 5);
  assert.equal(store.asked, 0);
});

test('F55: a request that has waited in vain once is counted here from then on', async () => {
  const { store, limits } = sickLimits({ name: 'guard', key: ['ip'], max: 9 }, { name: 'fair', max: 9 });
  const mine = arrival();
  await limits.admitAddress(mine);
  await limits.admit(limitedRequest({ arrival: mine }));
  assert.equal(store.asked, 1);
  assert.equal(mine.storeFailed, true);
});

test('F56: when the store is back, it counts again', async () => {
  const { store, admitted } = sickLimits({ max: 5 });
  assert.equal(await admitted(10), 5);
  store.failing = false;
  assert.equal(await admitted(10), 5);
  assert.equal(await admitted(10), 0);
});

test('F56: what is leased is counted in process too, and bounded, while the store is away', async () => {
  const { store, admitted } = sickLimits({ max: 100, lease: 10 });
  store.replicas = 2;
  // Ten on credit, then the share.
  assert.equal(await admitted(200), 60);
});

test('F55: an error that is no outage is an error', async () => {
  const store = new SickStore();
  store.failing = false;
  const limits = new Limits({ limits: [limitConfig()], store });
  store.take = async () => {
    throw new TypeError('a mistake of ours');
  };
  await assert.rejects(limits.admit(limitedRequest()), TypeError);
});

test('limits of another config go on counting where those before did', async () => {
  const store = new MemoryStore({ now: () => 0 });
  const configs = (max: number, windowMs = 60_000) => [
    limitConfig({ name: 'fair', max, windowMs }),
    limitConfig({ name: 'busy', max: undefined, inFlight: 1 }),
  ];
  const before = new Limits({ limits: configs(2), store });
  const running = await before.admit(limitedRequest());
  const after = new Limits({ limits: configs(3), store }, before);
  assert.equal(await verdict(after.admit(limitedRequest())), 'in-flight:busy: 1000');
  running.leave();
  for (let count = 2; count <= 3; count += 1) (await after.admit(limitedRequest())).leave();
  assert.equal(await verdict(after.admit(limitedRequest())), 'rate:fair: 60000');
  const otherWindow = new Limits({ limits: configs(1, 1_000), store }, after);
  assert.equal(await verdict(otherWindow.admit(limitedRequest())), 'admitted');
});

test('what can be had at once waits for nothing, and leaves nothing taken where it cannot', async () => {
  const { limits } = limitsOf({ name: 'fair', max: 2 }, { name: 'busy', max: undefined, inFlight: 1 });
  const first = limits.admitNow(limitedRequest());
  assert.ok(first);
  assert.throws(() => limits.admitNow(limitedRequest()), { code: 'rate-limited' });
  first.leave();
  limits.admitNow(limitedRequest())?.leave();
  assert.throws(() => limits.admitNow(limitedRequest()), { code: 'rate-limited' });
  // A store that has to be asked: nothing is had at once, and no place among those that run is taken.
  const asked = sickLimits({ max: 2 }, { name: 'busy', max: undefined, inFlight: 1 });
  asked.store.failing = false;
  for (let n = 0; n < 3; n += 1) assert.equal(asked.limits.admitNow(limitedRequest()), undefined);
  (await asked.limits.admit(limitedRequest())).leave();
  assert.equal(asked.store.asked, 1);
});

test('of limits that are leased, what one refuses costs nothing of another', async () => {
  const { limits, ask } = limitsOf(
    { name: 'mine', max: 2, lease: 2 },
    { name: 'search', match: 'docs/search', max: 1, lease: 1 },
  );
  const search = { target: { kind: 'tools', name: 'search' } } as const;
  assert.equal(await ask(search), 'admitted');
  for (let n = 0; n < 5; n += 1) {
    assert.throws(() => limits.admitNow(limitedRequest(search)), { code: 'rate-limited' });
  }
  assert.ok(limits.admitNow(limitedRequest()));
  assert.equal(await ask(), 'rate:mine: 60000');
});
