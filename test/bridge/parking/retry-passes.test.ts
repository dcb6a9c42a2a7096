// A retry is free once, for whoever was given the state, and for nothing but the call that it was given for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryPasses } from '../../../src/bridge/parking/retry-passes.ts';
import { SealedFields } from '../../../src/bridge/seals/sealed-fields.ts';
import { SealedState } from '../../../src/bridge/seals/sealed-state.ts';
import type { ClientRequest } from '../../../src/protocol/client-message.ts';
import type { JsonObject } from '../../../src/protocol/json-text.ts';

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

function rig(maxStates?: number) {
  const state = new SealedState();
  const passes = new RetryPasses(state, maxStates);
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

test('the first retry is free, a second one is not', () => {
  const { passes, given } = rig();
  const params = given('a');
  assert.equal(passes.redeem(request(params), CONTEXT), true);
  assert.equal(passes.redeem(request(params), CONTEXT), false);
  assert.equal(passes.redeem(request(given('b')), CONTEXT), true);
});

test('a state is no pass for another caller, server, tool, method or era', () => {
  const { passes, given } = rig();
  const params = given('a');
  assert.equal(passes.redeem(request(params), { ...CONTEXT, principal: 'bob' }), false);
  assert.equal(passes.redeem(request(params), { ...CONTEXT, server: 'files' }), false);
  assert.equal(passes.redeem(request({ ...params, name: 'other' }), CONTEXT), false);
  assert.equal(passes.redeem(request(params, { method: 'prompts/get' }), CONTEXT), false);
  assert.equal(passes.redeem(request(params, { method: 'tools/list' }), CONTEXT), false);
  assert.equal(passes.redeem(request(params, { era: 'legacy' }), CONTEXT), false);
  assert.equal(passes.redeem(request(params), CONTEXT), true);
});

test('what is no state of ours is no pass', () => {
  const { passes, given } = rig();
  const tampered = String(given('a').requestState).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  for (const requestState of [tampered, '', 'garbage', 7, null, {}]) {
    assert.equal(passes.redeem(request({ ...CALL, requestState }), CONTEXT), false);
  }
  assert.equal(passes.redeem(request({ ...CALL, inputResponses: {} }), CONTEXT), false);
  assert.equal(
    passes.redeem({ ...request({}), params: undefined } as unknown as ClientRequest, CONTEXT),
    false,
  );
});

test('states that were used are remembered, bounded, the newest for longest', () => {
  const { passes, given } = rig(10);
  const states = Array.from({ length: 15 }, (_, n) => given(`${n}`));
  for (const params of states) assert.equal(passes.redeem(request(params), CONTEXT), true);
  for (const params of states) assert.equal(passes.redeem(request(params), CONTEXT), false);
  for (let n = 0; n < 20; n += 1) passes.redeem(request(given(`more ${n}`)), CONTEXT);
  assert.equal(passes.redeem(request(states[0] ?? {}), CONTEXT), true);
});
