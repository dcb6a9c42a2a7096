// Frames on the wire: however they are cut, each arrives whole, with the digits that it had.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonRpcOutcome } from '../../src/protocol/json-rpc.ts';
import { readJson, writeJson } from '../../src/protocol/json-text.ts';
import { readLines } from '../../src/replicas/read-lines.ts';
import type { ReplyFrame } from '../../src/replicas/replicas.ts';
import { frameText, HEARTBEAT, readFrame, respondText, TAKEN } from '../../src/replicas/reply-frames.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';

const RESULT = '{"id":9007199254740993,"n":1e400,"price":0.10,"text":"a\u2028b\\n\u{1f600}","deep":[[-0]]}';
const outcome = { result: readJson(RESULT) } as JsonRpcOutcome;
const FRAMES: readonly ReplyFrame[] = [
  { header: ['Mcp-Session-Id', 'ü'] },
  { open: {} },
  { open: { primingEventId: 'e-0' } },
  {
    send: {
      message: { jsonrpc: '2.0', method: 'x', params: { text: 'line\u2028line\u2029' } },
      eventId: 'e-1',
    },
  },
  { respond: { outcome, idText: '9007199254740993', status: 400, eventId: 'e-2' } },
  {
    fail: {
      code: 'session-unknown',
      details: { text: 'Words', data: { a: 1 } },
      idText: '"a"',
      era: 'legacy',
    },
  },
  { accept: 204 },
  { end: true },
  { record: { outcome: 'ok', upstreamMs: 1.5 } },
];

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function linesOf(chunks: AsyncIterable<Buffer>, maxLineBytes = 1024, budget = new BufferBudget(4096)) {
  const lines: string[] = [];
  for await (const line of readLines(chunks, { maxLineBytes, hold: budget.open() })) lines.push(line);
  assert.equal(budget.usedBytes, 0);
  return lines;
}

test('frames arrive whole and exact, however their bytes are cut', async () => {
  const wire = Buffer.from(FRAMES.map((frame) => `${frameText(frame)}\n`).join(HEARTBEAT));
  for (const size of [1, 2, 3, 7, 64, wire.length]) {
    const lines = await linesOf(cut(wire, size));
    assert.deepEqual(
      lines.map((line) => writeJson(readFrame(line))),
      FRAMES.map((frame) => writeJson(frame)),
      `cut at every ${size} bytes`,
    );
  }
});

test('an answer is written once, and reads as any other frame', () => {
  const [, , , , respond] = FRAMES;
  const outcomeJson = writeJson(outcome);
  const text = respondText({ idText: '9007199254740993', outcomeJson, status: 400, eventId: 'e-2' });
  assert.equal(writeJson(readFrame(text)), writeJson(respond));
  const bare = respondText({ idText: '1', outcomeJson, status: undefined, eventId: undefined });
  assert.deepEqual(Object.keys((readFrame(bare) as { respond: object }).respond), ['outcome', 'idText']);
});

test('what is no frame of this version is none', () => {
  const wrong = [
    ...['', 'x', 'null', '[]', '{}', '{"end":false}', '{"end":true,"accept":202}', '{"toString":{}}'],
    ...['{"header":["a"]}', '{"header":["a",1]}', '{"open":1}', '{"send":{"message":"x"}}', '{"accept":200}'],
    ...['{"respond":{"idText":1,"outcome":{"result":{}}}}', '{"respond":{"idText":"1","outcome":{}}}'],
    ...['{"fail":{"code":"nonsense","details":{},"era":"modern"}}', '{"fail":{"code":"internal","era":"x"}}'],
    TAKEN,
  ];
  for (const line of wrong) assert.equal(readFrame(line), undefined, line);
});

test('a line over the limit, or over what may be held, ends the reading', async () => {
  const long = Buffer.from(`${'x'.repeat(2_000)}\n`);
  await assert.rejects(linesOf(cut(long, 100), 1_000), RangeError);
  await assert.rejects(linesOf(cut(long, 100), 10_000, new BufferBudget(500)), RangeError);
});

test('a line that is not complete when the bytes end is no line', async () => {
  assert.deepEqual(await linesOf(cut(Buffer.from('{"end":true}\n{"rec'), 5)), ['{"end":true}']);
});
