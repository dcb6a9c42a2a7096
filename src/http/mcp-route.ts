// `/mcp` and `/mcp/{server}`: the steps from a request's headers to an exchange, in order. Nothing of the body is
// read before all of them have passed.
import { METHODS, type ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { eraOfHeader, headerValue } from '../protocol/client-message.ts';
import { VERSION_HEADER } from '../protocol/request-headers.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import { readAccept } from './accept-header.ts';
import type { BufferBudget } from './buffer-budget.ts';
import { HttpReply } from './client-reply.ts';
import { ALLOWED_METHODS, preflightHeaders } from './cors.ts';
import { answerEarly } from './early-answer.ts';
import type { HttpTiming } from './http-timing.ts';
import type { KeepAliveComments } from './keep-alive-comments.ts';
import { bodyProblem, type ReadBodyOptions, readBody } from './read-body.ts';

export interface McpRouteOptions {
  /** The path of the public URL, without a trailing slash: `` or `/base`. */
  readonly basePath: string;
  readonly bodyLimitBytes: number;
  readonly timing: HttpTiming;
  readonly budget: BufferBudget;
  readonly keepAlive: KeepAliveComments;
  /** Host and Origin. */
  readonly checkCaller: onRequestHookHandler;
  /** No new exchange begins. */
  isStopping(): boolean;
  /** Answers are the last on their connections. */
  isLastAnswer(): boolean;
  handleExchange(exchange: Exchange): Promise<void>;
  onSettled(record: ExchangeRecord): void;
  onFailure(error: GatewayError, record: ExchangeRecord): void;
  /** Replies whose last byte is not out yet. */
  readonly openReplies: Set<HttpReply>;
}

const NO_BODY = Buffer.alloc(0);
const SERVER_NAME = /^[a-z](?:[a-z0-9.-]{0,30}[a-z0-9])?$/;

export function registerMcpRoute(app: FastifyInstance, options: McpRouteOptions): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  // Bodies are ours to read, once every check has passed.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const { basePath } = options;
  for (const url of ['/mcp', '/mcp/', '/mcp/:server', '/mcp/:server/']) {
    app.route({
      method: app.supportedMethods,
      url: basePath + url,
      onRequest: [
        beginExchange(options),
        refuseWhileStopping(options),
        options.checkCaller,
        answerOptions(options),
        checkMethod,
        checkHeaders(options),
      ],
      handler: (request, reply) => runExchange(request, reply, options),
    });
  }
}

/** From here on the exchange is counted, and settled at the last byte of its answer. */
function beginExchange({ onSettled }: McpRouteOptions): onRequestHookHandler {
  return (request, reply, done) => {
    const view = viewOf(request);
    if (view !== undefined && !SERVER_NAME.test(view)) return done(new GatewayError('path-unknown'));
    if (request.method === 'OPTIONS') return done();
    const { record } = request.edge;
    request.edge.isExchange = true;
    record.view = view;
    record.era = eraOfHeader(headerValue(request.headers, VERSION_HEADER));
    const { raw } = reply;
    // The one event that comes on every path: answered, refused, or left by the client midway.
    raw.once('close', () => {
      record.httpStatus = raw.headersSent ? raw.statusCode : undefined;
      if (record.outcome === undefined) {
        record.outcome = 'cancelled';
        record.reason = 'client_left';
      }
      record.durationMs = performance.now() - record.startedAt;
      onSettled(record);
    });
    done();
  };
}

function refuseWhileStopping({ isStopping }: McpRouteOptions): onRequestHookHandler {
  return (_request, _reply, done) => done(isStopping() ? new GatewayError('draining') : undefined);
}

function answerOptions({ timing, isLastAnswer }: McpRouteOptions): onRequestHookHandler {
  return (request, reply, done) => {
    if (request.method !== 'OPTIONS') return done();
    const { edge, headers, raw } = request;
    reply.hijack();
    const answer = {
      status: 204,
      headers: [...edge.headers, ...preflightHeaders(headers, edge.origin)],
      body: '',
    };
    answerEarly(raw, reply.raw, answer, { timing, closing: isLastAnswer() });
  };
}

const checkMethod: onRequestHookHandler = (request, _reply, done) => {
  const { method } = request;
  const known = method === 'POST' || method === 'GET' || method === 'DELETE';
  done(known ? undefined : new GatewayError('http-method', { allow: ALLOWED_METHODS }));
};

/** A GET's Accept is the pipeline's to judge: whether there is a stream at all comes first. */
function checkHeaders({ bodyLimitBytes }: McpRouteOptions): onRequestHookHandler {
  return ({ method, headers }, _reply, done) => {
    if (method !== 'POST') return done();
    const { json, events } = readAccept(headers.accept);
    done(json || events ? bodyProblem(headers, bodyLimitBytes) : new GatewayError('not-acceptable'));
  };
}

/** What fails before `hijack` is the error handler's, which reads off the rest of the body; then it is the reply's. */
async function runExchange(
  request: FastifyRequest,
  reply: FastifyReply,
  options: McpRouteOptions,
): Promise<void> {
  const bodyHold = options.budget.open();
  try {
    const body = await bodyOf(request, reply.raw, { maxBytes: options.bodyLimitBytes, hold: bodyHold });
    reply.hijack();
    await answerExchange(newExchange(request, reply.raw, body, options), options);
  } finally {
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

async function bodyOf(
  { method, raw }: FastifyRequest,
  response: ServerResponse,
  limits: ReadBodyOptions,
): Promise<Buffer> {
  if (method === 'POST') return readBody(raw, response, limits);
  // Unread bytes would keep Node from seeing that the client hangs up.
  raw.resume();
  return NO_BODY;
}

function newExchange(
  { edge, headers, method }: FastifyRequest,
  response: ServerResponse,
  body: Buffer,
  options: McpRouteOptions,
): Exchange {
  const { record, principal } = edge;
  const { budget, keepAlive, timing, isLastAnswer, openReplies } = options;
  const reply = new HttpReply({
    response,
    accepts: readAccept(headers.accept),
    record,
    headers: edge.headers,
    keepAlive,
    hold: budget.open(),
    maxQueuedBytes: timing.maxQueuedReplyBytes,
    stallTimeoutMs: timing.stallTimeoutMs,
    isLastAnswer,
    onFailure: (error) => options.onFailure(error, record),
  });
  const clientGone = new AbortController();
  openReplies.add(reply);
  response.once('close', () => {
    openReplies.delete(reply);
    if (!response.writableEnded) clientGone.abort();
  });
  return {
    id: record.id,
    view: record.view,
    httpMethod: method as Exchange['httpMethod'],
    headers,
    body,
    principal,
    reply,
    clientGone: clientGone.signal,
    record,
  };
}

function viewOf(request: FastifyRequest): string | undefined {
  return (request.params as { server?: string }).server;
}
