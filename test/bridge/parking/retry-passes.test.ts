// A retry is free once, for whoever was given the state, and for nothing but the call that it was given for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryPasses } from '../../../src/bridge/parking/retry-passes.ts';
import { SealedFields } from '../../../src/bridge/seals/sealed-fields.ts';
import { SealedState } from '../../../src/bridge/seals/sealed-state.ts';
import type { ClientRequest } from '../../../src/protocol/client-message.ts';
import type { JsonObject } from '../../../src/protocol/json-text.ts';
import { MemoryStore } from '../../../src/state/memory-store.ts';
import { type Store, StoreUnavailable } from '../../../src/state/store.ts';

const CONTEXT = { principal: 'alice', server: 'docs' };
const CALL = { name: 'ask', arguments: {} };

function request(params: JsonObject, changes: Partial<ClientRequest> = {}): ClientRequest {
  return {
    era: 'modern',
    kind: 'request',
    id: 1,
    idText: '1',
    method: 'tools/call',
    params,
    ...changes,
  } as ClientRequest;
}

function rig(maxStates?: number, state = new SealedState(), shared?: Pick<Store, 'take' | 'available'>) {
  const passes = new RetryPasses({ state, shared, ...(maxStates === undefined ? {} : { maxStates }) });
  const given = (text: string) => {
    const fields = new SealedFields({
      state,
      ...CONTEXT,
      method: 'tools/call',
      params: CALL,
      generation: '',
    });
    return { ...CALL, requestState: fields.sealResult({ requestState: text }).requestState ?? '' };
  };
  return { passes, given };
}

test('the first retry is free, a second one is not', async () => {
  const { passes, given } = rig();
  const params = given('a');
  assert.equal(await passes.redeem(request(params), CONTEXT), true);
  assert.equal(await passes.redeem(request(params), CONTEXT), false);
  assert.equal(await passes.redeem(request(given('b')), CONTEXT), true);
});

test('a state is no pass for another caller, server, tool, method or era', async () => {
  const { passes, given } = rig();
  const params = given('a');
  assert.equal(await passes.redeem(request(params), { ...CONTEXT, principal: 'bob' }), false);
  assert.equal(await passes.redeem(request(params), { ...CONTEXT, server: 'files' }), false);
  assert.equal(await passes.redeem(request({ ...params, name: 'other' }), CONTEXT), false);
  assert.equal(await passes.redeem(request(params, { method: 'prompts/get' }), CONTEXT), false);
  assert.equal(await passes.redeem(request(params, { method: 'tools/list' }), CONTEXT), false);
  assert.equal(await passes.redeem(request(params, { era: 'legacy' }), CONTEXT), false);
  assert.equal(await passes.redeem(request(params), CONTEXT), true);
});

test('what is no state of ours is no pass', async () => {
  const { passes, given } = rig();
  const tampered = String(given('a').requestState).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  for (const requestState of [tampered, '', 'garbage', 7, null, {}]) {
    assert.equal(await passes.redeem(request({ ...CALL, requestState }), CONTEXT), false);
  }
  assert.equal(await passes.redeem(request({ ...CALL, inputResponses: {} }), CONTEXT), false);
  assert.equal(
    await passes.redeem({ ...request({}), params: undefined } as unknown as ClientRequest, CONTEXT),
    false,
  );
});

test('states that were used are remembered, bounded, the newest for longest', async () => {
  const { passes, given } = rig(10);
  const states = Array.from({ length: 15 }, (_, n) => given(`${n}`));
  for (const params of states) assert.equal(await passes.redeem(request(params), CONTEXT), true);
  for (const params of states) assert.equal(await passes.redeem(request(params), CONTEXT), false);
  for (let n = 0; n < 20; n += 1) await passes.redeem(request(given(`more ${n}`)), CONTEXT);
  assert.equal(await passes.redeem(request(states[0] ?? {}), CONTEXT), true);
});

test('a state that one replica has taken is no pass at another, as long as they can tell each other', async () => {
  const state = new SealedState();
  const shared = new MemoryStore();
  const [one, other] = [rig(10, state, shared), rig(10, state, shared)];
  const params = one.given('a');
  assert.equal(await one.passes.redeem(request(params), CONTEXT), true);
  assert.equal(await other.passes.redeem(request(params), CONTEXT), false);
  const down: Pick<Store, 'take' | 'available'> = {
    available: true,
    take: async () => {
      throw new StoreUnavailable('away');
    },
  };
  const alone = rig(10, state, down);
  assert.equal(await alone.passes.redeem(request(params), CONTEXT), true);
  assert.equal(await alone.passes.redeem(request(params), CONTEXT), false);
});
