// What a request to an MCP endpoint has to pass before any of its body is read, in order.
import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
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
import type { EdgeParts } from './edge-parts.ts';
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

/**
 * One function rather than a hook for each step, each of which would cost a turn through the framework.
 *
 * @returns false where the request has been answered, as a preflight is
 * @throws GatewayError what the request is refused with
 */
export async function passGate(
  request: FastifyRequest,
  response: ServerResponse,
  options: McpGateOptions,
): Promise<boolean> {
  beginExchange(request, response, options);
  if (options.isStopping()) throw new GatewayError('draining');
  const { checkCaller, guardAddress } = options.parts();
  checkCaller(request);
  if (request.method === 'OPTIONS') {
    answerOptions(request, response, options);
    return false;
  }
  if (guardAddress !== undefined) await guardAddress(request);
  checkMethod(request);
  if (!recognize(request, options)) await identify(request, options);
  checkHeaders(request, options);
  return true;
}

/** From here on the exchange is counted, and settled at the last byte of its answer. */
function beginExchange(
  { edge, headers, method, params }: FastifyRequest,
  response: ServerResponse,
  { onSettled }: McpGateOptions,
): void {
  const { view } = params as { view?: string };
  if (view !== undefined && !isViewName(view)) throw new GatewayError('path-unknown');
  if (method === 'OPTIONS') return;
  const { record } = edge;
  edge.isExchange = true;
  record.view = view;
  record.era = eraOfHeader(headerValue(headers, VERSION_HEADER));
  record.traceContext = readTraceContext(headers);
  // The one event that comes on every path: answered, refused, or left by the client midway.
  edge.close.tell(() => {
    if (record.outcome === undefined) {
      record.outcome = 'cancelled';
      record.reason = 'client_left';
    }
    record.httpStatus = response.headersSent ? response.statusCode : undefined;
    record.durationMs = performance.now() - record.startedAt;
    onSettled(record);
  });
}

function answerOptions(
  { edge, headers, raw }: FastifyRequest,
  response: ServerResponse,
  { timing, isLastAnswer }: McpGateOptions,
): void {
  const all = [...edge.headers, ...preflightHeaders(headers, edge.origin)];
  const answer = { status: 204, headers: all, body: '' };
  answerEarly(raw, response, answer, { timing, closing: isLastAnswer() });
}

function checkMethod({ method }: FastifyRequest): void {
  if (method === 'POST' || method === 'GET' || method === 'DELETE') return;
  throw new GatewayError('http-method', { allow: ALLOWED_METHODS });
}

/** Whether the caller is known already, as most are: then nothing has to be waited for. */
function recognize(request: FastifyRequest, { parts }: McpGateOptions): boolean {
  const { signIn } = parts();
  const { edge } = request;
  const principal = signIn === undefined ? ANONYMOUS : signIn.recognize(attemptOf(request));
  if (principal === undefined) return false;
  edge.signIn = signIn;
  edge.principal = principal;
  return true;
}

/**
 * Who is calling, by the sign-in that holds now: one that gives way to another meanwhile decides nothing any more.
 *
 * @throws GatewayError token-missing, token-invalid, scope-insufficient, issuer-unavailable
 */
export async function identify(
  request: FastifyRequest,
  { parts }: Pick<McpGateOptions, 'parts'>,
): Promise<void> {
  const { edge } = request;
  const attempt = attemptOf(request);
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

function attemptOf({ edge, query, raw }: FastifyRequest): SignInAttempt {
  return {
    authorization: authorizationsOf(raw),
    tokenInQuery: Object.hasOwn(query as object, 'access_token'),
    view: edge.record.view,
  };
}

/** A GET's Accept is the pipeline's to judge: whether there is a stream at all comes first. */
function checkHeaders({ headers, method }: FastifyRequest, { parts }: McpGateOptions): void {
  if (method !== 'POST') return;
  const { json, events } = readAccept(headers.accept);
  const problem =
    json || events ? bodyProblem(headers, parts().bodyLimitBytes) : new GatewayError('not-acceptable');
  if (problem !== undefined) throw problem;
}
