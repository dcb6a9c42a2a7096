// The standard request headers of 2026-07-28 and their value encoding
// (basic/transports/streamable-http, "Request Metadata" and "Value Encoding").
import { isUtf8 } from 'node:buffer';
import type { JsonObject } from './json-text.ts';

export const VERSION_HEADER = 'mcp-protocol-version';
export const METHOD_HEADER = 'mcp-method';
export const NAME_HEADER = 'mcp-name';
export const SESSION_HEADER = 'mcp-session-id';
export const LAST_EVENT_HEADER = 'last-event-id';
export const PARAM_HEADER_PREFIX = 'mcp-param-';

/** Which member of `params` the `Mcp-Name` header mirrors; methods that are not here carry none. */
const NAME_SOURCE: Readonly<Record<string, NameSource>> = {
  'tools/call': { member: 'name', required: true },
  'prompts/get': { member: 'name', required: true },
  'resources/read': { member: 'uri', required: true },
  // The tasks extension mirrors its ids the same way; core servers know nothing of it, so it is not demanded.
  'tasks/get': { member: 'taskId', required: false },
  'tasks/update': { member: 'taskId', required: false },
  'tasks/cancel': { member: 'taskId', required: false },
};

export interface NameSource {
  readonly member: 'name' | 'uri' | 'taskId';
  readonly required: boolean;
}

const PLAIN_VALUE = /^[\x20-\x7e\t]*$/;
const SAFE_VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/;
/** Case-sensitive, both of them ("Value Encoding"). */
const ENCODED_START = '=?base64?';
const ENCODED_END = '?=';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export function nameSourceOf(method: string): NameSource | undefined {
  return Object.hasOwn(NAME_SOURCE, method) ? NAME_SOURCE[method] : undefined;
}

/** The value that a header stands for, or undefined where it is malformed (bad base64, not UTF-8, not ASCII). */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isMarked(value)) return PLAIN_VALUE.test(value) ? value : undefined;
  // In `=?base64?=` the markers overlap: nothing is encoded, yet no client may send it plain.
  if (value.length < ENCODED_START.length + ENCODED_END.length) return undefined;
  const encoded = value.slice(ENCODED_START.length, -ENCODED_END.length);
  if (!BASE64.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Encodes where the plain form would be unsafe, or would be taken for an encoded one. */
export function encodeHeaderValue(value: string): string {
  return SAFE_VALUE.test(value) && !isMarked(value)
    ? value
    : `${ENCODED_START}${Buffer.from(value, 'utf8').toString('base64')}${ENCODED_END}`;
}

function isMarked(value: string): boolean {
  return value.startsWith(ENCODED_START) && value.endsWith(ENCODED_END);
}

/** The `Mcp-Method` and `Mcp-Name` headers for a request as it is about to be sent. */
export function standardHeaders(method: string, params: JsonObject | undefined): Record<string, string> {
  const headers: Record<string, string> = { [METHOD_HEADER]: encodeHeaderValue(method) };
  const source = nameSourceOf(method);
  const name = source && params?.[source.member];
  if (typeof name === 'string') headers[NAME_HEADER] = encodeHeaderValue(name);
  return headers;
}
