// What a failed exchange with an HTTP server means, in words of our error table. The server's own body, its address
// and its challenge stay inside.
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../errors.ts';

/** The server answered, with a status that is no answer to the message. Tells a 4xx from a network failure. */
export class UpstreamHttpError extends Error {
  readonly status: number;

  constructor(status: number, problem = `the server answered with HTTP status ${status}`) {
    super(problem);
    this.name = 'UpstreamHttpError';
    this.status = status;
  }
}

/** Why an exchange failed; the closed set behind `details.reason`. */
export type WireReason =
  /** No connection came about: nothing was sent. */
  | 'connect-failed'
  /** The request cannot be put into HTTP: a configured header, most likely. */
  | 'request-invalid'
  | 'tls-failed'
  | 'proxy-failed'
  /** The connection broke after the request went out. */
  | 'connection-lost'
  | 'http-status'
  | 'redirect-refused'
  | 'media-type'
  /** The exchange ended without the response. */
  | 'no-response'
  /** It carries our id, and is no response. */
  | 'bad-answer'
  | 'message-too-large'
  | 'session-lost'
  | 'session-id-invalid'
  | 'endpoint-refused'
  | 'closed';

/** Public words where there are better ones than the table's. */
const TEXTS: Readonly<Partial<Record<WireReason, string>>> = {
  'connection-lost': 'The connection to the server was lost',
  'no-response': 'The server did not answer the request',
  'bad-answer': 'The server sent an invalid answer',
  'message-too-large': 'The server sent a message over the size limit',
};

/** The failure `server-unavailable` with its finer reason. */
export function unavailable(reason: WireReason, cause: Error | string): GatewayError {
  const text = TEXTS[reason];
  return new GatewayError('server-unavailable', {
    reason,
    ...(text === undefined ? {} : { text }),
    cause: typeof cause === 'string' ? new Error(cause) : cause,
  });
}

/** The reason of a failure of this leg; undefined for whatever else was thrown. */
export function wireReasonOf(thrown: unknown): string | undefined {
  return thrown instanceof GatewayError ? thrown.details.reason : undefined;
}

const DEFAULT_RETRY_AFTER_MS = 1_000;
const MAX_RETRY_AFTER_MS = 3_600_000;

/** The failure that a status of 300 or more stands for. */
export function statusFailure(status: number, headers: IncomingHttpHeaders, now = Date.now()): GatewayError {
  const cause = new UpstreamHttpError(status);
  if (status === 401 || status === 403) {
    // The server's challenge would send the user to the wrong issuer: it ends here.
    return new GatewayError('credential-refused', { reason: 'http-status', cause });
  }
  if (status === 429) {
    const retryAfterMs = readRetryAfter(headers['retry-after'], now);
    return new GatewayError('server-rate-limited', { retryAfterMs, data: { retryAfterMs }, cause });
  }
  return unavailable(status < 400 ? 'redirect-refused' : 'http-status', cause);
}

/** Milliseconds that a `Retry-After` header asks for, be it seconds or a date (RFC 9110, 10.2.3). */
function readRetryAfter(value: string | undefined, now: number): number {
  const text = value?.trim() ?? '';
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  if (Number.isNaN(waitMs)) return DEFAULT_RETRY_AFTER_MS;
  return Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

const CONNECT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const PROXY_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
  'UND_ERR_HEADERS_TIMEOUT',
]);
const BROKEN_CODES: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const TLS_CODE = /^EPROTO$|^ERR_(?:TLS|SSL)_|CERT|^UNABLE_TO_|SELF_SIGNED|_IN_CHAIN$/;

/** The failure behind an error of undici or of the socket below it. */
export function wireFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = codeOf(cause);
  if (CONNECT_CODES.has(code) && !isOnOpenSocket(cause)) return unavailable('connect-failed', cause);
  if (PROXY_CODES.has(code) || /^Proxy /.test(cause.message)) return unavailable('proxy-failed', cause);
  if (code === 'UND_ERR_INVALID_ARG') return unavailable('request-invalid', cause);
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return unavailable('closed', cause);
  if (TLS_CODE.test(code)) return unavailable('tls-failed', cause);
  return unavailable('connection-lost', cause);
}

/** True when the other side closed the connection under a request, as a server does that closes an idle one. */
export function isBrokenConnection(error: unknown): boolean {
  return error instanceof Error && BROKEN_CODES.has(codeOf(error));
}

/** The same codes come from a connection that was up, where they do not mean that nothing was sent. */
function isOnOpenSocket(error: Error): boolean {
  return 'syscall' in error && (error.syscall === 'read' || error.syscall === 'write');
}

function codeOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses were tried, and each failed in its own way.
  return error instanceof AggregateError && error.errors[0] instanceof Error ? codeOf(error.errors[0]) : '';
}
