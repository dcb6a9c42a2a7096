// Signs that a server over HTTP is no longer of the era that it was: behind a URL another one may take its place while
// our links are open (F36). A child cannot change; it has to be started again.
import { GatewayError } from '../errors.ts';
import type { Era } from '../protocol/era.ts';
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../protocol/error-codes.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';

/** Statuses that say something about the caller or the moment, and nothing about the era. */
const ERALESS_STATUSES = new Set([401, 403, 407, 408, 429]);
/** What a legacy server says to a request without a session: the specification names no code. */
const isOwnCode = (code: number) => code <= -32000 && code > HEADER_MISMATCH;
const isModernCode = (code: number) => code <= HEADER_MISMATCH && code >= UNSUPPORTED_PROTOCOL_VERSION;

/** Whether the answer to a well-formed request of `era` is one that a server of the other era might give. */
export function raisesDoubt(era: Era, outcome: JsonRpcOutcome): boolean {
  if (!('error' in outcome)) return false;
  const { code } = outcome.error;
  if (era === 'modern') return code === INVALID_REQUEST || isOwnCode(code);
  // To a modern server our request lacks its metadata, and our revision is none of its own.
  return code === INVALID_PARAMS || isModernCode(code);
}

/** Whether a failed exchange shows a server that does not know the question. */
export function isRefusalByStatus(thrown: unknown): boolean {
  const status = httpStatusOf(thrown);
  return status !== undefined && status >= 400 && status < 500 && !ERALESS_STATUSES.has(status);
}

export function httpStatusOf(thrown: unknown): number | undefined {
  const cause = thrown instanceof GatewayError ? thrown.cause : undefined;
  return cause instanceof Error && 'status' in cause && typeof cause.status === 'number'
    ? cause.status
    : undefined;
}
