// The HTTP side of the faulty server: its port and connections, what came in and can be awaited, and the rules by which
// requests go wrong.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type HttpFault, replyAsTold } from './faulty-http-replies.ts';
import type { Message } from './faulty-http-tools.ts';

export interface ReceivedRequest {
  readonly http: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Undefined for GET and DELETE, and where the body is no JSON. */
  readonly message: Message | undefined;
  /** Which connection it came by: counted from 1. */
  readonly connection: number;
  /** How it ended for the server: the answer was written whole, or the connection was gone before. */
  readonly ended: Promise<'answered' | 'broken'>;
}

/** An HTTP method, a JSON-RPC method, `tools/call:NAME`, `response` (of the client), or any test of one's own. */
export type FaultPlace = string | ((request: ReceivedRequest) => boolean);

interface Rule {
  readonly place: FaultPlace;
  readonly fault: HttpFault;
  times: number;
}

export type Serve = (request: ReceivedRequest, response: ServerResponse, fault: HttpFault) => Promise<void>;

export class FaultyHttpFront {
  readonly received: ReceivedRequest[] = [];
  readonly #serve: Serve;
  readonly #tls: ServerOptions | undefined;
  readonly #rules: Rule[] = [];
  readonly #waiters = new Set<() => void>();
  readonly #sockets = new Map<Socket, number>();
  #http = createServer();
  #connections = 0;
  #port = 0;

  constructor(serve: Serve, tls: ServerOptions | undefined) {
    this.#serve = serve;
    this.#tls = tls;
  }

  get origin(): string {
    return `${this.#tls ? 'https' : 'http'}://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Takes the same port again after `refuse`. */
  async listen(): Promise<void> {
    this.#http = this.#tls ? createTlsServer(this.#tls) : createServer();
    // Idle connections are kept, and nothing is said about it.
    this.#http.keepAliveTimeout = 0;
    this.#http.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#accept(request, response).catch((error) => response.destroy(error));
    });
    this.#http.on(this.#tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#connections += 1;
      this.#sockets.set(socket, this.#connections);
      socket.on('error', () => {});
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.changed();
      });
    });
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (this.#http.address() as AddressInfo).port;
  }

  /** Closes the port and every connection; what was known of sessions stays. */
  async refuse(): Promise<void> {
    if (!this.#http.listening) return;
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.breakConnections();
    await closed;
  }

  breakConnections(): void {
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  /** From now on, or for so many requests: what goes wrong at that place. Later rules win. @returns the way back */
  fault(place: FaultPlace, fault: HttpFault, times = Number.POSITIVE_INFINITY): () => void {
    const rule = { place, fault, times };
    this.#rules.push(rule);
    return () => {
      rule.times = 0;
    };
  }

  requests(place: FaultPlace): ReceivedRequest[] {
    return this.received.filter((request) => isAt(place, request));
  }

  /** The request at that place, be it there already or still to come. */
  async request(place: FaultPlace, count = 1): Promise<ReceivedRequest> {
    await this.until(() => this.requests(place).length >= count);
    return this.requests(place)[count - 1] as ReceivedRequest;
  }

  /** Resolves when something happened here that makes it true. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiters.add(resolve));
  }

  /** Wakes whoever awaits something of this server. */
  changed(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }

  async #accept(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = this.#record(request, response, await text(request));
    const fault = this.#takeFault(received);
    if (await replyAsTold(request, response, fault)) return;
    const { pathname, searchParams } = new URL(received.path, this.origin);
    const [hop, status, left] = /^\/hop\/(\d+)\/(\d+)$/.exec(pathname) ?? [];
    if (hop !== undefined && left !== '0') {
      response.writeHead(Number(status), { location: `/hop/${status}/${Number(left) - 1}` }).end();
    } else if (pathname === '/elsewhere') {
      response.writeHead(Number(searchParams.get('status')), { location: String(searchParams.get('to')) });
      response.end();
    } else {
      await this.#serve(received, response, fault);
    }
  }

  #record(request: IncomingMessage, response: ServerResponse, body: string): ReceivedRequest {
    const ended = new Promise<'answered' | 'broken'>((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'answered' : 'broken'));
    });
    let message: Message | undefined;
    try {
      message = JSON.parse(body) as Message;
    } catch {
      // GET, DELETE, or a test of its own.
    }
    const { method: http = '', url: path = '/', headers } = request;
    const connection = this.#sockets.get(request.socket) ?? 0;
    const received = { http, path, headers, body, message, connection, ended };
    this.received.push(received);
    this.changed();
    return received;
  }

  #takeFault(request: ReceivedRequest): HttpFault {
    let fault: HttpFault = {};
    for (const rule of this.#rules) {
      if (rule.times <= 0 || !isAt(rule.place, request)) continue;
      rule.times -= 1;
      fault = { ...fault, ...rule.fault };
    }
    return fault;
  }
}

function isAt(place: FaultPlace, request: ReceivedRequest): boolean {
  if (typeof place === 'function') return place(request);
  const { http, message } = request;
  if (place === http || place === message?.method) return true;
  if (place === 'response') return message !== undefined && message.method === undefined;
  return place === `${message?.method}:${String(message?.params?.name)}`;
}
