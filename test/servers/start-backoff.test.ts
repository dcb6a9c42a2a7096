import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnerBackoffs, StartBackoff } from '../../src/servers/start-backoff.ts';

const LIMITS = { firstDelayMs: 100, maxDelayMs: 1_000, sustainedMs: 60_000 };

test('one failure blocks nothing; from the second on the wait doubles, up to a bound', () => {
  const backoff = new StartBackoff(LIMITS);
  const waits: number[] = [];
  for (let nowMs = 0; nowMs < 80; nowMs += 10) {
    backoff.failed(nowMs);
    waits.push(backoff.remainingMs(nowMs));
  }
  assert.deepEqual(waits, [0, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test('the wait runs out', () => {
  const backoff = new StartBackoff(LIMITS);
  backoff.failed(0);
  backoff.failed(10);
  assert.equal(backoff.remainingMs(60), 50);
  assert.equal(backoff.remainingMs(110), 0);
});

test('F12: a link that dies soon after its handshake resets nothing', () => {
  const backoff = new StartBackoff(LIMITS);
  for (let nowMs = 0; nowMs < 4_000; nowMs += 1_000) backoff.failed(nowMs, { uptimeMs: 900 });
  assert.equal(backoff.failures, 4);
  assert.ok(backoff.remainingMs(3_000) > 0);
});

test('F12: a link that stayed up proves the server well, so its end is a first failure', () => {
  const backoff = new StartBackoff(LIMITS);
  for (let nowMs = 0; nowMs < 50; nowMs += 10) backoff.failed(nowMs);
  backoff.failed(100_000, { uptimeMs: 60_000 });
  assert.equal(backoff.failures, 1);
  assert.equal(backoff.remainingMs(100_000), 0);
});

test('F12: starts that fail at the same time are one failure', () => {
  const backoff = new StartBackoff(LIMITS);
  for (let caller = 0; caller < 10; caller += 1) backoff.failed(50 + caller, { begunAtMs: caller });
  assert.equal(backoff.failures, 1);
  backoff.failed(100, { begunAtMs: 70 });
  assert.equal(backoff.failures, 2);
});

test('F12: who makes a server die again and again holds up nobody else', () => {
  const backoffs = new OwnerBackoffs();
  for (let nowMs = 0; nowMs < 50; nowMs += 10) backoffs.of('ada').failed(nowMs);
  assert.ok(backoffs.of('ada').remainingMs(50) > 0);
  assert.equal(backoffs.of('bob').remainingMs(50), 0);
  assert.equal(backoffs.size, 1, 'who never failed is not kept');
});

test('F04: a thousand owners are remembered, not a million', () => {
  const backoffs = new OwnerBackoffs();
  for (let owner = 0; owner < 5_000; owner += 1) backoffs.of(`owner ${owner}`).failed(owner);
  assert.equal(backoffs.size, 1_000);
});

test('F11: when its time has come one start is tried, and the others wait for what comes of it', () => {
  const backoff = new StartBackoff({ firstDelayMs: 100 });
  backoff.failed(0);
  backoff.failed(10);
  assert.equal(backoff.remainingMs(10), 100);
  const probe = backoff.begin();
  assert.ok(backoff.remainingMs(200) > 0, 'half-open');
  const late = backoff.begin();
  late.over();
  assert.ok(backoff.remainingMs(200) > 0, 'the one that is tried decides');
  probe.over();
  assert.equal(backoff.remainingMs(200), 0);
});

test('starts of a server that is well are tried as they come', () => {
  const backoff = new StartBackoff();
  backoff.failed(0);
  backoff.begin();
  assert.equal(backoff.remainingMs(0), 0);
});

test('F11: a link that was up for long and ended as we wished clears what was before', () => {
  const backoff = new StartBackoff({ sustainedMs: 1_000 });
  for (const at of [0, 10, 20]) backoff.failed(at);
  backoff.endedWell(999);
  assert.equal(backoff.failures, 3);
  backoff.endedWell(1_000);
  assert.equal(backoff.failures, 0);
});
