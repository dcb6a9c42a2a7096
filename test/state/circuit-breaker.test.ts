import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CircuitBreaker } from '../../src/state/circuit-breaker.ts';

test('opens after two failures in a row', () => {
  const breaker = new CircuitBreaker(2, { open: false });
  assert.equal(breaker.failed(), false);
  breaker.succeeded();
  assert.equal(breaker.failed(), false);
  assert.equal(breaker.isOpen, false);
  assert.equal(breaker.failed(), true);
  assert.equal(breaker.isOpen, true);
});

test('says once that it opened', () => {
  const breaker = new CircuitBreaker(2, { open: false });
  assert.deepEqual([breaker.failed(), breaker.failed(), breaker.failed()], [false, true, false]);
});

test('an answer that comes late does not close it; a probe does', () => {
  const breaker = new CircuitBreaker(2, { open: false });
  breaker.failed();
  breaker.failed();
  breaker.succeeded();
  assert.equal(breaker.isOpen, true);
  assert.equal(breaker.probed(), true);
  assert.equal(breaker.isOpen, false);
  assert.equal(breaker.probed(), false);
});

test('after a probe it takes two failures again (F11)', () => {
  const breaker = new CircuitBreaker(2, { open: true });
  breaker.probed();
  assert.equal(breaker.failed(), false);
  assert.equal(breaker.failed(), true);
});
