// Reads what a server means by a status of 300 or more: an error answer to the message, a session that is gone, or a
// failure of the server.
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import type { JsonRpcErrorObject } from '../../protocol/json-rpc.ts';
import { isJsonObject, readJson } from '../../protocol/json-text.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import { readPieces } from './http-body.ts';
import { discard } from './http-endpoint.ts';
import { statusFailure, UpstreamHttpError, unavailable } from './upstream-http-error.ts';
import type { HttpAnswer } from './wire-request.ts';

export interface RefusedRequest {
  /** Our id; undefined for a notification or a response. */
  readonly id: number | undefined;
  /** The request carried a session id. */
  readonly inSession: boolean;
}

const MAX_ERROR_BODY_BYTES = 64 * 1024;
const ERROR_BODY_TIMEOUT_MS = 2_000;

/**
 * @returns the JSON-RPC error of the body, whatever its id
 * @throws GatewayError credential-refused, server-rate-limited, or server-unavailable, with `session-lost` where a
 * new session would help
 */
export async function readRefusal(
  answer: HttpAnswer,
  request: RefusedRequest,
  signal: StopSignal,
): Promise<JsonRpcErrorObject> {
  const { status, headers } = answer;
  const failure = statusFailure(status, headers);
  if (status < 400 || failure.code !== 'server-unavailable') {
    discard(answer);
    throw failure;
  }
  const text = await readErrorText(answer, signal);
  const body = parse(text);
  const error = readError(body);
  if (request.inSession && saysSessionLost(status, { request, body, text, error })) {
    throw unavailable('session-lost', new UpstreamHttpError(status));
  }
  if (error === undefined) throw failure;
  return error;
}

/** A JSON-RPC error that names no request, as a server sends it that could not read the id. */
export function readNullIdError(text: Buffer): JsonRpcErrorObject | undefined {
  const value = parse(text.toString('utf8'));
  return isJsonObject(value) && (value.id ?? null) === null ? readError(value) : undefined;
}

interface RefusalBody {
  readonly request: RefusedRequest;
  readonly body: unknown;
  readonly text: string;
  readonly error: JsonRpcErrorObject | undefined;
}

/** "No valid session ID provided", "Session not found", "Server not initialized": all seen in the field. */
const SPEAKS_OF_SESSION = /\bsession\b|\bnot initialized\b/i;

/**
 * By the specification a lost session is a 404 (2025-11-25, "Session Management"); much-copied server examples say
 * 400 instead, in words and without the request's id. An answer that carries our id was given by someone who read the
 * request, so there a 400 is no more than an error, and a 404 may mean the method.
 */
function saysSessionLost(status: number, { request, body, text, error }: RefusalBody): boolean {
  const ours = request.id !== undefined && isJsonObject(body) && body.id === request.id;
  if (status === 404) return !(ours && error?.code === METHOD_NOT_FOUND);
  return status === 400 && !ours && SPEAKS_OF_SESSION.test(error?.message ?? text);
}

/** The body as far as it is text of a sane size that comes in time; else nothing. */
async function readErrorText(answer: HttpAnswer, signal: StopSignal): Promise<string> {
  const timer = setTimeout(() => answer.body.destroy(), ERROR_BODY_TIMEOUT_MS).unref();
  try {
    const pieces = await readPieces(answer, signal, { maxBytes: MAX_ERROR_BODY_BYTES });
    return Buffer.concat(pieces).toString('utf8');
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return '';
  } finally {
    clearTimeout(timer);
  }
}

function parse(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

function readError(body: unknown): JsonRpcErrorObject | undefined {
  const error = isJsonObject(body) ? body.error : undefined;
  if (!isJsonObject(error)) return undefined;
  const { code, message } = error;
  return typeof code === 'number' && typeof message === 'string'
    ? (error as unknown as JsonRpcErrorObject)
    : undefined;
}
