// `/mcp`, `/mcp/{server}` and `/mcp/~{toolset}`: a request that has passed the gate becomes an exchange, and goes down the line.
import { type IncomingHttpHeaders, METHODS, type ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../access/caller-of.ts';
import { type GatewayError, toGatewayError } from '../errors.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Place, Roster } from '../runtime/roster.ts';
import { NEVER, Stop, type StopHearer, type StopSignal } from '../runtime/stop.ts';
import { TurnBatch } from '../runtime/turn-batch.ts';
import type { BufferBudget } from '../state/buffer-budget.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import { readAccept } from './accept-header.ts';
import { authorizationsOf } from './authorizations-of.ts';
import { HttpReply } from './client-reply.ts';
import type { EdgeContext } from './edge-context.ts';
import type { KeepAliveComments } from './keep-alive-comments.ts';
import { identify, type McpGateOptions, passGate } from './mcp-gate.ts';
import { NO_BODY, type ReadBodyOptions, readBody, takeBody } from './read-body.ts';
import type { ResponseClose } from './response-close.ts';
import type { SignIn } from './sign-in.ts';

export interface McpRouteOptions extends McpGateOptions {
  /** The path of the public URL, without a trailing slash: `` or `/base`. */
  readonly basePath: string;
  readonly budget: BufferBudget;
  readonly keepAlive: KeepAliveComments;
  /** Replies whose last byte is not out yet. */
  readonly openReplies: Roster<HttpReply>;
  /** Ends a request that becomes no exchange. */
  refuse(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void;
  handleExchange(exchange: Exchange): Promise<void>;
  onFailure(error: GatewayError, record: ExchangeRecord): void;
}

interface Arrived {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export function registerMcpRoute(app: FastifyInstance, options: McpRouteOptions): void {
  // All of them, so that each is told which ones there are.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  // A body that was sent elsewhere is not read at all.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const arrived = new TurnBatch<Arrived>(({ request, reply }) => void serve(request, reply, options));
  for (const path of ['/mcp', '/mcp/', '/mcp/:view', '/mcp/:view/']) {
    app.route({
      method: app.supportedMethods,
      url: options.basePath + path,
      // Never called back: the request is ours from here on. Bodies are ours to read, as bytes: a parser would lose
      // digits, and read before the gate is passed; and what the framework does besides costs as much as the gate.
      onRequest(request, reply) {
        reply.hijack();
        arrived.add({ request, reply });
      },
      handler: () => undefined,
    });
  }
}

/** Never rejects. */
async function serve(request: FastifyRequest, reply: FastifyReply, options: McpRouteOptions): Promise<void> {
  const { raw: response } = reply;
  try {
    if (await passGate(request, response, options)) await runExchange(request, response, options);
  } catch (thrown) {
    options.refuse(thrown, request, reply);
  }
}

/** What fails before the exchange has begun is refused, and the rest of the body read off; then it is the reply's. */
async function runExchange(
  request: FastifyRequest,
  response: ServerResponse,
  options: McpRouteOptions,
): Promise<void> {
  const bodyHold = options.budget.open();
  try {
    const limits = { maxBytes: options.parts().bodyLimitBytes, hold: bodyHold };
    const body = bodyInPlace(request, limits) ?? (await readBody(request.raw, response, limits));
    // However slowly a body comes: nothing begins on rights that are gone.
    if (request.edge.signIn !== options.parts().signIn) await identify(request, options);
    await answerExchange(newExchange(request, response, body, options), options);
  } finally {
    request.edge.isOver = true;
    bodyHold.resize(0);
  }
}

async function answerExchange(exchange: Exchange, { handleExchange }: McpRouteOptions): Promise<void> {
  const { reply, record, clientGone } = exchange;
  try {
    await handleExchange(exchange);
  } catch (thrown) {
    // An exchange that stopped because nobody waits for it has not failed.
    if (clientGone.aborted && thrown === clientGone.reason) return;
    reply.fail(toGatewayError(thrown), undefined, record.era ?? 'legacy');
  }
}

/** Undefined where it has to be waited for. */
function bodyInPlace({ method, raw }: FastifyRequest, limits: ReadBodyOptions): Buffer | undefined {
  if (method === 'POST') return takeBody(raw, limits);
  // Unread bytes would keep Node from seeing that the client hangs up.
  raw.resume();
  return NO_BODY;
}

function newExchange(
  request: FastifyRequest,
  response: ServerResponse,
  body: Buffer,
  options: McpRouteOptions,
): Exchange {
  const { edge, headers } = request;
  const { record, signIn } = edge;
  const { budget, keepAlive, timing, isLastAnswer, onFailure, openReplies } = options;
  const reply = new HttpReply({
    response,
    accepts: readAccept(headers.accept),
    record,
    close: edge.close,
    headers: edge.headers,
    keepAlive,
    hold: budget.open(),
    maxQueuedBytes: timing.maxQueuedReplyBytes,
    stallTimeoutMs: timing.stallTimeoutMs,
    isLastAnswer,
    onFailure,
    signIn,
  });
  return new HttpExchange({ request, response, body, reply, place: openReplies.enter(reply) });
}

interface ExchangeParts {
  readonly request: FastifyRequest;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly reply: HttpReply;
  readonly place: Place;
}

/** Of all requests that have settled in. */
const NO_RAW_HEADERS = Object.freeze([]) as unknown as string[];
const NO_HEADERS: IncomingHttpHeaders = Object.freeze({});

/** A class, since V8 makes an object literal with a getter anew, map and all, for each request. */
class HttpExchange implements Exchange, StopHearer {
  readonly id: string;
  readonly view: string | undefined;
  readonly httpMethod: Exchange['httpMethod'];
  headers: Exchange['headers'];
  body: Buffer;
  standing: StopSignal | undefined;
  readonly principal: Exchange['principal'];
  arrival: Exchange['arrival'];
  readonly reply: HttpReply;
  readonly clientGone = new Stop();
  readonly record: ExchangeRecord;
  /** No private names: an array's exchanges are made from this one, as its heirs. */
  private readonly response: ServerResponse;
  private readonly place: Place;
  private readonly signIn: SignIn | undefined;
  private readonly close: ResponseClose;
  /** Undefined once the exchange has settled in: then nothing is done by its token any more. */
  private edge: EdgeContext | undefined;
  private signOut: StopSignal | undefined;
  private asCaller: Exchange['caller'] | undefined;

  constructor({ request, response, body, reply, place }: ExchangeParts) {
    const { edge, headers, method } = request;
    const { record, principal, arrival, signIn, close } = edge;
    this.id = record.id;
    this.view = record.view;
    this.httpMethod = method as Exchange['httpMethod'];
    this.headers = headers;
    this.body = body;
    this.standing = undefined;
    this.principal = principal;
    this.arrival = arrival;
    this.reply = reply;
    this.record = record;
    this.response = response;
    this.place = place;
    this.signIn = signIn;
    this.close = close;
    this.signOut = undefined;
    this.asCaller = undefined;
    this.edge = edge;
    close.tell(this);
  }

  /** The response has closed. */
  handleEvent(): void {
    this.place.leave();
    if (!this.response.writableEnded) this.clientGone.abort();
  }

  /**
   * Some 4 kB of an open stream (bench:streams). V8 keeps a text that was put together in its pieces until somebody reads
   * it as one.
   */
  settleIn(): void {
    const { req: request } = this.response;
    // Found by the headers, where it has not been asked for yet.
    const { address, storeFailed } = this.arrival;
    this.arrival = { address, storeFailed };
    request.rawHeaders = NO_RAW_HEADERS;
    request.headers = NO_HEADERS;
    this.headers = NO_HEADERS;
    this.body = NO_BODY;
    this.edge = undefined;
    this.asCaller = undefined;

    joinPieces(this.id);
    // Node's own, and read only.
    joinPieces((this.response as { _header?: unknown })._header);
  }

  get caller(): Exchange['caller'] {
    this.asCaller ??= callerOf(this.principal, () => this.authorizations());
    return this.asCaller;
  }

  private authorizations(): readonly string[] | undefined {
    if (this.edge === undefined || this.edge.isOver) return undefined;
    return authorizationsOf(this.response.req);
  }

  /** Only streams ask, and a watch has a timer. */
  get signedOut(): StopSignal {
    this.signOut ??= this.signIn?.watch(this.principal, this.close) ?? NEVER;
    return this.signOut;
  }
}

function joinPieces(text: unknown): void {
  if (typeof text === 'string') text.charCodeAt(0);
}
