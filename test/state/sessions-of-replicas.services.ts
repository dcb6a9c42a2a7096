// Sessions in a real Redis: what replicas see of each other's, and who has them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NEW_STATE, type SessionLimits } from '../../src/state/session-store.ts';
import { eventually } from '../support/eventually.ts';
import { failure } from '../support/http-rig.ts';
import { newPrefix, replicasOnRedis } from '../support/session-replicas.ts';
import { recordOf } from './session-store-contract.ts';

const { start: startReplica } = replicasOnRedis();

/** Two replicas that share their sessions. */
async function startTwo(limits: Partial<SessionLimits> = {}) {
  const prefix = newPrefix();
  const one = await startReplica({ prefix, limits });
  const other = await startReplica({ prefix, limits });
  return {
    one,
    other,
    async [Symbol.asyncDispose]() {
      await other[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
    },
  };
}

describe('sessions of other replicas', () => {
  test('F01: each finds what another made, and who has it', async () => {
    await using two = await startTwo();
    const { one, other } = two;
    const { id, key } = await one.store.create(recordOf('a'));
    const found = await other.store.find(id);
    assert.deepEqual([found?.key, found?.owner], [key, one.id]);
    await one.store.end(key);
    assert.equal(await other.store.find(id), undefined);
  });

  test('F04: caps hold across replicas, for all at once', async () => {
    await using two = await startTwo({ max: 20, maxPerPrincipal: 8 });
    const stores = [two.one.store, two.other.store];
    const made = async (principal: string, count: number) => {
      const tries = Array.from({ length: count }, (_, n) => stores[n % 2]?.create(recordOf(principal)));
      const outcomes = await Promise.allSettled(tries);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') assert.ok(failure('no-capacity', 'sessions')(outcome.reason));
      }
      return outcomes.filter(({ status }) => status === 'fulfilled').length;
    };
    assert.equal(await made('a', 30), 8);
    assert.equal(await made('b', 30), 8);
    assert.equal(await made('c', 30), 4);
  });

  test('F04: what another replica left behind when it died counts no longer than it would have lived', async () => {
    const prefix = newPrefix();
    const limits = { max: 2 };
    {
      await using dead = await startReplica({ prefix, limits: { ...limits, idleTimeoutMs: 300 } });
      await dead.store.create(recordOf('a'));
    }
    await using one = await startReplica({ prefix, limits });
    // What lives on counts in the same place.
    await one.store.create(recordOf('a'));
    await assert.rejects(one.store.create(recordOf('a')), failure('no-capacity', 'sessions'));
    await eventually('there is room again', () =>
      one.store.create(recordOf('a')).then(
        () => true,
        () => false,
      ),
    );
  });

  test('what becomes of a session is there for a successor', async () => {
    await using two = await startTwo();
    const { one, other } = two;
    const { id, key } = await one.store.create(recordOf('a'));
    const state = { ...NEW_STATE, initialized: true, logLevel: 'debug', subscriptions: { docs: ['a:b'] } };
    await Promise.all([one.store.save(key, { ...NEW_STATE, initialized: true }), one.store.save(key, state)]);
    assert.deepEqual((await other.store.find(id))?.state, state);
  });

  test('F01: of ten replicas that take a session over at once, one gets it, and all know which', async () => {
    const prefix = newPrefix();
    await using one = await startReplica({ prefix });
    const { id, key } = await one.store.create(recordOf('a'));
    const others = await Promise.all(Array.from({ length: 10 }, () => startReplica({ prefix })));
    const found = await Promise.all(others.map(({ store }) => store.find(id)));
    const taken = await Promise.all(others.map(({ store }, n) => store.take(found[n] ?? assert.fail())));
    const owners = new Set(taken.map((session) => session?.owner));
    assert.equal(owners.size, 1);
    const [owner] = owners;
    assert.ok(others.some((replica) => replica.id === owner));
    await one.store.check(key);
    assert.deepEqual(one.lost, [`${key} moved`]);
    for (const replica of others) await replica[Symbol.asyncDispose]();
  });

  test('a session that its owner has gone on with is taken over as it is by then', async () => {
    await using two = await startTwo();
    const { one, other } = two;
    const { id, key } = await one.store.create(recordOf('a'));
    const found = (await other.store.find(id)) ?? assert.fail();
    await one.store.save(key, { ...NEW_STATE, hasProcess: true });
    const taken = await other.store.take(found);
    assert.deepEqual([taken?.owner, taken?.state.hasProcess], [other.id, true]);
    await one.store.save(key, { ...NEW_STATE, logLevel: 'error' });
    assert.deepEqual(one.lost, [`${key} moved`], 'who is no owner any more cannot change it');
    assert.equal((await other.store.find(id))?.state.logLevel, undefined);
  });

  test('an owner learns by any question that a session is another one’s, or no more', async () => {
    await using two = await startTwo();
    const { one, other } = two;
    const [moved, removed, touched] = await Promise.all(
      ['a', 'a', 'a'].map((name) => one.store.create(recordOf(name))),
    );
    assert.ok(moved && removed && touched);
    await other.store.take(moved);
    await one.store.find(moved.id);
    await other.store.remove(removed);
    await one.store.find(removed.id);
    await other.store.remove(touched);
    await one.store.check(touched.key);
    assert.deepEqual(one.lost, [`${moved.key} moved`, `${removed.key} over`, `${touched.key} over`]);
  });

  test('a session that has moved meanwhile is not removed for its former owner’s sake', async () => {
    await using two = await startTwo();
    const { one, other } = two;
    const created = await one.store.create(recordOf('a'));
    await other.store.take(created);
    await one.store.remove(created);
    assert.equal((await one.store.find(created.id))?.owner, other.id);
    await one.store.end(created.key);
    assert.equal((await one.store.find(created.id))?.owner, other.id);
  });

  test('F44: a session that is left has no owner until somebody takes it', async () => {
    await using two = await startTwo();
    const { one, other } = two;
    const { id, key } = await one.store.create(recordOf('a'));
    await one.store.save(key, { ...NEW_STATE, initialized: true });
    await one.store.leave(key);
    assert.deepEqual(one.lost, [`${key} moved`]);
    const found = (await other.store.find(id)) ?? assert.fail();
    assert.deepEqual([found.owner, found.state.initialized], [undefined, true]);
    assert.equal((await other.store.take(found))?.owner, other.id);
  });
});
