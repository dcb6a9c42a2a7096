// Bytes that came in pieces, read as if they were one. To join 10 MB costs 4 ms, and as much memory again, for which V8
// collects all garbage after a few of them (bench: 10mb).
import { isUtf8 } from 'node:buffer';

const NO_BYTES = Buffer.alloc(0);
/** Smaller ones are joined: a server may send its answer byte by byte, and each piece is an object. */
const MIN_PIECE_BYTES = 4 * 1024;
const SOME_PIECES = 16;
/** Of one character. */
const MAX_CONTINUATION_BYTES = 3;

export class BytePieces {
  readonly pieces: readonly Buffer[];
  readonly length: number;
  /** Where each begins. */
  readonly starts: readonly number[];

  constructor(pieces: readonly Buffer[]) {
    this.length = pieces.reduce((sum, { length }) => sum + length, 0);
    const most = SOME_PIECES + this.length / MIN_PIECE_BYTES;
    this.pieces = pieces.length > most ? [Buffer.concat(pieces, this.length)] : pieces;
    let start = 0;
    this.starts = this.pieces.map(({ length }) => {
      start += length;
      return start - length;
    });
  }

  /** The pieces of a part, without a copy. */
  slice(start: number, end: number): Buffer[] {
    const found: Buffer[] = [];
    for (let index = this.#pieceAt(start); index < this.pieces.length; index += 1) {
      const base = this.starts[index] as number;
      if (base >= end) break;
      const piece = this.pieces[index] as Buffer;
      found.push(piece.subarray(Math.max(0, start - base), end - base));
    }
    return found;
  }

  /** A part in one piece. */
  join(start = 0, end = this.length): Buffer {
    const pieces = this.slice(start, end);
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  /** The first such byte from `start` on, or -1. */
  indexOf(byte: number, start: number): number {
    for (let index = this.#pieceAt(start); index < this.pieces.length; index += 1) {
      const base = this.starts[index] as number;
      const piece = this.pieces[index] as Buffer;
      const found = piece.indexOf(byte, Math.max(0, start - base));
      if (found !== -1) return base + found;
    }
    return -1;
  }

  /** The last piece that does not begin behind that byte. */
  #pieceAt(at: number): number {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] as number) <= at) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** A character may be cut in two. */
  isUtf8(): boolean {
    let cut: Buffer = NO_BYTES;
    for (const piece of this.pieces) {
      let from = 0;
      if (cut.length > 0) {
        from = continuationsAtStart(piece);
        cut = Buffer.concat([cut, piece.subarray(0, from)]);
        if (from === piece.length) continue;
        if (!isUtf8(cut)) return false;
      }
      const to = piece.length - cutAtEnd(piece);
      if (!isUtf8(piece.subarray(from, to))) return false;
      cut = piece.subarray(Math.max(from, to));
    }
    return isUtf8(cut);
  }
}

function continuationsAtStart(piece: Buffer): number {
  let count = 0;
  while (count < MAX_CONTINUATION_BYTES && isContinuation(piece[count])) count += 1;
  return count;
}

/** How many bytes at the end begin a character that goes on in the next piece. */
function cutAtEnd(piece: Buffer): number {
  for (let back = 1; back <= MAX_CONTINUATION_BYTES && back <= piece.length; back += 1) {
    const byte = piece[piece.length - back] as number;
    if (isContinuation(byte)) continue;
    return bytesFrom(byte) > back ? back : 0;
  }
  return 0;
}

/** How long a character is that begins with this byte. */
function bytesFrom(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
