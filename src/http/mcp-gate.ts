// What a request to an MCP endpoint has to pass before any of its body is read, in order.
import type { onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify';
import type { SignInAttempt } from '../access/bearer-token.ts';
import { GatewayError } from '../errors.ts';
import { eraOfHeader, headerValue } from '../protocol/client-message.ts';
import { VERSION_HEADER } from '../protocol/request-headers.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import { readAccept } from './accept-header.ts';
import { ALLOWED_METHODS, preflightHeaders } from './cors.ts';
import { answerEarly } from './early-answer.ts';
import type { HttpTiming } from './http-timing.ts';
import { bodyProblem } from './read-body.ts';
import type { SignIn } from './sign-in.ts';

export interface McpGateOptions {
  readonly bodyLimitBytes: number;
  readonly timing: HttpTiming;
  /** Host and Origin. */
  readonly checkCaller: onRequestHookHandler;
  /** Undefined: no limit holds before sign-in. */
  readonly ipGuard: onRequestAsyncHookHandler | undefined;
  /** Undefined: everyone is anonymous. */
  readonly signIn: SignIn | undefined;
  /** No new exchange begins. */
  isStopping(): boolean;
  /** Answers are the last on their connections. */
  isLastAnswer(): boolean;
  onSettled(record: ExchangeRecord): void;
}

const SERVER_NAME = /^[a-z](?:[a-z0-9.-]{0,30}[a-z0-9])?$/;

export function mcpGate(options: McpGateOptions): (onRequestHookHandler | onRequestAsyncHookHandler)[] {
  return [
    beginExchange(options),
    refuseWhileStopping(options),
    options.checkCaller,
    answerOptions(options),
    ...(options.ipGuard === undefined ? [] : [options.ipGuard]),
    checkMethod,
    identifyCaller(options),
    checkHeaders(options),
  ];
}

/** From here on the exchange is counted, and settled at the last byte of its answer. */
function beginExchange({ onSettled }: McpGateOptions): onRequestHookHandler {
  return ({ edge, headers, method, params }, { raw }, done) => {
    const { server: view } = params as { server?: string };
    if (view !== undefined && !SERVER_NAME.test(view)) return done(new GatewayError('path-unknown'));
    if (method === 'OPTIONS') return done();
    const { record } = edge;
    edge.isExchange = true;
    record.view = view;
    record.era = eraOfHeader(headerValue(headers, VERSION_HEADER));
    // The one event that comes on every path: answered, refused, or left by the client midway.
    raw.once('close', () => {
      if (record.outcome === undefined) {
        record.outcome = 'cancelled';
        record.reason = 'client_left';
      }
      record.httpStatus = raw.headersSent ? raw.statusCode : undefined;
      record.durationMs = performance.now() - record.startedAt;
      onSettled(record);
    });
    done();
  };
}

function refuseWhileStopping({ isStopping }: McpGateOptions): onRequestHookHandler {
  return (_request, _reply, done) => done(isStopping() ? new GatewayError('draining') : undefined);
}

function answerOptions({ timing, isLastAnswer }: McpGateOptions): onRequestHookHandler {
  return ({ edge, headers, method, raw }, reply, done) => {
    if (method !== 'OPTIONS') return done();
    reply.hijack();
    const all = [...edge.headers, ...preflightHeaders(headers, edge.origin)];
    const answer = { status: 204, headers: all, body: '' };
    answerEarly(raw, reply.raw, answer, { timing, closing: isLastAnswer() });
  };
}

const checkMethod: onRequestHookHandler = ({ method }, _reply, done) => {
  const isKnown = method === 'POST' || method === 'GET' || method === 'DELETE';
  done(isKnown ? undefined : new GatewayError('http-method', { allow: ALLOWED_METHODS }));
};

function identifyCaller({ signIn }: McpGateOptions): onRequestHookHandler {
  return ({ edge, query, raw }, _reply, done) => {
    if (signIn === undefined) return done();
    const attempt: SignInAttempt = {
      authorization: raw.headersDistinct.authorization,
      tokenInQuery: Object.hasOwn(query as object, 'access_token'),
      view: edge.record.view,
    };
    signIn.authenticate(attempt).then((principal) => {
      edge.principal = principal;
      done();
    }, done);
  };
}

/** A GET's Accept is the pipeline's to judge: whether there is a stream at all comes first. */
function checkHeaders({ bodyLimitBytes }: McpGateOptions): onRequestHookHandler {
  return ({ headers, method }, _reply, done) => {
    if (method !== 'POST') return done();
    const { json, events } = readAccept(headers.accept);
    done(json || events ? bodyProblem(headers, bodyLimitBytes) : new GatewayError('not-acceptable'));
  };
}
