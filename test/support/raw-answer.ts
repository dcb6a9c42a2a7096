// The answer to one request of the raw client, read as far as a test asks and no further: what nobody reads stays in
// the socket, as with a slow client.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Message } from './raw-client.ts';

export interface RawEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** All that an answer said, up to the response. */
export interface WholeAnswer {
  readonly response: Message;
  readonly before: readonly Message[];
  readonly events: readonly RawEvent[];
}

export class RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #closed: Promise<boolean>;
  readonly #response: IncomingMessage;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = '';

  constructor(response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#response = response;
    response.on('error', () => {});
    this.#closed = new Promise((resolve) => response.once('close', () => resolve(response.complete)));
    this.#chunks = response[Symbol.asyncIterator]();
  }

  get isStream(): boolean {
    return this.headers['content-type'] === 'text/event-stream';
  }

  /** Breaks the connection. */
  abort(): void {
    this.#response.destroy();
  }

  /** Reads on to the end. @returns whether it came in good order */
  ended(): Promise<boolean> {
    this.#response.resume();
    return this.#closed;
  }

  text(): Promise<string> {
    return text(this.#response);
  }

  async json(): Promise<Message> {
    return JSON.parse(await this.text()) as Message;
  }

  /** The next bytes as they come, whatever they are; undefined at the end. */
  async chunk(): Promise<string | undefined> {
    const next = await this.#chunks.next().catch(() => ({ done: true, value: undefined }));
    return next.done ? undefined : String(next.value);
  }

  /** The next event, an id without data included; comments are passed over. Undefined at the end. */
  async event(): Promise<RawEvent | undefined> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n');
      if (end === -1) {
        const more = await this.chunk();
        if (more === undefined) return undefined;
        this.#rest += more;
        continue;
      }
      const block = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 2);
      const event = readBlock(block);
      if (event !== undefined) return event;
    }
  }

  /** The next message of the stream; undefined at the end. */
  async message(): Promise<Message | undefined> {
    for (let event = await this.event(); event !== undefined; event = await this.event()) {
      if (event.data !== '') return JSON.parse(event.data) as Message;
    }
    return undefined;
  }

  /** Every message up to the end of the stream. */
  async messages(): Promise<Message[]> {
    const messages: Message[] = [];
    for (let message = await this.message(); message !== undefined; message = await this.message()) {
      messages.push(message);
    }
    return messages;
  }

  /** Reads up to the response, be the answer JSON or a stream. Rejects where there is none. */
  async whole(): Promise<WholeAnswer> {
    if (!this.isStream) return { response: await this.json(), before: [], events: [] };
    const before: Message[] = [];
    const events: RawEvent[] = [];
    for (let event = await this.event(); event !== undefined; event = await this.event()) {
      events.push(event);
      if (event.data === '') continue;
      const message = JSON.parse(event.data) as Message;
      if (message.method === undefined) return { response: message, before, events };
      before.push(message);
    }
    throw new Error(`the stream ended without a response, after ${JSON.stringify(before)}`);
  }
}

function readBlock(block: string): RawEvent | undefined {
  let id: string | undefined;
  let data: string | undefined;
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (field === 'id') id = value;
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
  }
  return data === undefined && id === undefined ? undefined : { id, data: data ?? '' };
}
