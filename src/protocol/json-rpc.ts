// The JSON-RPC 2.0 shapes that MCP uses, and the one place that tells them apart.
import { isJsonObject, type JsonObject, rawNumber, readJson, writeJson } from './json-text.ts';

/** MCP forbids null ids and fractions (basic/index, "Requests"). */
export type JsonRpcId = string | number;

export interface JsonRpcRequest {
  jsonrpc: '2.0';
  id: JsonRpcId;
  method: string;
  params?: JsonObject;
}
export interface JsonRpcNotification {
  jsonrpc: '2.0';
  method: string;
  params?: JsonObject;
}
export interface JsonRpcErrorObject {
  code: number;
  message: string;
  data?: unknown;
}
/** What a response says, apart from the id that it carries. */
export type JsonRpcOutcome = { result: JsonObject } | { error: JsonRpcErrorObject };

export type JsonRpcResponse = { jsonrpc: '2.0'; id: JsonRpcId } & JsonRpcOutcome;
/** What an event stream to a client may carry; responses only where an array is answered. */
export type StreamMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** A JSON-RPC message with its shape settled. `idText` is the id as it stood on the wire, fit to be written back. */
export type JsonRpcMessage =
  | { kind: 'request'; id: JsonRpcId; idText: string; method: string; params: JsonObject | undefined }
  | { kind: 'notification'; method: string; params: JsonObject | undefined }
  | { kind: 'response'; id: JsonRpcId; idText: string; outcome: JsonRpcOutcome };

export type ShapeError = { kind: 'malformed'; problem: string; idText: string | undefined };

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * Reads an id: a string or an integer; anything else is undefined. Beyond 2^53 different ids share an `id`, so what
 * tells them apart, and what is written back, is `idText`.
 */
export function readId(value: unknown): { id: JsonRpcId; idText: string } | undefined {
  if (typeof value === 'string') return { id: value, idText: JSON.stringify(value) };
  if (typeof value === 'number') {
    return Number.isInteger(value)
      ? { id: value, idText: Object.is(value, -0) ? '-0' : String(value) }
      : undefined;
  }
  const raw = rawNumber(value);
  if (raw === undefined) return undefined;
  const id = Number(raw);
  return Number.isInteger(id) && hasNoFraction(raw) ? { id, idText: raw } : undefined;
}

/** The id to write back: where a double would change its digits a raw number, typed as the number it stands for. */
export function exactId({ id, idText }: { id: JsonRpcId; idText: string }): JsonRpcId {
  return typeof id === 'number' && String(id) !== idText ? (readJson(idText) as JsonRpcId) : id;
}

/** Whether two ids of one sender, as {@link exactId} gives them, are one. */
export function isSameId(one: JsonRpcId, other: JsonRpcId): boolean {
  return one === other || (typeof one === typeof other && writeJson(one) === writeJson(other));
}

/** The id of a request that a notification of the same sender speaks of. */
export function readExactId(value: unknown): JsonRpcId | undefined {
  const read = readId(value);
  return read === undefined ? undefined : exactId(read);
}

/** Asks the digits: 4503599627370496.5 is an integer once it is a double. */
function hasNoFraction(number: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  const behindPoint = (whole + fraction).slice(Math.max(0, whole.length + Number(exponent)));
  return /^0*$/.test(behindPoint);
}

/** JSON in one line, in pieces; bytes among them are UTF-8. */
export type Written = readonly (Buffer | string)[];

/** As servers have written them; a result that becomes another one is another object. */
const WRITTEN_RESULTS = new WeakMap<JsonObject, Written>();

/** Remembers how a result was written, so that it need not be written anew where it goes on as it is. */
export function keepWritten(result: JsonObject, written: Written): void {
  WRITTEN_RESULTS.set(result, written);
}

/** Undefined where nobody has kept it. */
export function writtenResult(outcome: JsonRpcOutcome): Written | undefined {
  return 'result' in outcome ? WRITTEN_RESULTS.get(outcome.result) : undefined;
}

/** In one text: a piece may end within a character. */
export function textOfWritten(written: Written): string {
  return Buffer.concat(
    written.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)),
  ).toString();
}

/** Tells request, notification and response apart, or says in one sentence what is wrong. */
export function readMessage(value: unknown): JsonRpcMessage | ShapeError {
  if (!isJsonObject(value)) return malformed('the message must be a single JSON object', undefined);
  const id = 'id' in value ? readId(value.id) : undefined;
  if (value.jsonrpc !== '2.0') return malformed('"jsonrpc" must be "2.0"', id?.idText);
  if ('id' in value && value.id !== undefined && id === undefined) {
    return malformed('"id" must be a string or an integer', undefined);
  }
  if ('method' in value) {
    const { method, params } = value;
    if (typeof method !== 'string' || method === '') {
      return malformed('"method" must be a non-empty string', id?.idText);
    }
    if (params !== undefined && !isJsonObject(params)) {
      return malformed('"params" must be an object', id?.idText);
    }
    // Readers that look at "result" first would take it for something else than we do.
    if ('result' in value || 'error' in value) {
      return malformed('a message with a "method" has neither "result" nor "error"', id?.idText);
    }
    return id === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', ...id, method, params };
  }
  if (id === undefined)
    return malformed('a message needs a "method", or an "id" with a "result" or an "error"', undefined);
  const outcome = readOutcome(value);
  return outcome === undefined
    ? malformed('a response needs either an object "result" or an "error" with code and message', id.idText)
    : { kind: 'response', ...id, outcome };
}

function readOutcome(value: JsonObject): JsonRpcOutcome | undefined {
  const { result, error } = value;
  if (isJsonObject(result) && error === undefined) return { result };
  if (isJsonObject(error) && result === undefined) {
    const { code, message } = error;
    if (typeof code === 'number' && typeof message === 'string') {
      return { error: error as unknown as JsonRpcErrorObject };
    }
  }
  return undefined;
}

function malformed(problem: string, idText: string | undefined): ShapeError {
  return { kind: 'malformed', problem, idText };
}
