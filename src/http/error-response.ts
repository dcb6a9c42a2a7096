// From a failure to what a client is told: status, headers, JSON. Pure, and the only place that does it.
import type { ChallengeKind } from '../access/sign-in/bearer-challenge.ts';
import { errorObject, FAILURES, failureFor, type GatewayError } from '../errors.ts';
import type { Era } from '../protocol/era.ts';
import { writeJson } from '../protocol/json-text.ts';

export interface FailureContext {
  readonly era: Era;
  /** The request's id as it stood on the wire, where it could be read. */
  readonly idText: string | undefined;
  /** Names the exchange; told to the client only with an `internal` failure. */
  readonly incidentId: string;
  /** Words the `WWW-Authenticate` of this exchange; a bare one without it. */
  readonly challenge?: ChallengeFor | undefined;
}

export type ChallengeFor = (kind: ChallengeKind, error: GatewayError) => string;

export interface ErrorResponse {
  readonly status: number;
  /** Name and value in turn; `Content-Type` and `Content-Length` are not among them. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** What a 429 or 503 says where the failure itself knows no better. */
const DEFAULT_RETRY_AFTER_MS = 1_000;

export function errorResponse(error: GatewayError, context: FailureContext): ErrorResponse {
  const { status } = failureFor(error.code, context.era);
  const headers: string[] = [];
  const { allow, retryAfterMs } = error.details;
  if (allow !== undefined) headers.push('Allow', allow);
  if (status === 429 || status === 503) {
    headers.push('Retry-After', String(wholeSeconds(retryAfterMs ?? DEFAULT_RETRY_AFTER_MS)));
  }
  const kind = challengeKind(error);
  if (kind !== undefined) headers.push('WWW-Authenticate', context.challenge?.(kind, error) ?? 'Bearer');
  return { status, headers, body: errorMessage(error, context) };
}

/** The failure as one JSON-RPC message, also for the last event of a stream. */
export function errorMessage(error: GatewayError, { era, idText, incidentId }: FailureContext): string {
  const told = errorObject(error, era);
  if (error.code === 'internal') told.data = { ...error.details.data, incidentId };
  // The id goes out as the text that came in: as a number, 9007199254740993 would come back as ...992.
  const isNamed = idText !== undefined && !failureFor(error.code, era).withoutId;
  return `{"jsonrpc":"2.0",${isNamed ? `"id":${idText},` : ''}"error":${writeJson(told)}}`;
}

function challengeKind(error: GatewayError): ChallengeKind | undefined {
  const failure = FAILURES[error.code];
  return 'challenge' in failure ? failure.challenge : undefined;
}

function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
