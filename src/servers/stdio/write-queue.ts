// What is to be written to a child, in order, under back-pressure: while the pipe is full, frames wait here, where
// they are counted and may be withdrawn, not in the stream, where they could not.
import type { Writable } from 'node:stream';
import { GatewayError } from '../../errors.ts';
import type { BufferHold } from '../../state/buffer-budget.ts';

/** One line on its way. */
export interface QueuedFrame {
  /** `waiting` may still be withdrawn; `written` is in the pipe's hands; `dropped` was withdrawn or never will be. */
  readonly state: 'waiting' | 'written' | 'dropped';
}

interface Frame extends QueuedFrame {
  state: 'waiting' | 'written' | 'dropped';
  readonly bytes: Buffer;
  readonly onSettled: (() => void) | undefined;
}

const RETRY_AFTER_MS = 1_000;

export class WriteQueue {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  readonly #hold: BufferHold;
  readonly #frames: Frame[] = [];
  #waitingBytes = 0;
  #scheduled = false;
  #closed = false;

  /** `maxBytes` bounds what waits; a single frame may be larger when nothing else does. */
  constructor(stream: Writable, maxBytes: number, hold: BufferHold) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    this.#hold = hold;
    stream.on('drain', this.#flush);
    stream.once('close', () => this.close());
  }

  /** The pipe is full: the child does not read. */
  get blocked(): boolean {
    return this.#stream.writableNeedDrain;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /**
   * Queues one line. `onSettled` runs when it is written or dropped. An `urgent` one ignores the bound, for what is
   * bounded otherwise and must not get lost, as a cancellation.
   *
   * @throws GatewayError no-capacity when too much is waiting already
   */
  enqueue(
    text: string,
    { onSettled, urgent = false }: { onSettled?: () => void; urgent?: boolean } = {},
  ): QueuedFrame {
    const frame: Frame = { state: 'waiting', bytes: Buffer.from(`${text}\n`, 'utf8'), onSettled };
    if (this.#closed) {
      this.#settle(frame, 'dropped');
      return frame;
    }
    if (!urgent && this.#waitingBytes > 0 && this.#waitingBytes + frame.bytes.length > this.#maxBytes) {
      throw new GatewayError('no-capacity', { reason: 'write-queue-full', retryAfterMs: RETRY_AFTER_MS });
    }
    this.#frames.push(frame);
    this.#waitingBytes += frame.bytes.length;
    this.#account();
    this.#schedule();
    return frame;
  }

  /** Takes a frame back. False when it is too late: the child has it, or will. */
  withdraw(frame: QueuedFrame): boolean {
    const index = this.#frames.indexOf(frame as Frame);
    const [found] = index === -1 ? [] : this.#frames.splice(index, 1);
    if (!found) return false;
    this.#waitingBytes -= found.bytes.length;
    this.#account();
    this.#settle(found, 'dropped');
    return true;
  }

  /** Drops what waits. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#stream.removeListener('drain', this.#flush);
    this.#waitingBytes = 0;
    this.#account();
    for (const frame of this.#frames.splice(0)) this.#settle(frame, 'dropped');
  }

  /** Frames of one turn go out in one write. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  readonly #flush = (): void => {
    if (this.#closed || this.#frames.length === 0) return;
    this.#stream.cork();
    for (let frame = this.#frames[0]; frame && !this.#stream.writableNeedDrain; frame = this.#frames[0]) {
      this.#frames.shift();
      this.#waitingBytes -= frame.bytes.length;
      this.#stream.write(frame.bytes, this.#account);
      this.#settle(frame, 'written');
    }
    this.#stream.uncork();
  };

  /** What waits here, and what the pipe has not taken from the stream. */
  readonly #account = (): void => {
    this.#hold.count(this.#closed ? 0 : this.#waitingBytes + this.#stream.writableLength);
  };

  #settle(frame: Frame, state: 'written' | 'dropped'): void {
    frame.state = state;
    frame.onSettled?.();
  }
}
