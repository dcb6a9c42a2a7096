// An MCP client that does only what it is told: any header, any id, a new socket for each request, an end at each
// phase. Over bare node:http, so that it shares no code with Portico. Sessions: see raw-session.ts.
import { Agent, type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import { RawAnswer } from './raw-answer.ts';

export interface Message {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Members;
  readonly result?: Members;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Members };
}
export type Members = Readonly<Record<string, unknown>>;

export interface RawRequest {
  readonly method?: 'POST' | 'GET' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** Instead of the client's own URL. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes go as they are, all else as JSON. */
  readonly body?: unknown;
}

export interface RawClientOptions {
  /** One socket for as many requests as possible; by default, each request has its own. */
  readonly keepAlive?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export class RawClient implements AsyncDisposable {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: Agent;
  readonly #open = new Set<RawExchange>();

  constructor(url: string, { keepAlive = false, headers = {} }: RawClientOptions = {}) {
    this.url = url;
    this.#headers = headers;
    this.#agent = new Agent({ keepAlive, ...(keepAlive ? { maxSockets: 1 } : {}) });
  }

  /** Sends a request whole and resolves with the head of its answer. */
  send(request: RawRequest): Promise<RawAnswer> {
    return this.begin(request).answer;
  }

  /** The same, to be broken off at any time: before the answer, or while it is read. */
  begin(request: RawRequest): RawExchange {
    const { body } = request;
    const bytes = typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body ?? '');
    const exchange = this.beginBody(request);
    exchange.request.end(body === undefined ? undefined : bytes);
    return exchange;
  }

  /** The same, with a body that is still to be written to `request`. */
  beginBody({ method = 'POST', url = this.url, headers = {} }: RawRequest): RawExchange {
    const own = method === 'POST' ? POST_HEADERS : { accept: 'text/event-stream' };
    const request = openRequest(url, {
      method,
      agent: this.#agent,
      headers: { ...own, ...this.#headers, ...headers },
    });
    const exchange = new RawExchange(request);
    this.#open.add(exchange);
    request.once('close', () => this.#open.delete(exchange));
    return exchange;
  }

  /** Cuts what is still open. */
  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#open];
    for (const exchange of open) exchange.abort();
    await Promise.all(open.map((exchange) => exchange.closed));
    this.#agent.destroy();
  }
}

export class RawExchange {
  readonly request: ClientRequest;
  /** Rejects when the connection ends without one. */
  readonly answer: Promise<RawAnswer>;
  readonly closed: Promise<void>;

  constructor(request: ClientRequest) {
    this.request = request;
    this.closed = new Promise((resolve) => request.once('close', resolve));
    this.answer = new Promise((resolve, reject) => {
      request.once('response', (response: IncomingMessage) => resolve(new RawAnswer(response)));
      request.on('error', reject);
    });
    // A test that cuts a connection need not await what will not come.
    this.answer.catch(() => {});
  }

  /** Breaks the connection, whatever has been sent or received so far. */
  abort(): void {
    this.request.destroy();
  }
}
