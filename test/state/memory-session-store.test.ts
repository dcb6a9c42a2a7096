import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { MemorySessionStore } from '../../src/state/memory-session-store.ts';
import type { SessionLimits } from '../../src/state/session-store.ts';
import { limitsOf } from '../support/session-replicas.ts';
import { HOSTILE_IDS, recordOf, sessionStoreContract } from './session-store-contract.ts';

async function open(t: TestContext, limits: SessionLimits): Promise<MemorySessionStore> {
  const store = new MemorySessionStore(limits);
  t.after(() => store.close());
  return store;
}

describe('sessions in process', () => sessionStoreContract(open));

test('F04: ids that were never issued allocate nothing', async (t) => {
  const store = await open(t, limitsOf());
  await store.create(recordOf('a'));
  for (const id of HOSTILE_IDS) await store.find(id);
  assert.equal(store.size, 1);
});
