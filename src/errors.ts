// Every way a request can fail, once: the HTTP status, the JSON-RPC code and the public words of each. What
// happened inside (`cause`, `detail` of logs) stays inside.

import type { Era } from './protocol/era.ts';
import * as rpc from './protocol/error-codes.ts';
import type { JsonRpcErrorObject } from './protocol/json-rpc.ts';

type PerEra<T> = T | Readonly<Record<Era, T>>;

interface Failure {
  readonly status: PerEra<number>;
  readonly rpcCode: PerEra<number>;
  readonly text: string;
  /** The request's id is never echoed: it was not readable, or the failure is the transport's. */
  readonly withoutId?: true;
  readonly challenge?: 'invalid_token' | 'missing_token' | 'insufficient_scope';
}

export const FAILURES = {
  'not-json': { status: 400, rpcCode: rpc.PARSE_ERROR, text: 'The body is not JSON', withoutId: true },
  'not-a-message': {
    status: 400,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'The body is not a single JSON-RPC message',
  },
  'meta-missing': {
    status: 400,
    rpcCode: rpc.INVALID_PARAMS,
    text: 'The request lacks required _meta fields',
  },
  'header-mismatch': { status: 400, rpcCode: rpc.HEADER_MISMATCH, text: 'Header mismatch' },
  'version-unsupported': {
    status: 400,
    rpcCode: rpc.UNSUPPORTED_PROTOCOL_VERSION,
    text: 'Unsupported protocol version',
  },
  'method-unknown': {
    status: { modern: 404, legacy: 200 },
    rpcCode: rpc.METHOD_NOT_FOUND,
    text: 'Method not found',
  },
  'params-invalid': { status: 200, rpcCode: rpc.INVALID_PARAMS, text: 'Invalid params' },
  'target-unknown': { status: 200, rpcCode: rpc.INVALID_PARAMS, text: 'Not found' },
  'resource-unknown': {
    status: 200,
    rpcCode: { modern: rpc.INVALID_PARAMS, legacy: rpc.LEGACY_RESOURCE_NOT_FOUND },
    text: 'Resource not found',
  },
  'condition-refused': { status: 200, rpcCode: rpc.CONDITION_REFUSED, text: 'A rule refuses this call' },
  'state-invalid': { status: 200, rpcCode: rpc.INVALID_PARAMS, text: 'Invalid or expired state' },
  'server-rate-limited': {
    status: 200,
    rpcCode: rpc.RATE_LIMITED,
    text: 'The server limits its rate; try later',
  },
  'http-method': {
    status: 405,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'The HTTP method is not for this path',
    withoutId: true,
  },
  'capability-missing': {
    status: 400,
    rpcCode: rpc.MISSING_CLIENT_CAPABILITY,
    text: 'The request needs a client capability that was not declared',
  },
  'token-missing': {
    status: 401,
    rpcCode: rpc.TOKEN_REQUIRED,
    text: 'An access token is required',
    challenge: 'missing_token',
  },
  'token-invalid': {
    status: 401,
    rpcCode: rpc.TOKEN_REQUIRED,
    text: 'The access token is not valid here',
    challenge: 'invalid_token',
  },
  'scope-insufficient': {
    status: 403,
    rpcCode: rpc.SCOPE_REQUIRED,
    text: 'The access token lacks a scope that this needs',
    challenge: 'insufficient_scope',
  },
  'origin-refused': {
    status: 403,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'This Origin is not allowed; see gateway.origins',
    withoutId: true,
  },
  'host-refused': {
    status: 403,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'This Host is not allowed; see gateway.publicUrl and gateway.hosts',
    withoutId: true,
  },
  'session-unknown': {
    status: 404,
    rpcCode: rpc.SESSION_UNKNOWN,
    text: 'Session not found; send initialize to start a new one',
  },
  'session-missing': {
    status: 400,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'The Mcp-Session-Id header is missing; send initialize first',
  },
  'resume-unknown': {
    status: 400,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'Last-Event-ID names no stream that can be resumed; open a new one without it',
  },
  'not-acceptable': {
    status: 406,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'Accept must allow application/json or text/event-stream',
  },
  'media-type': { status: 415, rpcCode: rpc.INVALID_REQUEST, text: 'Content-Type must be application/json' },
  'body-too-large': { status: 413, rpcCode: rpc.INVALID_REQUEST, text: 'The body is over the limit' },
  'rate-limited': { status: 429, rpcCode: rpc.RATE_LIMITED, text: 'Too many requests' },
  'no-capacity': { status: 503, rpcCode: rpc.NO_CAPACITY, text: 'No capacity; try again later' },
  draining: { status: 503, rpcCode: rpc.NO_CAPACITY, text: 'Shutting down; try again' },
  'server-unavailable': { status: 200, rpcCode: rpc.SERVER_UNAVAILABLE, text: 'The server is not available' },
  'deadline-passed': { status: 200, rpcCode: rpc.DEADLINE_PASSED, text: 'The server did not answer in time' },
  'store-unavailable': {
    status: 503,
    rpcCode: rpc.STORE_UNAVAILABLE,
    text: 'The state store is not available',
  },
  'issuer-unavailable': {
    status: 503,
    rpcCode: rpc.ISSUER_UNAVAILABLE,
    text: 'The token issuer cannot be asked; try again later',
  },
  'audit-unavailable': {
    status: 503,
    rpcCode: rpc.AUDIT_UNAVAILABLE,
    text: 'The audit log cannot be written',
  },
  'request-malformed': {
    status: 400,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'The HTTP request is malformed',
    withoutId: true,
  },
  'request-timeout': {
    status: 408,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'The request did not arrive in time',
    withoutId: true,
  },
  'headers-too-large': {
    status: 431,
    rpcCode: rpc.INVALID_REQUEST,
    text: 'The request headers are over the limit',
    withoutId: true,
  },
  'view-unknown': { status: 404, rpcCode: rpc.VIEW_UNKNOWN, text: 'There is nothing here for you' },
  'path-unknown': { status: 404, rpcCode: rpc.VIEW_UNKNOWN, text: 'Not found', withoutId: true },
  'credential-refused': {
    status: 200,
    rpcCode: rpc.CREDENTIAL_REFUSED,
    text: 'The gateway could not sign in to the server',
  },
  internal: { status: 500, rpcCode: rpc.INTERNAL_ERROR, text: 'Internal error' },
} as const satisfies Record<string, Failure>;

export type FailureCode = keyof typeof FAILURES;

export interface FailureDetails {
  /** Public words in place of the table's. Never a token, a body or an upstream address. */
  text?: string;
  /** The public `error.data`. */
  data?: Record<string, unknown>;
  /** Milliseconds after which a retry makes sense; becomes `Retry-After` (whole seconds) and `data.retryAfterMs`. */
  retryAfterMs?: number;
  /** Every scope that the operation needs, for the challenge. */
  scopes?: readonly string[];
  /** The methods that the path does have, for `Allow`. */
  allow?: string;
  /** Finer than `code`, for log lines alone (a closed set of short words). */
  reason?: string;
  cause?: unknown;
}

/** A failure with a row in {@link FAILURES}. `message` is public; `cause` is not. */
export class GatewayError extends Error {
  readonly code: FailureCode;
  readonly details: FailureDetails;

  constructor(code: FailureCode, details: FailureDetails = {}) {
    super(details.text ?? FAILURES[code].text, { cause: details.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.details = details;
  }
}

/** A failure as the `error` member of a JSON-RPC response to a client of that era. */
export function errorObject(error: GatewayError, era: Era): JsonRpcErrorObject {
  const { data, retryAfterMs } = error.details;
  const shown = retryAfterMs === undefined ? data : { ...data, retryAfterMs };
  const { rpcCode } = failureFor(error.code, era);
  return { code: rpcCode, message: error.message, ...(shown === undefined ? {} : { data: shown }) };
}

/** Wraps whatever was thrown; what is not ours becomes `internal`. */
export function toGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('internal', { cause: thrown });
}

/** One row, read for the era of the client that is to be told. */
export function failureFor(
  code: FailureCode,
  era: Era,
): { status: number; rpcCode: number; withoutId: boolean } {
  const failure: Failure = FAILURES[code];
  return {
    status: perEra(failure.status, era),
    rpcCode: perEra(failure.rpcCode, era),
    withoutId: failure.withoutId ?? false,
  };
}

function perEra(value: PerEra<number>, era: Era): number {
  return typeof value === 'number' ? value : value[era];
}
