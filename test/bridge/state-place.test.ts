// Which replica alone can go on with what a client brings back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BridgeState } from '../../src/bridge/carried-call.ts';
import { writeTicket } from '../../src/bridge/parking/parked-ticket.ts';
import { SealedFields } from '../../src/bridge/seals/sealed-fields.ts';
import { SealedState } from '../../src/bridge/seals/sealed-state.ts';
import { placeOfState } from '../../src/bridge/state-place.ts';
import type { ClientRequest } from '../../src/protocol/client-message.ts';
import type { Era } from '../../src/protocol/era.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';
import { failure } from '../support/http-rig.ts';

const state = new SealedState();
const ANN = { principal: 'ann', server: 'docs' };

/** The sealing of a call on the replica of that name. */
function sealing(
  replica: string | undefined,
  method: string,
  params: JsonObject,
  generation = '',
): SealedFields {
  return new SealedFields({ state, ...ANN, method, params, generation, replica });
}

function placeOf(replica: string | undefined, brought: Brought, era?: Era) {
  const { method, params, whose = ANN } = brought;
  const bridge = { state, parked: { replica } } as unknown as BridgeState;
  return placeOfState(bridge, { request: { era: 'modern', method, params } as ClientRequest, ...whose }, era);
}

function placeOn(replica: string | undefined, method: string, params: JsonObject, whose = ANN) {
  const place = placeOf(replica, { method, params, whose });
  assert.notEqual(place?.alone, false);
  return place?.to;
}

interface Brought {
  readonly method: string;
  readonly params: JsonObject;
  readonly whose?: typeof ANN;
}

test('a parked call has to go on where it waits', () => {
  const call = { name: 'ask' };
  const inner = writeTicket({ replica: 'one', id: 'a', round: 1 });
  const { requestState } = sealing('one', 'tools/call', call).sealResult({ requestState: inner });
  const retry = { ...call, requestState } as JsonObject;
  assert.equal(placeOn('two', 'tools/call', retry), 'one');
  assert.equal(placeOn('one', 'tools/call', retry), 'one');
  assert.equal(placeOn('two', 'tools/call', retry, { ...ANN, principal: 'bob' }), undefined);
  assert.equal(placeOn('two', 'tools/call', { ...retry, name: 'other' }), undefined);
});

test('a state that names no replica, or is none of ours, goes on anywhere', () => {
  const call = { name: 'ask' };
  const { requestState } = sealing('one', 'tools/call', call).sealResult({ requestState: 'afresh' });
  for (const brought of [requestState, 'garbage', 7, undefined]) {
    assert.equal(placeOn('two', 'tools/call', { ...call, requestState: brought } as JsonObject), undefined);
  }
});

test("a legacy server's cursor belongs to one link of one replica", () => {
  const first = sealing('one', 'tools/list', {}, 'link-a');
  const { nextCursor: cursor } = first.sealResult({ nextCursor: 'page 2 of\n2' });
  const next = { cursor } as JsonObject;
  assert.equal(placeOn('two', 'tools/list', next), 'one');
  assert.equal(sealing('one', 'tools/list', next, 'link-a').openParams()?.cursor, 'page 2 of\n2');
  for (const elsewhere of [
    sealing('one', 'tools/list', next, 'link-b'),
    sealing('two', 'tools/list', next, 'link-a'),
    sealing('one', 'prompts/list', next, 'link-a'),
  ]) {
    assert.throws(() => elsewhere.openParams(), failure('state-invalid', 'cursor'));
  }
});

test("a modern server's cursor is good everywhere, whatever it says", () => {
  const { nextCursor: cursor } = sealing('one', 'tools/list', {}).sealResult({ nextCursor: 'one link-a 2' });
  const next = { cursor } as JsonObject;
  assert.equal(placeOn('two', 'tools/list', next), undefined);
  assert.equal(sealing('two', 'tools/list', next).openParams()?.cursor, 'one link-a 2');
});

test('where there is one replica, nothing names it', () => {
  const { nextCursor: cursor } = sealing(undefined, 'tools/list', {}, 'link-a').sealResult({
    nextCursor: '2',
  });
  assert.equal(placeOn(undefined, 'tools/list', { cursor } as JsonObject), undefined);
});

test('what a child process hands out is brought to its replica, and good elsewhere where that is gone', () => {
  const call = { name: 'ask' };
  const onOne = new SealedFields({ state, ...ANN, ...ofProcess('tools/call', call) });
  const { requestState } = onOne.sealResult({ requestState: "the server's\nown" });
  const retry = { ...call, requestState } as JsonObject;
  for (const era of ['modern', undefined] as const) {
    assert.deepEqual(placeOf('two', { method: 'tools/call', params: retry }, era), {
      to: 'one',
      alone: false,
    });
  }
  const bob = { ...ANN, principal: 'bob' };
  assert.equal(placeOf('two', { method: 'tools/call', params: retry, whose: bob }, 'modern'), undefined);
  assert.equal(sealing('two', 'tools/call', retry).openParams()?.requestState, "the server's\nown");

  const { taskId } = onOne.sealResult({ resultType: 'task', taskId: 'task 1' });
  const asked = { taskId } as JsonObject;
  assert.deepEqual(placeOf('two', { method: 'tasks/get', params: asked }), { to: 'one', alone: false });
  assert.equal(sealing('two', 'tasks/get', asked).openParams()?.taskId, 'task 1');
});

test('a modern server names no replica, whatever its state says', () => {
  const call = { name: 'ask' };
  const inner = writeTicket({ replica: 'one', id: 'a', round: 1 });
  const { requestState } = sealing('two', 'tools/call', call).sealResult({ requestState: inner });
  const retry = { ...call, requestState } as JsonObject;
  assert.equal(placeOf('two', { method: 'tools/call', params: retry }, 'modern'), undefined);
});

function ofProcess(method: string, params: JsonObject) {
  return { method, params, generation: '', replica: 'one', ofProcess: true };
}
