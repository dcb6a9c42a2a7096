import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { test } from 'node:test';
import { BytePieces } from '../../src/protocol/byte-pieces.ts';

/** All ways to cut bytes into three pieces, empty ones among them. */
function* cutInThree(bytes: Buffer): Generator<BytePieces> {
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      yield new BytePieces([bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]);
    }
  }
}

const UTF8 = [
  Buffer.from('aé€😀z'),
  Buffer.from('😀😀'),
  Buffer.from([0xff]),
  Buffer.from([0x61, 0x80, 0x61]),
  Buffer.from([0xe2, 0x82]),
  Buffer.from([0xe2, 0x82, 0x61]),
  Buffer.from([0xe2, 0x28, 0xa1]),
  Buffer.from([0xc3, 0xa9, 0xa9]),
  Buffer.from([0xc0, 0xaf]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xf0, 0x9f, 0x98, 0x80, 0x80, 0x80, 0x80, 0x80]),
  Buffer.from([0xf4, 0x90, 0x80, 0x80]),
];

test('bytes are UTF-8 or not, wherever they are cut', () => {
  for (const bytes of UTF8) {
    for (const pieces of cutInThree(bytes)) {
      const where = pieces.pieces.map((piece) => piece.toString('hex')).join(' ');
      assert.equal(pieces.isUtf8(), isUtf8(bytes), where);
    }
  }
});

test('parts are found, and bytes in them, wherever the whole is cut', () => {
  const bytes = Buffer.from('0123456789');
  for (const pieces of cutInThree(bytes)) {
    assert.equal(pieces.length, 10);
    assert.equal(pieces.join().toString(), '0123456789');
    for (const [start, end] of [
      [0, 10],
      [3, 7],
      [9, 10],
      [4, 4],
    ] as const) {
      assert.equal(pieces.join(start, end).toString(), '0123456789'.slice(start, end));
    }
    for (const start of [0, 3, 6, 7]) {
      assert.equal(pieces.indexOf(0x36, start), '0123456789'.indexOf('6', start));
    }
  }
});

test('bytes that come one by one are joined, for each piece is an object', () => {
  const bytes = Buffer.from('crumbs '.repeat(1_000));
  const crumbs = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
  const pieces = new BytePieces(crumbs);
  assert.deepEqual([pieces.pieces.length, pieces.join().equals(bytes)], [1, true]);
  const large = Array.from({ length: 100 }, () => Buffer.alloc(8_192));
  assert.equal(new BytePieces(large).pieces, large);
});
