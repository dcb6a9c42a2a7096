import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loggableTarget } from '../../src/telemetry/loggable-target.ts';

const TARGETS: readonly (readonly [string, string])[] = [
  ['search_pages', 'search_pages'],
  ['file:///a/b', 'file:///a/b'],
  ['file:///a#b', 'file:///a'],
  ['https://host/path?access_token=x', 'https://host/path'],
  ['https://user:pass@host/a', 'https://[redacted]@host/a'],
  ['someone@example.com', 'someone@example.com'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(200)}...`],
];

for (const [target, logged] of TARGETS) {
  test(`F58: of ${target.slice(0, 40)} (${target.length} characters) nothing is told that may be a secret`, () => {
    assert.equal(loggableTarget(target), logged);
  });
}
