import assert from 'node:assert/strict';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { ResponseClose } from '../../src/http/response-close.ts';

test('all are told once, in the order in which they asked, by one listener; who asks later is told at once', async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const close = new ResponseClose(response);
  assert.equal(response.listenerCount('close'), 0);
  const told: string[] = [];
  close.tell(() => {
    told.push('first');
    close.tell(() => told.push('while the first is told'));
  });
  close.tell(() => told.push('second'));
  assert.equal(response.listenerCount('close'), 1);
  assert.equal(told.length, 0);
  response.destroy();
  await once(response, 'close');
  assert.deepEqual(told, ['first', 'while the first is told', 'second']);
  close.tell(() => told.push('late'));
  assert.deepEqual(told.slice(3), ['late']);
});

test('one that has closed before anybody asked says so to who listens as to a signal', async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.destroy();
  await once(response, 'close');
  const close = new ResponseClose(response);
  close.addEventListener('abort', () => assert.fail('it was before'));
  assert.equal(close.aborted, true);
});
