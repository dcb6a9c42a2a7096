// Bytes of an event stream in, events out. The grammar is eventsource-parser's (WHATWG HTML, 9.2.6); ours are the
// decoding, which keeps a character that was cut in two, and the cap on what one event may hold.
import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';

export interface SseEvents {
  /** An event with data; `type` is undefined where the stream named none. An event without data never gets here. */
  onEvent(data: string, type: string | undefined): void;
  /** The stream's new resume point; the empty string takes it back. */
  onId?(id: string): void;
  onRetry?(delayMs: number): void;
}

const BLANK_LINE_END = /(?:\n\n|\n\r\n|\r\r)$/;

/** Room in the parser's buffer for field names and line ends, so that data of exactly the cap passes. */
const SYNTAX_ROOM = 1_024;

export class SseReader {
  readonly #parser: EventSourceParser;
  readonly #decoder = new StringDecoder('utf8');
  #oversized = false;
  #heldBytes = 0;
  #dispatched = false;

  /** @param maxEventBytes of data in one event, in UTF-8 */
  constructor(events: SseEvents, maxEventBytes: number) {
    this.#parser = createParser({
      maxBufferSize: maxEventBytes + SYNTAX_ROOM,
      onEvent: ({ data, event }) => {
        this.#dispatched = true;
        if (this.#oversized || data === '') return;
        if (exceeds(data, maxEventBytes)) this.#oversized = true;
        else events.onEvent(data, event);
      },
      onId: (id) => events.onId?.(id),
      onRetry: (delayMs) => events.onRetry?.(delayMs),
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#oversized = true;
      },
    });
  }

  /**
   * Reads a chunk; events that are complete before the cap is passed are still delivered.
   *
   * @returns false once an event was over the cap: nothing more is read, and nothing is kept
   */
  write(chunk: Buffer): boolean {
    if (this.#oversized) return false;
    this.#dispatched = false;
    this.#parser.feed(this.#decoder.write(chunk));
    // The parser does not tell what it keeps: at most what came since the last event, and nothing behind a blank line.
    if (BLANK_LINE_END.test(chunk.toString('latin1', chunk.length - 4))) this.#heldBytes = 0;
    else this.#heldBytes = chunk.length + (this.#dispatched ? 0 : this.#heldBytes);
    return !this.#oversized;
  }

  /** Bytes of an event that is not complete, at most. */
  get heldBytes(): number {
    return this.#heldBytes;
  }
}

/** Counts bytes only where the number of UTF-16 units leaves it open. */
function exceeds(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && Buffer.byteLength(text, 'utf8') > maxBytes;
}
