// A large result is kept as its server wrote it, and goes on in these words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOfWritten, writtenResult } from '../../src/protocol/json-rpc.ts';
import { readServerLine } from '../../src/servers/server-line.ts';

const TEXT = 'both "sides" and \\ \n of what is long '.repeat(400);
const RESULT = JSON.stringify({ content: [{ type: 'text', text: TEXT }], n: [1, { a: '}]' }] });

const LINES: readonly (readonly [what: string, line: string, result: string])[] = [
  ['the usual order', `{"jsonrpc":"2.0","id":1,"result":${RESULT}}`, RESULT],
  ['the result first', `{"result":${RESULT},"id":1,"jsonrpc":"2.0"}`, RESULT],
  ['spaces', `{ "jsonrpc" : "2.0", "id" : 1 , "result" : ${RESULT} }`, ` ${RESULT} `],
  [
    'letters of several bytes',
    `{"é€😀":"é€😀","jsonrpc":"2.0","id":1,"result":{"t":"${'é€😀'.repeat(3000)}"},"ü":"ß"}`,
    `{"t":"${'é€😀'.repeat(3000)}"}`,
  ],
  ['an escaped name', `{"jsonrpc":"2.0","id":1,"\\u0072esult":${RESULT}}`, RESULT],
  [
    'two results, of which the last counts',
    `{"jsonrpc":"2.0","id":1,"result":{"a":1},"result":${RESULT}}`,
    RESULT,
  ],
  [
    'numbers that a double would change',
    `{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993,"t":"${'x'.repeat(9000)}"}}`,
    `{"n":9007199254740993,"t":"${'x'.repeat(9000)}"}`,
  ],
];

function writtenIn(line: Buffer | string): string | undefined {
  const [item] = readServerLine(line);
  assert.equal(item?.kind, 'response');
  const written = item.kind === 'response' ? writtenResult(item.outcome) : undefined;
  return written && textOfWritten(written);
}

for (const [what, line, result] of LINES) {
  test(`${what}: from bytes, with a mark before them, and from text`, () => {
    assert.equal(writtenIn(Buffer.from(line)), result);
    assert.equal(writtenIn(Buffer.from(`\ufeff${line}`)), result);
    assert.equal(writtenIn(line), result);
  });
}

test('what would not be one line, or no UTF-8, is written anew', () => {
  const long = `"${'x'.repeat(9000)}"`;
  for (const end of ['\n', '\r']) {
    assert.equal(writtenIn(Buffer.from(`{"jsonrpc":"2.0","id":1,${end}"result":{"t":${long}}}`)), undefined);
    assert.equal(writtenIn(`{"jsonrpc":"2.0","id":1,"result":{"t":${end}${long}}}`), undefined);
  }
  const broken = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"t":"?${long.slice(1)}}}`);
  broken[broken.indexOf('?')] = 0xff;
  assert.equal(writtenIn(broken), undefined);
});

test('a short result, an error and a batch are not kept', () => {
  assert.equal(writtenIn('{"jsonrpc":"2.0","id":1,"result":{}}'), undefined);
  assert.equal(
    writtenIn(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"${'x'.repeat(9000)}"}}`),
    undefined,
  );
  assert.equal(writtenIn(`[{"jsonrpc":"2.0","id":1,"result":${RESULT}}]`), undefined);
});
