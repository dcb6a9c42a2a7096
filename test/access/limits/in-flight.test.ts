import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InFlight } from '../../../src/access/limits/in-flight.ts';

test('a counter has room again as soon as one of those that it counts has left', () => {
  const inFlight = new InFlight();
  for (let round = 0; round < 3; round += 1) {
    inFlight.enter('a');
    assert.equal(inFlight.hasRoom('a', 2), true);
    inFlight.enter('a');
    assert.equal(inFlight.hasRoom('a', 2), false);
    assert.equal(inFlight.hasRoom('b', 2), true);
    inFlight.leave('a');
    assert.equal(inFlight.hasRoom('a', 2), true);
    inFlight.leave('a');
    assert.equal(inFlight.hasRoom('a', 1), true);
    assert.equal(inFlight.size, 0);
  }
});

test('who leaves more often than came in makes no room', () => {
  const inFlight = new InFlight();
  inFlight.leave('a');
  inFlight.enter('a');
  inFlight.leave('a');
  inFlight.leave('a');
  inFlight.enter('a');
  assert.equal(inFlight.hasRoom('a', 1), false);
  assert.equal(inFlight.size, 1);
});

test('a spray of counters fills no memory, and those that count something are kept', () => {
  const inFlight = new InFlight();
  inFlight.enter('busy');
  for (let n = 0; n < 10_000; n += 1) {
    inFlight.enter(`sprayed ${n}`);
    inFlight.leave(`sprayed ${n}`);
  }
  assert.ok(inFlight.held <= 1_001, `${inFlight.held} counters`);
  assert.equal(inFlight.size, 1);
  assert.equal(inFlight.hasRoom('busy', 1), false);
  inFlight.leave('busy');
  assert.equal(inFlight.hasRoom('busy', 1), true);
});
