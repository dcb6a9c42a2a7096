// Waits that a signal cuts short.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stop } from '../../src/runtime/stop.ts';
import { delayUnlessAborted } from '../../src/servers/within-time.ts';

const FAR_MS = 60_000;
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('a delay is waited for, and leaves nothing with its signal', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stop = new Stop();
  let waited = false;
  const delayed = delayUnlessAborted(FAR_MS, stop).then(() => {
    waited = true;
  });
  t.mock.timers.tick(FAR_MS - 1);
  await Promise.resolve();
  assert.equal(waited, false);
  const removed = t.mock.method(stop, 'removeEventListener');
  t.mock.timers.tick(1);
  await delayed;
  assert.equal(removed.mock.callCount(), 1);
});

test("an abort cuts it short with the signal's reason, before it as well, and its timer is gone", async () => {
  const before = timers();
  const stop = new Stop();
  const delayed = delayUnlessAborted(FAR_MS, stop);
  assert.equal(timers(), before + 1);
  const reason = new Error('nobody waits any more');
  stop.abort(reason);
  await assert.rejects(delayed, reason);
  await assert.rejects(delayUnlessAborted(FAR_MS, stop), reason);
  assert.equal(timers(), before);
});
