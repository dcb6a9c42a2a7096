// How the faulty HTTP server puts answers on the wire: as JSON or as events, in any spelling, whole or broken.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Message } from './faulty-http-tools.ts';
import { PLAIN, type SseEvent, type SseSpelling, SseWriter } from './sse-bytes.ts';

/** What goes wrong with one HTTP request; to be combined. Without any, the server behaves. */
export interface HttpFault {
  /** This instead of what the server would say. `chunked` sends an empty body in the chunked coding. */
  readonly answer?: {
    readonly status: number;
    readonly type?: string;
    readonly body?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly chunked?: true;
  };
  readonly delayMs?: number;
  /** The answer, headers and all, waits for this. */
  readonly holdUntil?: Promise<void>;
  /** Silence: without a byte, after the headers, or in the middle of the body. */
  readonly stall?: 'at-once' | 'after-headers' | 'mid-body';
  /** The connection breaks: without a byte, in the middle of the body, or once the answer is out. */
  readonly reset?: 'at-once' | 'mid-body' | 'after-answer';
  /** One byte of a JSON body every so many milliseconds. */
  readonly dripMs?: number;
  readonly framing?: 'json' | 'events';
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly spelling?: Partial<SseSpelling>;
  /** An array, as 2025-03-26 allows it: a log notification and the response. */
  readonly batch?: true;
  /** Ahead of the response: one to a request that nobody made, a text that is no JSON, a JSON that is no message. */
  readonly strays?: true;
  /** Events: the stream stays open after the response. */
  readonly linger?: true;
  /** Events: an event that never ends, in place of the response. */
  readonly endless?: true;
  /** Events: the connection ends after this many events of a stream that can be resumed. */
  readonly cutAfter?: number;
  /** Events: how it ends then; by default in good order. */
  readonly cutHard?: true;
  readonly retryMs?: number;
  /** Events carry ids and the stream can be resumed; `cutAfter` alone cuts a stream without ids. */
  readonly resumable?: true;
}

/** The answer to one call: messages on their way, then the response. Events are kept for as long as the server lives. */
export class CallReply {
  readonly #response: ServerResponse;
  readonly #fault: HttpFault;
  readonly #headers: Record<string, string>;
  readonly stream: ReplayableStream | undefined;
  #writer: SseWriter | undefined;
  #sent = 0;

  constructor(response: ServerResponse, fault: HttpFault, headers: Record<string, string>, streamId: string) {
    this.#response = response;
    this.#fault = fault;
    this.#headers = headers;
    this.stream = fault.resumable ? new ReplayableStream(streamId) : undefined;
    if (fault.resumable) this.#events(this.stream?.prime(fault.retryMs));
  }

  send(message: Omit<Message, 'jsonrpc'>): void {
    this.#event({ jsonrpc: '2.0', ...message });
  }

  async respond(message: Message, status: number): Promise<void> {
    const { framing, strays, endless, linger, stall } = this.#fault;
    if (framing !== 'events' && this.#writer === undefined && this.stream === undefined) {
      return this.#respondJson(message, status);
    }
    if (strays) {
      this.#event({ jsonrpc: '2.0', id: 424_242, result: {} });
      this.#events({ data: 'no JSON at all' });
      this.#events({ data: '{"level":"info"}' });
    }
    const writer = this.#open();
    if (stall === 'after-headers') return;
    if (stall === 'mid-body') return writer.raw(`data: ${JSON.stringify(message).slice(0, 20)}`);
    if (this.#fault.reset === 'mid-body') {
      await writer.raw(`data: ${JSON.stringify(message).slice(0, 20)}`);
      return writer.cut();
    }
    if (endless) return this.#writeEndless(writer);
    this.#event(message);
    if (!linger) await writer.end();
  }

  #event(message: Message | Message[]): void {
    this.#events({ data: JSON.stringify(message) });
  }

  #events(event: SseEvent | undefined): void {
    if (event === undefined) return;
    const { cutAfter, cutHard } = this.#fault;
    const stamped = event.data === undefined ? event : (this.stream?.keep(event) ?? event);
    if (cutAfter !== undefined && this.#sent >= cutAfter) return;
    const writer = this.#open();
    void writer.send(stamped);
    this.#sent += 1;
    if (this.#sent === cutAfter) void (cutHard ? writer.cut() : writer.end());
  }

  #open(): SseWriter {
    if (this.#writer !== undefined) return this.#writer;
    this.#response.writeHead(200, {
      'content-type': this.#fault.contentType ?? 'text/event-stream; charset=utf-8',
      ...this.#headers,
    });
    this.#response.flushHeaders();
    this.#writer = new SseWriter(this.#response, { ...PLAIN, ...this.#fault.spelling });
    return this.#writer;
  }

  async #respondJson(message: Message, status: number): Promise<void> {
    const { batch, contentType, contentEncoding, stall, reset, dripMs } = this.#fault;
    const log: Message = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 'b' },
    };
    const body = Buffer.from(JSON.stringify(batch ? [log, message] : message));
    this.#response.writeHead(status, {
      'content-type': contentType ?? 'application/json',
      'content-length': body.length,
      ...(contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }),
      ...this.#headers,
    });
    this.#response.flushHeaders();
    if (stall === 'after-headers') return;
    if (stall === 'mid-body' || reset === 'mid-body') {
      this.#response.write(body.subarray(0, body.length >> 1), () => {
        if (reset === 'mid-body') this.#response.destroy();
      });
      return;
    }
    for (let i = 0; dripMs !== undefined && i < body.length && !this.#response.destroyed; i += 1) {
      this.#response.write(body.subarray(i, i + 1));
      await delay(dripMs);
    }
    this.#response.end(dripMs === undefined ? body : undefined);
  }

  async #writeEndless(writer: SseWriter): Promise<void> {
    await writer.raw('data: ');
    const block = 'x'.repeat(64 * 1024);
    while (!this.#response.destroyed) await writer.raw(block);
  }
}

/** The events of one stream, with ids that lead back to it. */
export class ReplayableStream {
  readonly id: string;
  readonly #events: SseEvent[] = [];
  #live: SseWriter | undefined;

  constructor(id: string) {
    this.id = id;
  }

  prime(retryMs: number | undefined): SseEvent {
    return { id: `${this.id}_0`, data: '', ...(retryMs === undefined ? {} : { retryMs }) };
  }

  /** Stamps and keeps an event; it also goes out to whoever has resumed the stream. */
  keep(event: SseEvent): SseEvent {
    if (event.data === '') return event;
    const stamped = { ...event, id: `${this.id}_${this.#events.length + 1}` };
    this.#events.push(stamped);
    void this.#live?.send(stamped);
    if (isResponse(stamped)) void this.#live?.end();
    return stamped;
  }

  resume(after: number, writer: SseWriter): void {
    const missed = this.#events.slice(after);
    for (const event of missed) void writer.send(event);
    if (missed.some(isResponse)) void writer.end();
    else this.#live = writer;
  }
}

function isResponse({ data }: SseEvent): boolean {
  const message = JSON.parse(data ?? '{}') as Message;
  return 'result' in message || 'error' in message;
}

/** Silence, a reset, or an answer of the fault's own, whatever the request was. @returns true when that was all */
export async function replyAsTold(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, delayMs, holdUntil, stall, reset }: HttpFault,
): Promise<boolean> {
  if (delayMs !== undefined) await delay(delayMs);
  await holdUntil;
  if (stall === 'at-once') return true;
  if (reset === 'at-once') {
    request.socket.destroy();
    return true;
  }
  if (reset === 'after-answer') response.once('finish', () => setImmediate(() => request.socket.destroy()));
  if (answer === undefined) return false;
  const { status, type, body = '', headers = {}, chunked } = answer;
  response.writeHead(status, { ...(type === undefined ? {} : { 'content-type': type }), ...headers });
  if (chunked) response.flushHeaders();
  if (stall === 'after-headers') response.flushHeaders();
  else response.end(body === '' ? undefined : body);
  return true;
}
