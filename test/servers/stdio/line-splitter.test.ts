import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from '../../../src/servers/stdio/line-splitter.ts';

function split(chunks: readonly Buffer[], maxLineBytes = 1_000_000, { end = true } = {}) {
  const lines: string[] = [];
  let overflows = 0;
  const splitter = new LineSplitter({
    maxLineBytes,
    onLine: (line) => lines.push(line.toString('utf8')),
    onOverflow: () => {
      overflows += 1;
    },
  });
  for (const chunk of chunks) splitter.push(chunk);
  if (end) splitter.end();
  return { lines, overflows };
}

function cut(bytes: Buffer, ...at: number[]): Buffer[] {
  const edges = [0, ...at, bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

const bytesOf = (text: string) => Buffer.from(text, 'utf8');

test('F16: a character cut at any byte arrives whole', () => {
  const text = 'é ü\n€ \u2028 \u2029\n😀 𝒳\n';
  const bytes = bytesOf(text);
  const expected = ['é ü', '€ \u2028 \u2029', '😀 𝒳'];
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.deepEqual(split(cut(bytes, at)).lines, expected, `cut at byte ${at}`);
  }
  const single = [...bytes].map((byte) => Buffer.from([byte]));
  assert.deepEqual(split(single).lines, expected, 'byte by byte');
});

test('F16: two interleaved streams share no state', () => {
  const lines: string[] = [];
  const [a, b] = ['a', 'b'].map(
    (name) =>
      new LineSplitter({
        maxLineBytes: 100,
        onLine: (line) => lines.push(`${name}:${line.toString('utf8')}`),
        onOverflow: () => assert.fail('no overflow'),
      }),
  );
  const [aBytes, bBytes] = [bytesOf('€uro\n'), bytesOf('😀mile\n')];
  for (let i = 0; i < bBytes.length; i += 1) {
    a?.push(aBytes.subarray(i, i + 1));
    b?.push(bBytes.subarray(i, i + 1));
  }
  assert.deepEqual(lines.sort(), ['a:€uro', 'b:😀mile']);
});

test('any cutting of any bytes yields the same lines', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\n', '')),
    fc.constantFrom('', '\r', 'x\r', '\u2028', '\ufeff{}', 'ab\rcd'),
  );
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 12 }),
      fc.boolean(),
      fc.array(fc.nat(800), { maxLength: 30 }),
      (texts, closed, cuts) => {
        const bytes = bytesOf(texts.join('\n') + (closed ? '\n' : ''));
        const at = cuts.filter((edge) => edge <= bytes.length).sort((x, y) => x - y);
        const written = bytes.toString('utf8').split('\n');
        if (written.at(-1) === '') written.pop();
        assert.deepEqual(
          split(cut(bytes, ...at)).lines,
          written.map((text) => text.replace(/\r$/, '')),
        );
      },
    ),
    { numRuns: 300 },
  );
});

test('F17: CRLF ends a line, blank lines are lines, and the last one needs no newline', () => {
  assert.deepEqual(split([bytesOf('a\r'), bytesOf('\n\r\n\nb')]).lines, ['a', '', '', 'b']);
  assert.deepEqual(split([bytesOf('a\nb')], 100, { end: false }).lines, ['a']);
  assert.deepEqual(split([]).lines, []);
});

test('F18: a line at the limit passes, one byte more overflows, wherever the cuts are', () => {
  for (const at of [[], [1], [9], [10], [1, 2, 3]]) {
    assert.deepEqual(split(cut(bytesOf('0123456789\n'), ...at), 10), { lines: ['0123456789'], overflows: 0 });
    assert.deepEqual(split(cut(bytesOf('0123456789a\n'), ...at), 10), { lines: [], overflows: 1 });
    assert.deepEqual(split(cut(bytesOf('0123456789a'), ...at), 10), { lines: [], overflows: 1 });
  }
});

test('F18: lines before an oversized one are delivered, nothing after it is', () => {
  const outcome = split([bytesOf('ok\n'), bytesOf('good\nmuch too long\nlater\n'), bytesOf('more\n')], 5);
  assert.deepEqual(outcome, { lines: ['ok', 'good'], overflows: 1 });
});

test('F18: an endless line overflows as soon as it passes the limit, and once', () => {
  const chunk = Buffer.alloc(64 * 1024, 0x61);
  let pushed = 0;
  let overflows = 0;
  const splitter = new LineSplitter({
    maxLineBytes: 1024 * 1024,
    onLine: () => assert.fail('there is no line'),
    onOverflow: () => {
      overflows += 1;
    },
  });
  for (; pushed < 64; pushed += 1) {
    splitter.push(chunk);
    assert.equal(overflows, pushed >= 16 ? 1 : 0, `after chunk ${pushed + 1}`);
  }
  splitter.end();
});

test('F18: work is linear in the length of a line', (t) => {
  const length = 20 * 1024 * 1024;
  let copied = 0;
  let searched = 0;
  const { copy, indexOf } = Buffer.prototype;
  t.mock.method(Buffer.prototype, 'copy', function (this: Buffer, ...args: Parameters<typeof copy>) {
    const bytes = copy.apply(this, args);
    copied += bytes;
    return bytes;
  });
  t.mock.method(Buffer.prototype, 'indexOf', function (this: Buffer, value: number, from = 0) {
    searched += this.length - from;
    return indexOf.call(this, value, from);
  });
  let received = 0;
  const splitter = new LineSplitter({
    maxLineBytes: 100 * 1024 * 1024,
    onLine: (line) => {
      received = line.length;
    },
    onOverflow: () => assert.fail('no overflow'),
  });
  const chunk = Buffer.alloc(64 * 1024, 0x61);
  for (let pushed = 0; pushed < length; pushed += chunk.length) splitter.push(chunk);
  splitter.push(bytesOf('\n'));
  assert.equal(received, length);
  // Each byte once into its place, and once more on the average as that place doubles.
  assert.ok(copied >= length && copied <= 3 * length, `${copied} bytes were copied`);
  assert.ok(searched >= length && searched <= length + 1, `${searched} bytes were searched`);
});

test('a stopped splitter stays silent, also within the chunk that it is splitting', () => {
  const lines: string[] = [];
  const splitter: LineSplitter = new LineSplitter({
    maxLineBytes: 10,
    onLine: (line) => {
      lines.push(line.toString('utf8'));
      splitter.stop();
    },
    onOverflow: () => assert.fail('stopped'),
  });
  splitter.push(bytesOf('a\nb\nc'));
  splitter.push(bytesOf('a line much over the limit\n'));
  splitter.end();
  assert.deepEqual(lines, ['a']);
});
