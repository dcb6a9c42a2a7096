import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtLeastAsGrave, isLogLevel, LOG_LEVELS, mostTalkative } from '../../src/protocol/log-levels.ts';

test('a log level is one of the eight, in lower case', () => {
  assert.equal(LOG_LEVELS.length, 8);
  for (const level of LOG_LEVELS) assert.ok(isLogLevel(level));
  for (const value of ['Info', 'warn', '', 'constructor', 3, null, undefined, ['info']]) {
    assert.ok(!isLogLevel(value), String(value));
  }
});

test('levels grow graver from debug to emergency', () => {
  for (const [i, level] of LOG_LEVELS.entries()) {
    for (const [j, asked] of LOG_LEVELS.entries()) assert.equal(isAtLeastAsGrave(level, asked), i >= j);
  }
  assert.ok(isAtLeastAsGrave('emergency', 'debug'));
  assert.ok(!isAtLeastAsGrave('notice', 'warning'));
});

test('the most talkative of several asks for the most', () => {
  assert.equal(mostTalkative(['error', 'info', 'alert']), 'info');
  assert.equal(mostTalkative(['emergency']), 'emergency');
  assert.equal(mostTalkative([]), undefined);
});
