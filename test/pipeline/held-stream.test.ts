import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldStream } from '../../src/pipeline/held-stream.ts';
import type { JsonRpcNotification, StreamMessage } from '../../src/protocol/json-rpc.ts';

const updated = (uri: string): JsonRpcNotification => ({
  jsonrpc: '2.0',
  method: 'notifications/resources/updated',
  params: { uri },
});

test('what is said before the beginning comes after it: in order, each change once, then all of it', () => {
  const sent: StreamMessage[] = [];
  const stream = new HeldStream((message) => sent.push(message));
  for (const uri of ['a:1', 'b:2', 'a:1']) stream.send(updated(uri));
  assert.deepEqual(sent, []);
  stream.release();
  for (const uri of ['b:2', 'b:2']) stream.send(updated(uri));
  assert.deepEqual(sent, ['a:1', 'b:2', 'b:2', 'b:2'].map(updated));
});

test('no more is held than fits, and it is known when that is so', () => {
  const sent: StreamMessage[] = [];
  const stream = new HeldStream((message) => sent.push(message), 200);
  const uris = Array.from({ length: 100 }, (_, index) => `a:${index}`);
  for (const uri of uris.slice(0, 2)) stream.send(updated(uri));
  assert.equal(stream.full.aborted, false);
  for (const uri of uris.slice(2)) stream.send(updated(uri));
  assert.equal(stream.full.aborted, true);
  stream.release();
  assert.deepEqual(sent, uris.slice(0, 3).map(updated));
});
