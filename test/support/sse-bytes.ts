// Event streams as servers in the field write them: every legal spelling, and cut wherever one likes.
import type { ServerResponse } from 'node:http';

export interface SseEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retryMs?: number;
}

export interface SseSpelling {
  readonly eol: '\n' | '\r\n' | '\r';
  /** One `data:` line, or one for each line of indented JSON. */
  readonly dataLines: 'one' | 'many';
  /** A comment, an `event: ping` and an event without data around each event. */
  readonly chatter: boolean;
  readonly bom: boolean;
  /** Bytes a write; 0 writes each event as a whole. */
  readonly cutEvery: number;
  /** Ends the stream without the blank line that would end the last event. */
  readonly unfinished: boolean;
}

export const PLAIN: SseSpelling = {
  eol: '\n',
  dataLines: 'one',
  chatter: false,
  bom: false,
  cutEvery: 0,
  unfinished: false,
};

export function spellEvent(event: SseEvent, spelling: SseSpelling): string {
  const lines: string[] = [];
  if (spelling.chatter) {
    lines.push(
      ': a comment',
      'event: ping',
      'data: still here',
      '',
      'id: quiet',
      'data:',
      '',
      'unknown: field',
      '',
    );
  }
  if (event.event !== undefined) lines.push(`event: ${event.event}`);
  if (event.id !== undefined) lines.push(`id: ${event.id}`);
  if (event.retryMs !== undefined) lines.push(`retry: ${event.retryMs}`);
  if (event.data !== undefined) {
    const data = spelling.dataLines === 'one' ? event.data : JSON.stringify(JSON.parse(event.data), null, 1);
    for (const line of data.split('\n')) lines.push(`data: ${line}`);
  }
  const end = spelling.unfinished && event.data !== undefined ? [''] : ['', ''];
  return [...lines, ...end].join(spelling.eol);
}

/** Writes events to one response, in order, each piece as its own chunk. */
export class SseWriter {
  readonly #response: ServerResponse;
  readonly #spelling: SseSpelling;
  #last: Promise<void>;

  constructor(response: ServerResponse, spelling: SseSpelling) {
    this.#response = response;
    this.#spelling = spelling;
    this.#last = spelling.bom ? this.#write(Buffer.from('\ufeff')) : Promise.resolve();
  }

  send(event: SseEvent): Promise<void> {
    return this.raw(spellEvent(event, this.#spelling));
  }

  raw(text: string): Promise<void> {
    this.#last = this.#last.then(() => this.#writeCut(Buffer.from(text)));
    return this.#last;
  }

  end(): Promise<void> {
    this.#last = this.#last.then(() => void this.#response.end());
    return this.#last;
  }

  /** Breaks the connection after what was written. */
  cut(): Promise<void> {
    this.#last = this.#last.then(() => void this.#response.destroy());
    return this.#last;
  }

  async #writeCut(bytes: Buffer): Promise<void> {
    const { cutEvery } = this.#spelling;
    if (cutEvery === 0) return this.#write(bytes);
    for (let start = 0; start < bytes.length; start += cutEvery) {
      await this.#write(bytes.subarray(start, start + cutEvery));
      await new Promise(setImmediate);
    }
  }

  #write(bytes: Buffer): Promise<void> {
    if (this.#response.destroyed || this.#response.writableEnded) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => resolve();
      this.#response.once('close', done);
      this.#response.write(bytes, () => {
        this.#response.removeListener('close', done);
        resolve();
      });
    });
  }
}
