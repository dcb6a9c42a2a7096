// An answer that is nearly all one text is read without that text, and is the same answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOfWritten, writtenResult } from '../../src/protocol/json-rpc.ts';
import { LongText } from '../../src/protocol/long-text.ts';
import { type LineItem, readServerLine, readServerPieces } from '../../src/servers/server-line.ts';

const LENGTH = 70_000;
const PLAIN = 'x'.repeat(LENGTH);
const ESCAPED = JSON.stringify('He says "é€😀", \\ and\n\ttwo\u0001 lines of '.repeat(3_000)).slice(1, -1);
const answer = (result: string, id: number | string = 7) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
const block = (text: string) => answer(`{"content":[{"type":"text","text":"${text}"}]}`);

/** What is left out where it stands, in the order in which JSON.stringify would come by. */
function leftOutOf(value: unknown): LongText[] {
  if (value instanceof LongText) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leftOutOf) : [];
}

/** Without bytes nothing is left out. */
const inFull = (line: Buffer): readonly LineItem[] => readServerLine(line.toString());

function assertSame(line: Buffer, items: readonly LineItem[], where: string): number {
  assert.equal(JSON.stringify(items), JSON.stringify(inFull(line)), where);
  const [item] = items;
  if (item?.kind !== 'response') return 0;
  const [full] = inFull(line);
  const written = writtenResult(item.outcome);
  const expected = full?.kind === 'response' ? writtenResult(full.outcome) : undefined;
  if (written !== undefined && expected !== undefined) {
    assert.equal(textOfWritten(written).trim(), textOfWritten(expected).trim(), where);
  }
  return leftOutOf(item.outcome).length;
}

const LEFT_OUT: readonly (readonly [what: string, line: string, texts: number])[] = [
  ['a text', block(PLAIN), 1],
  ['a text with escapes and letters of several bytes', block(ESCAPED), 1],
  ['escapes by number alone', block('\\u00e9\\uD83d\\ude00'.repeat(5_000)), 1],
  ['half of a pair, which only an escape can be', block(`\\ud800${PLAIN}`), 1],
  ['an image', answer(`{"content":[{"type":"image","data":"${PLAIN}","mimeType":"image/png"}]}`), 1],
  ['a file', answer(`{"contents":[{"uri":"file:///a","blob":"${PLAIN}"}]}`), 1],
  [
    'a resource in a block',
    answer(`{"content":[{"type":"resource","resource":{"uri":"a:b","text":"${PLAIN}"}}]}`),
    1,
  ],
  [
    'two of them, with numbers that a double would change',
    answer(`{"n":9007199254740993,"content":[{"text":"${PLAIN}"},{"n":1e9,"text":"${ESCAPED}"}],"m":-0}`),
    2,
  ],
  ['spaces', `{ "jsonrpc" : "2.0", "id" : 7 , "result" : { "content" : [ { "text" : "${PLAIN}" } ] } }`, 1],
  ['the result first', `{"result":{"content":[{"text":"${PLAIN}"}]},"id":"é","jsonrpc":"2.0"}`, 1],
  [
    'letters of several bytes before it',
    answer(`{"é€😀":"é€😀","content":[{"é":"€","text":"${ESCAPED}"}]}`, 'é😀'),
    1,
  ],
  [
    'a complete result of the modern revision',
    answer(`{"resultType":"complete","content":[{"text":"${PLAIN}"}]}`),
    1,
  ],
];

const IN_FULL: readonly (readonly [what: string, line: string])[] = [
  ['a text of some other member', answer(`{"content":[{"type":"text","note":"${PLAIN}"}]}`)],
  ['a key in a string', answer(`{"content":[{"note":"\\"text\\":\\"${PLAIN}\\""}]}`)],
  ['a key that ends like one', answer(`{"content":[{"a\\"text":"${PLAIN}"}]}`)],
  ['a text as an element', answer(`{"content":["${PLAIN}"]}`)],
  ['a text elsewhere in the result', answer(`{"structuredContent":{"text":"${PLAIN}"},"content":[]}`)],
  [
    'a text in a list of tools',
    answer(`{"tools":[{"name":"a","inputSchema":{"default":{"data":"${PLAIN}"}}}]}`),
  ],
  ['a text beside the result', `{"jsonrpc":"2.0","id":7,"text":"${PLAIN}","result":{"content":[]}}`],
  ['a text that another one replaces', answer(`{"content":[{"text":"${PLAIN}","text":"short"}]}`)],
  [
    'a result that another one replaces',
    `{"jsonrpc":"2.0","id":7,"result":{"content":[{"text":"${PLAIN}"}]},"result":{}}`,
  ],
  ['questions to the client', answer(`{"resultType":"input_required","content":[{"text":"${PLAIN}"}]}`)],
  ['an error', `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m","data":{"text":"${PLAIN}"}}}`],
  [
    'a question of the server',
    `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"text":"${PLAIN}"}}`,
  ],
  ['a notification', `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${PLAIN}"}}`],
  ['several messages', `[${block(PLAIN)}]`],
  ['several lines', answer(`{\n"content":[{"text":"${PLAIN}"}]}`)],
  ['a control character', block(`${PLAIN}\u0001`)],
  ['an escape that is none', block(`${PLAIN}\\x41`)],
  ['an escape by number that is none', block(`${PLAIN}\\u00g0`)],
  ['a string without an end', block(PLAIN).slice(0, 70_030)],
  ['nothing behind the backslash', `${block(PLAIN).slice(0, 70_030)}\\`],
  ['what is no JSON around it', block(PLAIN).replace('"id":7', '"id":7,,')],
  ['a quote too many', block(PLAIN).replace('"text":"', '"a,"text":"')],
];

test('a long text is left out, and comes back wherever the answer is written anew', () => {
  for (const [what, line, texts] of LEFT_OUT) {
    const bytes = Buffer.from(line);
    assert.equal(assertSame(bytes, readServerLine(bytes), what), texts, what);
    const [item] = readServerLine(bytes);
    const written = item?.kind === 'response' ? writtenResult(item.outcome) : undefined;
    assert.deepEqual(JSON.parse(textOfWritten(written ?? [])), JSON.parse(line).result, what);
  }
});

test('what is not quite so is read in full', () => {
  for (const [what, line] of IN_FULL) {
    const bytes = Buffer.from(line);
    assert.equal(assertSame(bytes, readServerLine(bytes), what), 0, what);
  }
  const broken = Buffer.from(block(PLAIN));
  broken[40_000] = 0xff;
  assert.equal(assertSame(broken, readServerLine(broken), 'no UTF-8'), 0);
  const marked = Buffer.from(`\ufeff${block(PLAIN)}`);
  assert.equal(assertSame(marked, readServerLine(marked), 'a mark before it'), 0);
});

test('an answer is the same wherever it was cut into pieces, and wherever they stand in memory', () => {
  // Each piece begins at another place in a word of four bytes.
  const pieceOf = (bytes: Buffer, shift: number) => {
    const room = Buffer.alloc(bytes.length + shift);
    room.set(bytes, shift);
    return room.subarray(shift);
  };
  const around = (bytes: Buffer, byte: string) =>
    [...Array(9).keys()].map((by) => bytes.indexOf(byte, 30_000) - 4 + by);
  for (const [what, line, texts] of LEFT_OUT) {
    const bytes = Buffer.from(line);
    const cuts = [
      1,
      bytes.length - 40,
      ...around(bytes, '\\'),
      ...around(bytes, '"'),
      ...around(bytes, '😀'),
    ];
    for (const [index, cut] of cuts.filter((at) => at > 0 && at < bytes.length - 1).entries()) {
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut, cut + 1), bytes.subarray(cut + 1)].map(
        (piece) => pieceOf(piece, index % 4),
      );
      assert.equal(assertSame(bytes, readServerPieces(pieces), `${what}, cut at ${cut}`), texts, what);
    }
  }
});

test('a quote, a backslash and a control character are seen at each place of a word', () => {
  for (let shift = 0; shift < 8; shift += 1) {
    for (const [end, isSound] of [
      ['\\"', true],
      ['\\\\', true],
      ['\u007f\u0080\u00ff', true],
      ['\u001f', false],
      ['\u0000', false],
      ['\\', false],
    ] as const) {
      const bytes = Buffer.from(block(`${'y'.repeat(LENGTH + shift)}${end}${'z'.repeat(11)}`));
      assert.equal(
        assertSame(bytes, readServerLine(bytes), `${shift} ${end}`),
        isSound ? 1 : 0,
        `${shift} ${end}`,
      );
    }
  }
});

test('with much besides its text an answer is read in full', () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `"member ${index}":"short"`).join(',');
  const bytes = Buffer.from(answer(`{"content":[{"text":"${PLAIN}",${names}}]}`));
  assert.equal(assertSame(bytes, readServerLine(bytes), 'many members'), 0);
  const long = Buffer.from(answer(`{"content":[{"text":"${PLAIN}","note":"${PLAIN}"}]}`));
  assert.equal(assertSame(long, readServerLine(long), 'another long string'), 0);
});
