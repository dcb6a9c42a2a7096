import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusalSampler } from '../../src/telemetry/refusal-sampler.ts';

const REFUSED = { outcome: 'rate-limited', reason: 'rate:fair' };

test('F57: of refusals by one limit, five lines a second are written; the next one says how many were not', () => {
  let now = 1_000;
  const sampler = new RefusalSampler(() => now);
  const burst = Array.from({ length: 100 }, () => sampler.admit(REFUSED));
  assert.deepEqual(burst.slice(0, 6), [0, 0, 0, 0, 0, undefined]);
  assert.equal(burst.filter((admitted) => admitted !== undefined).length, 5);
  assert.equal(sampler.admit({ ...REFUSED, reason: 'rate:guard' }), 0, 'each limit for itself');
  now += 1_000;
  assert.equal(sampler.admit(REFUSED), 95);
  assert.equal(sampler.admit(REFUSED), 0);
});

test('every other exchange is written', () => {
  const sampler = new RefusalSampler(() => 0);
  for (const outcome of ['ok', 'error', 'cancelled', 'token-missing', undefined]) {
    for (let n = 0; n < 20; n += 1) assert.equal(sampler.admit({ outcome, reason: undefined }), 0);
  }
});
