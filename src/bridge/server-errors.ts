// Which of a server's own errors reach a client, and in which words. An error about our leg to the server says
// nothing to a client about its own.
import { FAILURES } from '../errors.ts';
import type { Era } from '../protocol/era.ts';
import {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  LEGACY_RESOURCE_NOT_FOUND,
  LEGACY_URL_ELICITATION_REQUIRED,
  METHOD_NOT_FOUND,
  MISSING_CLIENT_CAPABILITY,
  SERVER_UNAVAILABLE,
  UNSUPPORTED_PROTOCOL_VERSION,
} from '../protocol/error-codes.ts';
import type { JsonRpcErrorObject } from '../protocol/json-rpc.ts';
import { isJsonObject } from '../protocol/json-text.ts';

/** The sub-range that only the modern revision defines, but for one code of 2025-11-25 (basic/index, "Error Codes"). */
const isReserved = (code: number) =>
  code <= HEADER_MISMATCH && code >= -32099 && code !== LEGACY_URL_ELICITATION_REQUIRED;

const OF_RESOURCES = new Set(['resources/read', 'resources/subscribe', 'resources/unsubscribe']);

/** The error as the client of `era` is to see it. `method` and `uri` are those of the client's request. */
export function publicError(
  error: JsonRpcErrorObject,
  { era, method, uri }: { era: Era; method: string; uri: string | undefined },
): JsonRpcErrorObject {
  if (error.code === HEADER_MISMATCH || error.code === UNSUPPORTED_PROTOCOL_VERSION) {
    return { code: SERVER_UNAVAILABLE, message: FAILURES['server-unavailable'].text };
  }
  if (OF_RESOURCES.has(method) && isResourceNotFound(error)) return resourceNotFound(era, uri);
  if (era === 'legacy') {
    return isReserved(error.code) ? { code: INTERNAL_ERROR, message: error.message } : error;
  }
  if (error.code === LEGACY_RESOURCE_NOT_FOUND) return { ...error, code: INVALID_PARAMS };
  if (error.code === LEGACY_URL_ELICITATION_REQUIRED) return { code: INTERNAL_ERROR, message: error.message };
  return error;
}

/** In the words of a resource that the caller may not see: what is hidden answers as if it did not exist. */
export function resourceNotFound(era: Era, uri: string | undefined): JsonRpcErrorObject {
  return {
    code: FAILURES['resource-unknown'].rpcCode[era],
    message: FAILURES['resource-unknown'].text,
    ...(uri === undefined ? {} : { data: { uri } }),
  };
}

/** The HTTP status of a server's error toward a modern client, while the status is still open. */
export function statusOfError(era: Era, code: number): number {
  if (era === 'legacy') return 200;
  if (code === MISSING_CLIENT_CAPABILITY) return 400;
  return code === METHOD_NOT_FOUND ? 404 : 200;
}

function isResourceNotFound({ code, data }: JsonRpcErrorObject): boolean {
  if (code === LEGACY_RESOURCE_NOT_FOUND) return true;
  return code === INVALID_PARAMS && isJsonObject(data) && typeof data.uri === 'string';
}
