import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scanJson } from '../../src/protocol/scan-json.ts';

function fragileIn(text: string): string[] {
  const { fragile } = scanJson(text, 100);
  return fragile.flatMap((start, i) => (i % 2 === 0 ? [text.slice(start, fragile[i + 1])] : []));
}

test('finds the numbers that a double would give back otherwise, in order', () => {
  assert.deepEqual(fragileIn('{"a":1.0,"b":[2,-0,{"c":9007199254740993}],"d":1e2}'), [
    '1.0',
    '-0',
    '9007199254740993',
    '1e2',
  ]);
  assert.deepEqual(fragileIn('1.0'), ['1.0']);
});

test('finds none in ordinary messages, though they are full of digits', () => {
  const result = {
    at: '2026-07-28T10:00:00.000Z',
    price: 'costs 10.50, or 1e3: 0.0',
    data: 'data:image/png;base64,0000000000000000000000==',
    csv: '1.50,2.20,12345678901234567890',
    json: JSON.stringify({ price: '#' }).replace('"#"', '1.50'),
    numbers: [0, -1, 2.5, 0.25, 1_750_000_000_000, 0.1 + 0.2, Number.MAX_SAFE_INTEGER, 1e21, 1e-7, Math.PI],
  };
  assert.deepEqual(fragileIn(JSON.stringify({ jsonrpc: '2.0', id: 1, result })), []);
});

test('counts what is open, not what has been', () => {
  assert.equal(scanJson('[[],[],[{}]]', 3).tooDeep, false);
  assert.equal(scanJson('[[],[],[{}]]', 2).tooDeep, true);
  assert.equal(scanJson('["[[[[", "{{{{"]', 1).tooDeep, false);
  assert.equal(scanJson('["\\"[[", "\\\\", [1]]', 2).tooDeep, false);
  assert.equal(scanJson('["\\\\", [[1]]]', 2).tooDeep, true);
});

test('takes any text, JSON or not', () => {
  for (const text of ['', '"', '"\\', '\\"', '-', '1e', ']]]]', '}{', '"\\\\\\"', '\u0000', '\ud800']) {
    assert.equal(scanJson(text, 10).tooDeep, false, JSON.stringify(text));
  }
});
