import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { abortSignalOf, anySignal, NEVER, Stop } from '../../src/runtime/stop.ts';

test('whoever waits is told once, functions and objects alike, in the order in which they asked', () => {
  const stop = new Stop();
  const told: string[] = [];
  const object = { handleEvent: () => told.push('object') };
  stop.addEventListener('abort', () => told.push('first'));
  stop.addEventListener('abort', object);
  stop.addEventListener('abort', () => told.push('last'));
  stop.abort('over');
  stop.abort('again');
  assert.deepEqual(told, ['first', 'object', 'last']);
  assert.equal(stop.reason, 'over', 'the first reason counts');
});

test('whoever waits no longer is not told', () => {
  const stop = new Stop();
  const told: string[] = [];
  const listeners = ['a', 'b', 'c'].map((name) => () => told.push(name));
  for (const listener of listeners) stop.addEventListener('abort', listener);
  stop.removeEventListener('abort', listeners[0] as () => void);
  stop.removeEventListener('abort', listeners[1] as () => void);
  stop.removeEventListener('abort', () => told.push('never asked'));
  stop.abort();
  assert.deepEqual(told, ['c']);
});

test('the order stays where the first of them has left', () => {
  const stop = new Stop();
  const told: string[] = [];
  const first = () => told.push('first');
  stop.addEventListener('abort', first);
  stop.addEventListener('abort', () => told.push('second'));
  stop.removeEventListener('abort', first);
  stop.addEventListener('abort', () => told.push('third'));
  stop.abort();
  assert.deepEqual(told, ['second', 'third']);
});

test('whoever asks afterwards is never told, and sees that it is over', () => {
  const stop = new Stop();
  stop.throwIfAborted();
  stop.abort();
  stop.addEventListener('abort', () => assert.fail('it was before'));
  stop.abort();
  assert.equal(stop.aborted, true);
  assert.throws(() => stop.throwIfAborted(), { name: 'AbortError' });
});

test('a listener may ask, and take back, while it is told', () => {
  const stop = new Stop();
  const told: string[] = [];
  const second = () => told.push('second');
  stop.addEventListener('abort', () => {
    told.push('first');
    stop.removeEventListener('abort', second);
    stop.addEventListener('abort', () => told.push('late'));
  });
  stop.addEventListener('abort', second);
  stop.addEventListener('abort', () => told.push('third'));
  stop.abort();
  assert.deepEqual(told, ['first', 'third']);
});

test('what a listener throws is an uncaught exception, and the others are told', async () => {
  const stop = new Stop();
  let told = false;
  stop.addEventListener('abort', () => {
    throw new Error('of a listener');
  });
  stop.addEventListener('abort', () => {
    told = true;
  });
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  try {
    const uncaught = once(process, 'uncaughtException');
    stop.abort();
    assert.equal(told, true);
    const [error] = await uncaught;
    assert.equal(error.message, 'of a listener');
  } finally {
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
});

test('as an AbortSignal it aborts with the same reason, also where it had before', async () => {
  const stop = new Stop();
  const signal = abortSignalOf(stop);
  const aborted = once(signal, 'abort');
  stop.abort('over');
  await aborted;
  assert.equal(signal.reason, 'over');
  assert.equal(abortSignalOf(stop).reason, 'over');
  const own = new AbortController().signal;
  assert.equal(abortSignalOf(own), own);
});

test('of several, the first that aborts counts', () => {
  const stop = new Stop();
  const controller = new AbortController();
  const any = anySignal([NEVER, stop, controller.signal]);
  assert.equal(any.aborted, false);
  stop.abort('stop');
  controller.abort('controller');
  assert.equal(any.reason, 'stop');
});
