// Cuts a byte stream into lines at the LF byte, and nowhere else: a chunk may end within a character, and U+2028 is
// no line end. Bytes are decoded by whoever takes the whole line.

export interface LineSplitterOptions {
  /** The longest line allowed, without its LF. */
  readonly maxLineBytes: number;
  /** A line without its LF or CRLF, maybe empty. The bytes are only valid during the call. */
  onLine(line: Buffer): void;
  /** Whenever it changes: the bytes that an unfinished line takes. */
  onHeld?(bytes: number): void;
  /** Once, when a line is over the limit; the splitter has stopped by then. */
  onOverflow(): void;
}

const LF = 0x0a;
const CR = 0x0d;
/** What is kept for the next line; a larger tail is given back, so that one big line does not stay in memory. */
const KEPT_TAIL_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Work and memory are linear in the bytes received, however they are cut: an unfinished line lies in one buffer that
 * doubles (twice its size at most, also when it comes byte by byte), and never grows past the limit.
 */
export class LineSplitter {
  readonly #options: LineSplitterOptions;
  #tail = NOTHING;
  #tailBytes = 0;
  #stopped = false;
  #heldBytes = 0;

  constructor(options: LineSplitterOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let start = 0;
    while (!this.#stopped && start < chunk.length) {
      const newline = chunk.indexOf(LF, start);
      const end = newline === -1 ? chunk.length : newline;
      // Checked before a byte is copied: what is over the limit costs nothing.
      if (this.#tailBytes + end - start > this.#options.maxLineBytes) this.#overflow();
      else if (newline === -1) this.#keep(chunk, start);
      else if (this.#tailBytes === 0) this.#emit(chunk.subarray(start, end));
      else this.#finish(chunk, start, end);
      start = end + 1;
    }
  }

  /** The stream is over: what is left is a line too, though its end is missing. */
  end(): void {
    if (!this.#stopped && this.#tailBytes > 0) this.#finish(NOTHING, 0, 0);
    this.stop();
  }

  /** Forgets what is buffered; nothing is emitted from here on, not even from a chunk being split. */
  stop(): void {
    this.#stopped = true;
    this.#tail = NOTHING;
    this.#tailBytes = 0;
    this.#noteHeld();
  }

  #finish(chunk: Buffer, start: number, end: number): void {
    this.#keep(chunk, start, end);
    const line = this.#tail.subarray(0, this.#tailBytes);
    this.#tailBytes = 0;
    this.#emit(line);
    if (this.#tail.length > KEPT_TAIL_BYTES) this.#tail = NOTHING;
    this.#noteHeld();
  }

  #emit(line: Buffer): void {
    this.#options.onLine(line.at(-1) === CR ? line.subarray(0, -1) : line);
  }

  #keep(chunk: Buffer, start: number, end = chunk.length): void {
    const needed = this.#tailBytes + end - start;
    if (needed > this.#tail.length) {
      const room = Math.max(needed, Math.min(this.#tail.length * 2, this.#options.maxLineBytes));
      const larger = Buffer.allocUnsafeSlow(room);
      this.#tail.copy(larger, 0, 0, this.#tailBytes);
      this.#tail = larger;
    }
    chunk.copy(this.#tail, this.#tailBytes, start, end);
    this.#tailBytes = needed;
    this.#noteHeld();
  }

  #noteHeld(): void {
    const heldBytes = this.#tailBytes === 0 ? 0 : this.#tail.length;
    if (heldBytes === this.#heldBytes) return;
    this.#heldBytes = heldBytes;
    this.#options.onHeld?.(heldBytes);
  }

  #overflow(): void {
    this.stop();
    this.#options.onOverflow();
  }
}
