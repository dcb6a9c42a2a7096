import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SseReader } from '../../../src/servers/http/sse-reader.ts';
import { PLAIN, type SseSpelling, spellEvent } from '../../support/sse-bytes.ts';

type Seen = ['event', string, string | undefined] | ['id', string] | ['retry', number];

function read(chunks: readonly Buffer[], maxEventBytes = 1_000_000) {
  const seen: Seen[] = [];
  const reader = new SseReader(
    {
      onEvent: (data, type) => seen.push(['event', data, type]),
      onId: (id) => seen.push(['id', id]),
      onRetry: (delayMs) => seen.push(['retry', delayMs]),
    },
    maxEventBytes,
  );
  const fits = chunks.map((chunk) => reader.write(chunk));
  return { seen, fits };
}

const readText = (text: string) => read([Buffer.from(text)]).seen;

function cutInto(bytes: Buffer, everyBytes: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += everyBytes) {
    chunks.push(bytes.subarray(start, start + everyBytes));
  }
  return chunks;
}

describe('SseReader', () => {
  const grammar: [name: string, text: string, seen: Seen[]][] = [
    [
      'LF',
      'data: a\n\ndata: b\n\n',
      [
        ['event', 'a', undefined],
        ['event', 'b', undefined],
      ],
    ],
    [
      'CRLF',
      'data: a\r\n\r\ndata: b\r\n\r\n',
      [
        ['event', 'a', undefined],
        ['event', 'b', undefined],
      ],
    ],
    [
      'CR',
      'data: a\r\rdata: b\r\r',
      [
        ['event', 'a', undefined],
        ['event', 'b', undefined],
      ],
    ],
    ['several data lines', 'data: a\ndata: b\ndata:c\n\n', [['event', 'a\nb\nc', undefined]]],
    ['comments', ': hello\n:\n\ndata: a\n: in between\n\n', [['event', 'a', undefined]]],
    ['a named event', 'event: ping\ndata: a\n\n', [['event', 'a', 'ping']]],
    ['an id alone', 'id: 7\n\n', [['id', '7']]],
    ['a priming event', 'id: 7\ndata:\n\n', [['id', '7']]],
    ['retry', 'retry: 250\n\n', [['retry', 250]]],
    ['retry that is no number', 'retry: soon\n\n', []],
    [
      'an id that is taken back',
      'id\ndata: a\n\n',
      [
        ['id', ''],
        ['event', 'a', undefined],
      ],
    ],
    ['unknown fields', 'foo: bar\nfoo\ndata: a\n\n', [['event', 'a', undefined]]],
    ['one leading space only', 'data:  a\n\n', [['event', ' a', undefined]]],
    ['a byte order mark', '\ufeffdata: a\n\n', [['event', 'a', undefined]]],
    ['U+2028 within data', 'data: a\u2028b\n\n', [['event', 'a\u2028b', undefined]]],
    ['no blank line at the end', 'data: a\n\ndata: b\n', [['event', 'a', undefined]]],
  ];
  for (const [name, text, seen] of grammar) {
    it(`F19 reads ${name}`, () => assert.deepEqual(readText(text), seen));
  }

  it('F19 delivers an event at once when its last byte is a CR, and swallows the LF that may follow', () => {
    const { seen } = read([Buffer.from('data: a\r\r'), Buffer.from('\ndata: b\r'), Buffer.from('\n\r\n')]);
    assert.deepEqual(seen, [
      ['event', 'a', undefined],
      ['event', 'b', undefined],
    ]);
    assert.deepEqual(read([Buffer.from('data: a\r\r')]).seen, [['event', 'a', undefined]]);
  });

  it('F16 keeps characters whole that are cut at any byte', () => {
    const text = 'data: é€𝄞\u2029x\n\n';
    for (const everyBytes of [1, 2, 3, 5]) {
      const { seen } = read(cutInto(Buffer.from(text), everyBytes));
      assert.deepEqual(seen, [['event', 'é€𝄞\u2029x', undefined]]);
    }
  });

  it('F16 keeps the decoding of two streams apart', () => {
    const first: string[] = [];
    const second: string[] = [];
    const one = new SseReader({ onEvent: (data) => first.push(data) }, 100);
    const two = new SseReader({ onEvent: (data) => second.push(data) }, 100);
    const [a, b] = [Buffer.from('data: é\n\n'), Buffer.from('data: ü\n\n')];
    for (let i = 0; i < a.length; i += 1) {
      one.write(a.subarray(i, i + 1));
      two.write(b.subarray(i, i + 1));
    }
    assert.deepEqual([first, second], [['é'], ['ü']]);
  });

  it('F18 takes an event of exactly the cap, counted in bytes, and refuses one byte more', () => {
    for (const [data, more] of [
      ['x'.repeat(3_000), 'x'],
      ['é'.repeat(1_500), 'x'],
      ['€'.repeat(1_000), 'x'],
    ] as const) {
      assert.equal(read([Buffer.from(`data: ${data}\n\n`)], 3_000).seen.length, 1);
      const refused = read([Buffer.from(`data: ${data}${more}\n\n`)], 3_000);
      assert.deepEqual(refused, { seen: [], fits: [false] });
    }
  });

  it('F18 delivers what came before an event over the cap, in the same chunk, and nothing after it', () => {
    const text = `data: first\n\ndata: ${'x'.repeat(5_000)}\n\ndata: last\n\n`;
    const { seen, fits } = read([Buffer.from(text), Buffer.from('data: more\n\n')], 1_000);
    assert.deepEqual(seen, [['event', 'first', undefined]]);
    assert.deepEqual(fits, [false, false]);
  });

  it('F18 gives up a line that never ends at the cap', () => {
    const block = Buffer.alloc(64 * 1024, 'x');
    const reader = new SseReader({ onEvent: () => assert.fail() }, 1024 * 1024);
    assert.ok(reader.write(Buffer.from('data: ')));
    let taken = 0;
    while (reader.write(block)) taken += block.length;
    assert.ok(taken <= 1024 * 1024 + block.length);
  });

  it('F18 reads 20 MiB in chunks of 64 KiB in linear time', () => {
    const timeFor = (bytes: number) => {
      const chunks = cutInto(Buffer.from(`data: ${'x'.repeat(bytes)}\n\n`), 64 * 1024);
      const startedAt = performance.now();
      assert.equal(read(chunks, bytes).seen.length, 1);
      return performance.now() - startedAt;
    };
    // The best of a few, since a test machine has other things to do as well.
    const bestFor = (bytes: number) => Math.min(...[1, 2, 3, 4].map(() => timeFor(bytes)));
    const small = Math.max(bestFor(5 * 1024 * 1024), 2);
    assert.ok(
      bestFor(20 * 1024 * 1024) < small * 16,
      'four times the bytes took far more than four times as long',
    );
  });

  it('an endless stream of comments fills nothing', () => {
    const comment = Buffer.from(`: ${'x'.repeat(500)}\n\n`);
    const reader = new SseReader({ onEvent: () => assert.fail() }, 100);
    for (let i = 0; i < 1_000; i += 1) assert.ok(reader.write(comment));
  });

  it('F19 sees the same events however the bytes are cut (property)', () => {
    const line = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replace(/[\r\n\0]/g, '·'));
    const event = fc.record({ data: fc.array(line, { minLength: 1, maxLength: 3 }), id: line, event: line });
    const spelling = fc.record<SseSpelling>({
      ...constants(PLAIN),
      eol: fc.constantFrom('\n', '\r\n', '\r'),
      chatter: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 5 }),
        spelling,
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (events, style, sizes) => {
          const text = events.map(({ data, ...rest }) =>
            spellEvent({ ...rest, data: data.join('\n') }, style),
          );
          const bytes = Buffer.from(text.join(''));
          const chunks: Buffer[] = [];
          for (let start = 0; start < bytes.length; ) {
            const size = sizes.next().value ?? 1;
            chunks.push(bytes.subarray(start, start + size));
            start += size;
          }
          const { seen } = read(chunks);
          assert.deepEqual(seen, read([bytes]).seen);
          const data = seen.flatMap(([kind, value, type]) =>
            kind === 'event' && type !== 'ping' ? [value] : [],
          );
          assert.deepEqual(
            data,
            events.filter((sent) => sent.event !== 'ping').flatMap((sent) => sent.data.join('\n') || []),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});

function constants<T extends object>(value: T): { [K in keyof T]: fc.Arbitrary<T[K]> } {
  const entries = Object.entries(value).map(([key, constant]) => [key, fc.constant(constant)]);
  return Object.fromEntries(entries) as { [K in keyof T]: fc.Arbitrary<T[K]> };
}
