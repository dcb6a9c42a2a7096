// Reads one HTTP/1.1 answer at a time off a connection, no more of it than tells whether it is the right one.

/** How much of a body is looked at. */
const LOOKED_AT_BYTES = 512;
const LINE_END_BYTES = 2;
const NOTHING = Buffer.alloc(0);

export class AnswerReader {
  #unread: Buffer = NOTHING;
  #inBody = false;
  #chunked = false;
  /** Of the body, or of its current chunk with the line end after it. */
  #leftBytes = 0;
  #inChunk = false;
  #isLastChunk = false;
  #looked: string[] = [];
  status = 0;
  bodyBytes = 0;

  /** The start of the body. */
  get bodyStart(): string {
    return this.#looked.join('');
  }

  /** @returns true when the answer is complete; then `next` */
  read(arrived: Buffer): boolean {
    let chunk = this.#unread.length === 0 ? arrived : Buffer.concat([this.#unread, arrived]);
    this.#unread = NOTHING;
    if (!this.#inBody) {
      const headEnd = chunk.indexOf('\r\n\r\n');
      if (headEnd < 0) {
        this.#unread = chunk;
        return false;
      }
      this.#readHead(chunk.toString('latin1', 0, headEnd));
      chunk = chunk.subarray(headEnd + 4);
    }
    return this.#chunked ? this.#readChunks(chunk) : this.#readLength(chunk);
  }

  next(): void {
    this.#inBody = false;
    this.#inChunk = false;
    this.#looked = [];
    this.bodyBytes = 0;
  }

  #readHead(head: string): void {
    this.#inBody = true;
    this.status = Number(head.slice(9, 12));
    const length = /content-length: *(\d+)/i.exec(head);
    this.#chunked = length === null;
    this.#leftBytes = Number(length?.[1] ?? 0);
  }

  #readLength(chunk: Buffer): boolean {
    this.#look(chunk);
    this.#leftBytes -= chunk.length;
    return this.#leftBytes <= 0;
  }

  #readChunks(arrived: Buffer): boolean {
    let at = 0;
    for (;;) {
      if (!this.#inChunk) {
        const lineEnd = arrived.indexOf('\r\n', at);
        if (lineEnd < 0) {
          this.#unread = arrived.subarray(at);
          return false;
        }
        const size = Number.parseInt(arrived.toString('latin1', at, lineEnd), 16);
        at = lineEnd + 2;
        this.#inChunk = true;
        this.#isLastChunk = size === 0;
        this.#leftBytes = size + LINE_END_BYTES;
      }
      const taken = Math.min(this.#leftBytes, arrived.length - at);
      const content = Math.min(taken, this.#leftBytes - LINE_END_BYTES);
      if (content > 0) this.#look(arrived.subarray(at, at + content));
      this.#leftBytes -= taken;
      at += taken;
      if (this.#leftBytes > 0) return false;
      this.#inChunk = false;
      if (this.#isLastChunk) return true;
    }
  }

  #look(body: Buffer): void {
    if (this.bodyBytes < LOOKED_AT_BYTES) this.#looked.push(body.toString('latin1', 0, LOOKED_AT_BYTES));
    this.bodyBytes += body.length;
  }
}
