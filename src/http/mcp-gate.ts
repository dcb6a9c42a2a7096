// What a request to an MCP endpoint has to pass before any of its body is read, in order.
import type { FastifyRequest, onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify';
import { ANONYMOUS } from '../access/principal.ts';
import type { SignInAttempt } from '../access/sign-in/bearer-token.ts';
import { isViewName } from '../access/sign-in/resource-identifiers.ts';
import { GatewayError } from '../errors.ts';
import { eraOfHeader, headerValue } from '../protocol/client-message.ts';
import { VERSION_HEADER } from '../protocol/request-headers.ts';
import { readTraceContext } from '../protocol/trace-context.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import { readAccept } from './accept-header.ts';
import { authorizationsOf } from './authorizations-of.ts';
import { ALLOWED_METHODS, preflightHeaders } from './cors.ts';
import { answerEarly } from './early-answer.ts';
import { checkCallerBy, type EdgeParts } from './edge-parts.ts';
import type { HttpTiming } from './http-timing.ts';
import { bodyProblem } from './read-body.ts';

export interface McpGateOptions {
  readonly timing: HttpTiming;
  /** What holds now. */
  parts(): EdgeParts;
  /** No new exchange begins. */
  isStopping(): boolean;
  /** Answers are the last on their connections. */
  isLastAnswer(): boolean;
  onSettled(record: ExchangeRecord): void;
}

export function mcpGate(options: McpGateOptions): (onRequestHookHandler | onRequestAsyncHookHandler)[] {
  return [
    beginExchange(options),
    refuseWhileStopping(options),
    checkCallerBy(options.parts),
    answerOptions(options),
    guardAddress(options),
    checkMethod,
    identifyCaller(options),
    checkHeaders(options),
  ];
}

/** From here on the exchange is counted, and settled at the last byte of its answer. */
function beginExchange({ onSettled }: McpGateOptions): onRequestHookHandler {
  return ({ edge, headers, method, params }, { raw }, done) => {
    const { view } = params as { view?: string };
    if (view !== undefined && !isViewName(view)) return done(new GatewayError('path-unknown'));
    if (method === 'OPTIONS') return done();
    const { record } = edge;
    edge.isExchange = true;
    record.view = view;
    record.era = eraOfHeader(headerValue(headers, VERSION_HEADER));
    record.traceContext = readTraceContext(headers);
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

function guardAddress({ parts }: McpGateOptions): onRequestAsyncHookHandler {
  return async (request) => parts().guardAddress?.(request);
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

function identifyCaller(options: McpGateOptions): onRequestHookHandler {
  return (request, _reply, done) => {
    identify(request, options).then(() => done(), done);
  };
}

/**
 * Who is calling, by the sign-in that holds now: one that gives way to another meanwhile decides nothing any more.
 *
 * @throws GatewayError token-missing, token-invalid, scope-insufficient, issuer-unavailable
 */
export async function identify(
  { edge, query, raw }: FastifyRequest,
  { parts }: Pick<McpGateOptions, 'parts'>,
): Promise<void> {
  const attempt: SignInAttempt = {
    authorization: authorizationsOf(raw),
    tokenInQuery: Object.hasOwn(query as object, 'access_token'),
    view: edge.record.view,
  };
  for (;;) {
    const { signIn } = parts();
    edge.signIn = signIn;
    try {
      const principal = (await signIn?.authenticate(attempt)) ?? ANONYMOUS;
      if (signIn !== parts().signIn) continue;
      edge.principal = principal;
      return;
    } catch (thrown) {
      if (signIn === parts().signIn) throw thrown;
    }
  }
}

/** A GET's Accept is the pipeline's to judge: whether there is a stream at all comes first. */
function checkHeaders({ parts }: McpGateOptions): onRequestHookHandler {
  return ({ headers, method }, _reply, done) => {
    if (method !== 'POST') return done();
    const { json, events } = readAccept(headers.accept);
    done(json || events ? bodyProblem(headers, parts().bodyLimitBytes) : new GatewayError('not-acceptable'));
  };
}
