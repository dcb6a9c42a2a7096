import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { abortSignalOf, anySignal, eitherOf, NEVER, Stop } from '../../src/runtime/stop.ts';

/** A stop, what its listeners were told, and listeners by name. */
function rig() {
  const stop = new Stop();
  const told: string[] = [];
  const named = (name: string) => () => void told.push(name);
  const ask = (...names: string[]) => {
    const listeners = names.map(named);
    for (const listener of listeners) stop.addEventListener('abort', listener);
    return listeners as [() => void, ...(() => void)[]];
  };
  return { stop, told, named, ask };
}

test('whoever waits is told once, functions and objects alike, in the order in which they asked', () => {
  const { stop, told, named, ask } = rig();
  ask('first');
  stop.addEventListener('abort', { handleEvent: named('object') });
  ask('last');
  stop.abort('over');
  stop.abort('again');
  assert.deepEqual(told, ['first', 'object', 'last']);
  assert.equal(stop.reason, 'over', 'the first reason counts');
});

test('whoever waits no longer is not told', () => {
  const { stop, told, named, ask } = rig();
  for (const listener of ask('a', 'b')) stop.removeEventListener('abort', listener);
  ask('c');
  stop.removeEventListener('abort', named('never asked'));
  stop.abort();
  assert.deepEqual(told, ['c']);
});

test('whoever asks twice is told once', () => {
  const { stop, told, ask } = rig();
  for (const listener of ask('first', 'second')) stop.addEventListener('abort', listener);
  stop.abort();
  assert.deepEqual(told, ['first', 'second']);
});

test('the order stays where the first of them has left', () => {
  const { stop, told, ask } = rig();
  const [first] = ask('first', 'second');
  stop.removeEventListener('abort', first);
  ask('third');
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
  const { stop, told, ask } = rig();
  stop.addEventListener('abort', () => {
    told.push('first');
    stop.removeEventListener('abort', second);
    ask('late');
  });
  const [second] = ask('second', 'third');
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

for (const [what, join] of [
  ['anySignal', (...signals) => anySignal(signals)],
  ['eitherOf', eitherOf],
] as [string, typeof eitherOf][]) {
  test(`${what}: of several, the first that aborts counts, also where it was before`, () => {
    const stop = new Stop();
    const controller = new AbortController();
    const joined = join(NEVER, stop, controller.signal);
    assert.equal(joined.aborted, false);
    stop.abort('stop');
    controller.abort('controller');
    assert.equal(joined.reason, 'stop');
    assert.equal(join(controller.signal, NEVER).reason, 'controller');
  });
}
