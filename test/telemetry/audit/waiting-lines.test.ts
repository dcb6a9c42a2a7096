import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitingLines } from '../../../src/telemetry/audit/waiting-lines.ts';

const textOf = (lines: WaitingLines) => lines.peek().bytes.toString();

test('lines that wait stand in their order, each with its line feed, in UTF-8', () => {
  const lines = new WaitingLines();
  for (const line of ['one', 'größer', '数字 🎉']) lines.add(line);
  assert.equal(textOf(lines), 'one\ngrößer\n数字 🎉\n');
  assert.equal(lines.count, 3);
});

test('what comes after a look stays when that batch is dropped', () => {
  const lines = new WaitingLines();
  lines.add('written');
  const batch = lines.peek();
  lines.add('later');
  assert.equal(batch.bytes.toString(), 'written\n');
  lines.drop(batch);
  assert.equal(textOf(lines), 'later\n');
  assert.equal(lines.count, 1);
});

test('a batch stays as it is while the room for others grows', () => {
  const lines = new WaitingLines();
  lines.add('a'.repeat(50_000));
  const batch = lines.peek();
  const copy = Buffer.from(batch.bytes);
  const long = 'ü'.repeat(2_000_000);
  lines.add(long);
  assert.deepEqual(batch.bytes, copy);
  lines.drop(batch);
  assert.equal(textOf(lines), `${long}\n`);
});

test('room that many lines have taken is given back once they are gone', () => {
  const lines = new WaitingLines();
  const roomAtFirst = lines.peek().bytes.buffer.byteLength;
  for (let n = 0; n < 3_000; n += 1) lines.add('x'.repeat(1_000));
  assert.ok(lines.peek().bytes.buffer.byteLength >= 3_000_000);
  lines.drop(lines.peek());
  lines.add('after');
  assert.equal(lines.peek().bytes.buffer.byteLength, roomAtFirst);
  assert.equal(textOf(lines), 'after\n');
});
