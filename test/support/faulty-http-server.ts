// An MCP server over HTTP that misbehaves on request: Streamable HTTP in both eras, and the old HTTP+SSE, on raw
// node:http (or https), in the test's own process. Faults are set by rule (`fault`), and what came in can be awaited.
// `/hop/STATUS/N` redirects N times within the origin, `/elsewhere?status=S&to=URL` wherever one likes.
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { FaultyHttpFront, type ReceivedRequest } from './faulty-http-front.ts';
import {
  answerPlainly,
  DEFAULT_PERSONA,
  isModern,
  type Persona,
  refuseModern,
} from './faulty-http-protocol.ts';
import { CallReply, type HttpFault, type ReplayableStream } from './faulty-http-replies.ts';
import { type Members, type Message, type RequestId, runFaultyTool } from './faulty-http-tools.ts';
import { PLAIN, SseWriter } from './sse-bytes.ts';

export interface FaultyHttpOptions {
  /** `both` tells them apart by the metadata; `sse` is 2024-11-05. */
  readonly era?: 'modern' | 'legacy' | 'both' | 'sse';
  /** Legacy: whether `initialize` opens a session. */
  readonly sessions?: boolean;
  /** Legacy: whether GET opens a stream; else 405. */
  readonly getStream?: boolean;
  readonly persona?: Partial<Persona>;
  readonly tls?: ServerOptions;
}

const METHODS_WITHOUT_SESSION = ['initialize', 'server/discover'];

export async function startFaultyHttpServer(options: FaultyHttpOptions = {}): Promise<FaultyHttpServer> {
  const server = new FaultyHttpServer(options);
  await server.listen();
  return server;
}

export class FaultyHttpServer extends FaultyHttpFront {
  readonly sessions = new Set<string>();
  /** Ids of calls that the client cancelled by notification. */
  readonly cancelled: RequestId[] = [];
  /** How a session that is not known is refused. */
  lostSession = { status: 404, body: '' };
  /** What HTTP+SSE names as its endpoint; undefined for the right one. */
  endpoint: string | undefined;
  persona: Persona;
  readonly #options: Required<Pick<FaultyHttpOptions, 'era' | 'sessions' | 'getStream'>>;
  readonly #listeners = new Set<SseWriter>();
  readonly #subscriptions = new Map<RequestId, CallReply>();
  readonly #streams = new Map<string, ReplayableStream>();
  readonly #questions = new Map<string, (answer: Message) => void>();
  readonly #running = new Map<RequestId, AbortController>();

  /** Whether it says what it agrees to when a client listens. */
  acknowledges = true;

  constructor({ era = 'both', sessions = true, getStream = true, persona, tls }: FaultyHttpOptions) {
    super((request, response, fault) => this.#serve(request, response, fault), tls);
    this.#options = { era, sessions, getStream };
    this.persona = { ...DEFAULT_PERSONA, ...persona };
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  async close(): Promise<void> {
    for (const running of this.#running.values()) running.abort();
    await this.refuse();
  }

  /** Forgets all sessions, as a restart would. */
  forgetSessions(): void {
    this.sessions.clear();
  }

  /** Says something that belongs to no call: on every GET stream (or the SSE stream), and on subscriptions. */
  announce(message: Omit<Message, 'jsonrpc'>): void {
    for (const writer of this.#listeners)
      void writer.send({ data: JSON.stringify({ jsonrpc: '2.0', ...message }) });
    for (const [id, reply] of this.#subscriptions) {
      const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
      reply.send({ ...message, params: { ...message.params, _meta } });
    }
  }

  /** The number of GET streams that are open. */
  get listening(): number {
    return this.#listeners.size;
  }

  /** Ends every GET stream in good order. */
  endStreams(): void {
    for (const writer of this.#listeners) void writer.end();
  }

  async #serve(received: ReceivedRequest, response: ServerResponse, fault: HttpFault): Promise<void> {
    if (this.#options.era === 'sse') this.#serveSse(received, response, fault);
    else if (received.http === 'POST') await this.#servePost(received, response, fault);
    else this.#serveOther(received, response);
  }

  async #servePost(received: ReceivedRequest, response: ServerResponse, fault: HttpFault): Promise<void> {
    const { message, headers } = received;
    if (message === undefined) return void response.writeHead(400).end('not JSON');
    const modern = isModern(message);
    if (!modern && !this.#sessionIsKnown(message, headers, response)) return;
    if (message.method === undefined || message.id === undefined) {
      this.#takeNotice(message);
      return void response.writeHead(202).end();
    }
    if (modern && this.#options.era === 'legacy') return void response.writeHead(400).end('Bad Request');
    const refused = modern ? refuseModern(message, headers) : undefined;
    const ownHeaders = message.method === 'initialize' && !modern ? this.#openSession() : {};
    const reply = new CallReply(response, fault, ownHeaders, `${randomUUID()}`);
    if (reply.stream) this.#streams.set(reply.stream.id, reply.stream);
    if (refused) {
      await reply.respond({ jsonrpc: '2.0', id: message.id ?? null, error: refused.error }, refused.status);
      return;
    }
    const resumable = fault.resumable === true;
    const answer = await this.#answer(message as Message & { id: RequestId }, headers, {
      modern,
      send: (early) => reply.send(early),
      // A legacy server does not take a broken connection for a cancellation.
      gone: (gone) => {
        if (!resumable && modern) response.once('close', () => gone.abort());
      },
      reply,
    });
    if (answer === undefined) return;
    const notFound = modern && answer.error?.code === -32601;
    await reply.respond(answer, notFound ? 404 : 200);
  }

  /** 404 for a session that is gone, 400 where one is missing; sessionless servers take everything. */
  #sessionIsKnown(message: Message, headers: IncomingHttpHeaders, response: ServerResponse): boolean {
    if (!this.#options.sessions || METHODS_WITHOUT_SESSION.includes(message.method ?? '')) return true;
    const id = headers['mcp-session-id'];
    if (id === undefined) {
      response.writeHead(400).end('Mcp-Session-Id is missing');
      return false;
    }
    if (this.sessions.has(String(id))) return true;
    const { status, body } = this.lostSession;
    response.writeHead(status, { 'content-type': body.startsWith('{') ? 'application/json' : 'text/plain' });
    response.end(body);
    return false;
  }

  #openSession(): Record<string, string> {
    if (!this.#options.sessions) return {};
    const id = randomUUID();
    this.sessions.add(id);
    return { 'mcp-session-id': id };
  }

  #takeNotice(message: Message): void {
    if (message.method === 'notifications/cancelled') {
      const id = message.params?.requestId as RequestId;
      this.cancelled.push(id);
      this.#running.get(id)?.abort();
      this.changed();
    } else if (message.method === undefined) {
      this.#questions.get(String(message.id))?.(message);
      this.#questions.delete(String(message.id));
    }
  }

  async #answer(
    message: Message & { id: RequestId },
    headers: IncomingHttpHeaders,
    exchange: Exchange,
  ): Promise<Message | undefined> {
    const { id, method, params = {} } = message;
    const { modern, send } = exchange;
    if (method === 'subscriptions/listen' && modern) {
      this.#subscriptions.set(id, exchange.reply as CallReply);
      const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
      if (this.acknowledges) {
        send({ method: 'notifications/subscriptions/acknowledged', params: { ...params, _meta } });
      }
      return undefined;
    }
    if (method !== 'tools/call')
      return { jsonrpc: '2.0', id, ...answerPlainly(message, modern, this.persona) };
    const running = new AbortController();
    this.#running.set(id, running);
    exchange.gone(running);
    const ask = (asked: string, askedParams: Members) => {
      const question = `q-${randomUUID()}`;
      const answered = new Promise<Message>((resolve) => this.#questions.set(question, resolve));
      send({ id: question, method: asked, params: askedParams });
      return answered;
    };
    const answer = await runFaultyTool({ id, params, modern, headers, gone: running.signal, send, ask });
    this.#running.delete(id);
    return answer;
  }

  #serveOther({ http, headers }: ReceivedRequest, response: ServerResponse): void {
    const session = String(headers['mcp-session-id'] ?? '');
    const known = !this.#options.sessions || this.sessions.has(session);
    if (this.#options.era === 'modern') return void response.writeHead(405).end();
    if (!known) return void response.writeHead(this.lostSession.status).end();
    if (http === 'DELETE') {
      this.sessions.delete(session);
      return void response.writeHead(200).end();
    }
    const [, streamId, after] = /^(.*)_(\d+)$/.exec(String(headers['last-event-id'] ?? '')) ?? [];
    const resumed = this.#streams.get(streamId ?? '');
    if (http !== 'GET' || (resumed === undefined && !this.#options.getStream)) {
      return void response.writeHead(405, { allow: 'POST' }).end();
    }
    const writer = this.#openStream(response);
    if (resumed) resumed.resume(Number(after), writer);
    else this.#listen(writer, response);
  }

  #openStream(response: ServerResponse): SseWriter {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    return new SseWriter(response, PLAIN);
  }

  #listen(writer: SseWriter, response: ServerResponse): void {
    this.#listeners.add(writer);
    this.changed();
    response.once('close', () => {
      this.#listeners.delete(writer);
      this.changed();
    });
  }

  /** One stream for everything, whoever it is for: tests of this protocol have one client at a time. */
  #serveSse(
    { http, path, message, headers }: ReceivedRequest,
    response: ServerResponse,
    fault: HttpFault,
  ): void {
    if (http === 'GET') {
      const writer = new SseWriter(this.#begin(response, fault), { ...PLAIN, ...fault.spelling });
      const id = randomUUID();
      this.sessions.add(id);
      void writer.send({ event: 'endpoint', data: this.endpoint ?? `/messages?sessionId=${id}` });
      this.#listen(writer, response);
      return;
    }
    const { pathname, searchParams } = new URL(path, this.origin);
    if (pathname !== '/messages') return void response.writeHead(http === 'POST' ? 405 : 404).end();
    if (!this.sessions.has(String(searchParams.get('sessionId')))) {
      return void response.writeHead(this.lostSession.status).end(this.lostSession.body);
    }
    response.writeHead(202).end('Accepted');
    if (message === undefined) return;
    if (message.method === undefined || message.id === undefined) {
      this.#takeNotice(message);
      return;
    }
    const send = (early: Omit<Message, 'jsonrpc'>) => this.announce(early);
    void this.#answer(message as Message & { id: RequestId }, headers, {
      modern: false,
      send,
      gone: () => {},
    }).then((answer) => answer && this.announce(answer));
  }

  #begin(response: ServerResponse, { contentType }: HttpFault): ServerResponse {
    response.writeHead(200, { 'content-type': contentType ?? 'text/event-stream' });
    response.flushHeaders();
    return response;
  }
}

interface Exchange {
  readonly modern: boolean;
  readonly reply?: CallReply;
  send(message: Omit<Message, 'jsonrpc'>): void;
  /** Ties a call's end to the end of its exchange, where the era says so. */
  gone(running: AbortController): void;
}
