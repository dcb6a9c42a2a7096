import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type JsonObject, readJson, writeJson } from '../../src/protocol/json-text.ts';
import { type PendingCall, PendingCalls } from '../../src/servers/pending-calls.ts';
import type { ServerMessage, UpstreamCall } from '../../src/servers/transport.ts';

interface Caller extends UpstreamCall {
  readonly received: ServerMessage[];
  abort(reason: Error): void;
}

function caller(params?: JsonObject): Caller {
  const controller = new AbortController();
  const received: ServerMessage[] = [];
  return {
    method: 'tools/call',
    params,
    signal: controller.signal,
    received,
    onMessage: (message) => received.push(message),
    abort: (reason) => controller.abort(reason),
  };
}

function withToken(progressToken: unknown): JsonObject {
  return { name: 'x', _meta: { progressToken, other: 'kept' } as JsonObject };
}

function progress(progressToken: unknown, value = 1) {
  const params = { progressToken, progress: value } as JsonObject;
  return { jsonrpc: '2.0' as const, method: 'notifications/progress', params };
}

function metaOf(pending: PendingCall): JsonObject {
  const meta = pending.request.params?._meta;
  assert.ok(isJsonObject(meta));
  return meta;
}

const ignoreAbort = () => {};

test('F21: every call gets an id of its own, and an answer settles only the call that it names', async () => {
  const calls = new PendingCalls();
  const first = calls.open(caller(), ignoreAbort);
  const second = calls.open(caller(), ignoreAbort);
  assert.notEqual(first.request.id, second.request.id);

  calls.find(second.id)?.settle({ result: { for: 'second' } });
  calls.find(first.id)?.settle({ result: { for: 'first' } });
  assert.deepEqual(await first.outcome, { result: { for: 'first' } });
  assert.deepEqual(await second.outcome, { result: { for: 'second' } });
  assert.equal(calls.size, 0);
});

test('an id that came back as a string is still ours; every other value is nobody', () => {
  const calls = new PendingCalls();
  const only = calls.open(caller(), ignoreAbort);
  assert.equal(calls.find(String(only.id)), only);
  for (const foreign of [2, '2', '01', '1.0', ' 1', '', 1.5, -1, 0, null, true, {}, undefined]) {
    assert.equal(calls.find(foreign), undefined, `${writeJson(foreign)} finds a call`);
  }
});

test('F22: progress comes back with the very token that the caller gave', () => {
  const bigToken = readJson('{"t":9007199254740993}') as { t: unknown };
  for (const token of [0, 1, '1', '', 'abc', -5, 9007199254740992, bigToken.t]) {
    const calls = new PendingCalls();
    const one = caller(withToken(token));
    const other = caller(withToken(token));
    const pending = calls.open(one, ignoreAbort);
    const twin = calls.open(other, ignoreAbort);

    const meta = metaOf(pending);
    assert.equal(meta.other, 'kept');
    assert.notEqual(meta.progressToken, metaOf(twin).progressToken);
    assert.equal(calls.deliverProgress(progress(meta.progressToken)), true);
    assert.equal(one.received.length, 1);
    assert.equal(
      writeJson(one.received[0]?.params?.progressToken),
      writeJson(token),
      'the token is written back as it was',
    );
    assert.equal(other.received.length, 0);
  }
});

test('F22: progress is dropped when no token was given, and once the call is over', async () => {
  const calls = new PendingCalls();
  const silent = caller({ name: 'x' });
  const asking = caller(withToken('t'));
  const silentCall = calls.open(silent, ignoreAbort);
  const askingCall = calls.open(asking, ignoreAbort);

  assert.equal(calls.deliverProgress(progress(silentCall.id)), false);
  assert.equal(calls.deliverProgress(progress('t')), false, "the caller's token is unknown upstream");
  assert.equal(askingCall.deliver(progress(silentCall.id)), false, 'a token of another call');
  askingCall.settle({ result: {} });
  await askingCall.outcome;
  assert.equal(calls.deliverProgress(progress(askingCall.id)), false);
  assert.equal(askingCall.deliver({ jsonrpc: '2.0', method: 'notifications/message' }), false);
  assert.deepEqual([silent.received, asking.received], [[], []]);
});

test('what is no token travels as it came', () => {
  for (const odd of [null, true, 1.5, {}, []]) {
    const pending = new PendingCalls().open(caller(withToken(odd)), ignoreAbort);
    assert.deepEqual(metaOf(pending).progressToken, odd);
  }
});

test('a request without params is sent without params, and the caller’s own object is never written to', () => {
  const calls = new PendingCalls();
  assert.equal('params' in calls.open(caller(), ignoreAbort).request, false);
  const params = withToken('mine');
  calls.open(caller(params), ignoreAbort);
  assert.deepEqual(params, withToken('mine'));
});

test('an abort fails the call with its reason, once, and tells the wire', async () => {
  const calls = new PendingCalls();
  const leaving = caller(withToken(1));
  const aborted: number[] = [];
  const pending = calls.open(leaving, ({ id }) => aborted.push(id));
  const reason = new Error('gone');
  leaving.abort(reason);
  await assert.rejects(pending.outcome, reason);
  assert.deepEqual(aborted, [pending.id]);
  assert.equal(calls.find(pending.id), undefined);
  pending.settle({ result: {} });
  assert.equal(calls.deliverProgress(progress(pending.id)), false);
  assert.throws(() => calls.open(leaving, ignoreAbort), reason);
  assert.equal(calls.size, 0);
});

test('an abort after the answer changes nothing', async () => {
  const calls = new PendingCalls();
  const late = caller();
  const pending = calls.open(late, () => assert.fail('the call is over'));
  pending.settle({ result: { a: 1 } });
  late.abort(new Error('too late'));
  assert.deepEqual(await pending.outcome, { result: { a: 1 } });
});

test('failAll fails every open call exactly once', async () => {
  const calls = new PendingCalls();
  const outcomes = [1, 2, 3].map(() => calls.open(caller(), ignoreAbort).outcome);
  const error = new Error('wire gone');
  calls.failAll(error);
  calls.failAll(new Error('again'));
  for (const outcome of await Promise.allSettled(outcomes)) {
    assert.deepEqual(outcome, { status: 'rejected', reason: error });
  }
  assert.equal(calls.size, 0);
});
