import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseWrittenReasons, readWrittenReasons } from './written-reasons.ts';

const markdown = `
| check | where | reason |
| --- | --- | --- |
| \`ping/*\` | \`2025-*, legacy *\` | Because (of this). |
`;
const [reason, ...others] = parseWrittenReasons(markdown);

test('a row of the table excuses the checks and the places that its patterns name', () => {
  assert.deepEqual(others, []);
  assert.equal(reason?.text, 'Because (of this).');
  assert.ok(reason.excuses('ping/wire-schema-valid', '2025-11-25, legacy stdio'));
});

for (const [check, where] of [
  ['pings/ping', '2025-11-25, legacy stdio'],
  ['a-ping/ping', '2025-11-25, legacy stdio'],
  ['ping/ping', '2026-07-28, legacy stdio'],
  ['ping/ping', '2025-11-25, modern stdio'],
] as const) {
  test(`it does not excuse ${check} at ${where}`, () => {
    assert.equal(reason?.excuses(check, where), false);
  });
}

test('every row of the README is read', () => {
  assert.ok(readWrittenReasons().length > 0);
  for (const { text } of readWrittenReasons()) assert.match(text, /\.$/);
});
