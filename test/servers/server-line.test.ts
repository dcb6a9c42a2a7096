import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type LineItem, readServerLine } from '../../src/servers/server-line.ts';

const read = (text: string) => readServerLine(Buffer.from(text, 'utf8'));
const kinds = (items: readonly LineItem[]) => items.map(({ kind }) => kind);

const id = fc.oneof(fc.integer(), fc.string());
const params = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  fc.jsonValue({ maxDepth: 3 }),
  { maxKeys: 4 },
);
const message = fc.oneof(
  fc.record({ jsonrpc: fc.constant('2.0'), id, method: fc.string({ minLength: 1 }), params }),
  fc.record({ jsonrpc: fc.constant('2.0'), method: fc.string({ minLength: 1 }), params }),
  fc.record({ jsonrpc: fc.constant('2.0'), id, result: params }),
);

test('a line is read as what it says', () => {
  for (const [text, expected] of [
    ['', []],
    [' \t\r', []],
    ['\ufeff', []],
    ['{"jsonrpc":"2.0","method":"a"}', ['notification']],
    ['\ufeff {"jsonrpc":"2.0","id":1,"method":"a"} ', ['request']],
    ['{"jsonrpc":"2.0","id":"1","result":{}}', ['response']],
    ['{"id":1,"error":{"code":1,"message":"m"},"jsonrpc":"2.0"}', ['response']],
    ['{"jsonrpc":"2.0","id":1,"result":null}', ['bad-answer']],
    ['{"id":1,"result":{}}', ['bad-answer']],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}', ['noise']],
    ['{"jsonrpc":"2.0","id":1,"method":7}', ['noise']],
    ['{"level":"info","frame":{"jsonrpc":"2.0","id":1,"result":{}}}', ['noise']],
    ['42', ['noise']],
    ['null', ['noise']],
    ['"text"', ['noise']],
    ['[]', ['noise']],
    ['[{"jsonrpc":"2.0","method":"a"},[]]', ['notification', 'noise']],
    ['up{"jsonrpc":"2.0","method":"a"}', ['noise', 'salvaged']],
    ['up { "id" : 1, "result" : {}, "jsonrpc" : "2.0" } down', ['noise', 'salvaged']],
    ['{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}', ['noise', 'salvaged', 'salvaged']],
    ['up {"jsonrpc":"2.0","id":1,"result":{"a":{"jsonrpc":"2.0","method":"x"}}}', ['noise', 'salvaged']],
    ['up {"jsonrpc":"2.0","id":1', ['noise']],
  ] as const) {
    assert.deepEqual(kinds(read(text)), expected, text);
  }
});

test('any message is read as itself', () => {
  fc.assert(
    fc.property(message, (frame) => {
      const [item, ...more] = read(JSON.stringify(frame));
      assert.deepEqual(more, []);
      assert.ok(item?.kind === 'request' || item?.kind === 'notification' || item?.kind === 'response');
      const content = item.kind === 'response' ? item.outcome : { params: item.params };
      const expected = 'result' in frame ? { result: frame.result } : { params: frame.params };
      assert.equal(JSON.stringify(content), JSON.stringify(expected));
    }),
  );
});

test('F17: any message is found behind any words', () => {
  const words = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((text) => !/["{[]/.test(text) && /\S/.test(text));
  fc.assert(
    fc.property(words, message, (banner, frame) => {
      const items = read(`${banner}${JSON.stringify(frame)}`);
      assert.deepEqual(kinds(items), ['noise', 'salvaged']);
    }),
  );
});

test('no line whatsoever throws', () => {
  const pieces = fc.constantFrom(
    '{"jsonrpc":"2.0",',
    '"id":1',
    '{"id":',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    'é',
  );
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), fc.array(pieces, { maxLength: 40 })), (input) => {
      const bytes = Array.isArray(input) ? Buffer.from(input.join('')) : Buffer.from(input);
      assert.ok(Array.isArray(readServerLine(bytes)));
    }),
    { numRuns: 1_000 },
  );
});

test('F18: a line made to be searched for ever is not', () => {
  for (const unit of ['{"id":', '{"id":1}', '"{', '\\"', 'x{"jsonrpc":"2.0",']) {
    const started = performance.now();
    readServerLine(Buffer.from(`x${unit.repeat((4 * 1024 * 1024) / unit.length)}`));
    const tookMs = performance.now() - started;
    assert.ok(tookMs < 2_000, `${unit}: ${tookMs} ms`);
  }
});
