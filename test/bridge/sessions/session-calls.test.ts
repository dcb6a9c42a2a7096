import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientCancelled, SessionCalls } from '../../../src/bridge/sessions/session-calls.ts';
import { SessionStreams } from '../../../src/bridge/sessions/session-streams.ts';
import { BufferBudget } from '../../../src/state/buffer-budget.ts';

function newCalls() {
  const calls = new SessionCalls();
  const streams = new SessionStreams({ bytes: 1_000, forMs: 1_000 }, new BufferBudget(1_000));
  const start = (idText: string, server: string) =>
    calls.start({ idText, stream: streams.open(), mayAsk: true, server });
  return { calls, start };
}

test('F21: of two calls under one id the newest is cancelled, and the other once that one is over', () => {
  const { calls, start } = newCalls();
  const [first, second] = [start('7', 'docs'), start('7', 'docs')];
  calls.cancel('7', 'enough');
  assert.ok(second.stop.reason instanceof ClientCancelled);
  assert.equal(first.stop.aborted, false);
  calls.finish(second);
  calls.finish(second);
  assert.equal(calls.size, 1);
  calls.cancel('7', undefined);
  assert.equal(first.stop.aborted, true);
});

test('where calls finish as they are broken off, each is broken off', () => {
  const { calls, start } = newCalls();
  const started = [start('1', 'docs'), start('2', 'search'), start('3', 'docs')];
  assert.deepEqual(
    calls.at('docs').map(({ idText }) => idText),
    ['1', '3'],
  );
  const over = new Error('the session is over');
  for (const call of started) call.stop.addEventListener('abort', () => calls.finish(call));
  calls.abort(over);
  for (const { stop } of started) assert.equal(stop.reason, over);
  assert.equal(calls.size, 0);
});
