// Decides once, from the body and the headers alone, what a client sent and in which era it speaks. Nothing after
// this asks again. Pure: it returns refusals, it throws nothing and touches no connection.
import { isUtf8 } from 'node:buffer';
import {
  type Era,
  isModernVersion,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
  SUPPORTED_VERSIONS,
} from './era.ts';
import {
  type JsonRpcId,
  type JsonRpcMessage,
  type JsonRpcOutcome,
  readMessage,
  type ShapeError,
} from './json-rpc.ts';
import { isJsonObject, type JsonObject, readJson } from './json-text.ts';
import { rawStringMember } from './raw-member.ts';
import {
  decodeHeaderValue,
  METHOD_HEADER,
  NAME_HEADER,
  nameSourceOf,
  VERSION_HEADER,
} from './request-headers.ts';

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The headers that classification reads, in Node's lower-case form; a repeated one arrives joined by commas. */
export type MessageHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The per-request metadata of a modern request (basic/index, "Per-request protocol fields"). */
export interface RequestMeta {
  readonly version: string;
  readonly clientInfo: JsonObject | undefined;
  readonly clientCapabilities: JsonObject;
  readonly logLevel: string | undefined;
}

export interface ModernRequest {
  readonly era: 'modern';
  readonly kind: 'request';
  readonly id: JsonRpcId;
  readonly idText: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: RequestMeta;
}
export interface LegacyRequest {
  readonly era: 'legacy';
  readonly kind: 'request';
  readonly id: JsonRpcId;
  readonly idText: string;
  readonly method: string;
  readonly params: JsonObject | undefined;
}
export interface ClientNotification {
  readonly era: Era;
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject | undefined;
}
export interface ClientResponse {
  readonly era: 'legacy';
  readonly kind: 'response';
  readonly id: JsonRpcId;
  readonly outcome: JsonRpcOutcome;
}
/** An array; only a session that negotiated 2025-03-26 may send one. */
export interface ClientBatch {
  readonly era: 'legacy';
  readonly kind: 'batch';
  readonly items: readonly unknown[];
}
export type ClientRequest = ModernRequest | LegacyRequest;
export type ClientMessage = ClientRequest | ClientNotification | ClientResponse | ClientBatch;

/** Why a message goes no further. `failure` names a row of the error table. */
export interface Refusal {
  readonly kind: 'refused';
  readonly era: Era;
  readonly failure: 'not-json' | 'not-a-message' | 'meta-missing' | 'header-mismatch' | 'version-unsupported';
  readonly text: string;
  readonly idText: string | undefined;
  readonly data?: Record<string, unknown>;
}

/** Reads one POST body. The order of refusals is that of the protocol: metadata, headers, version. */
export function readClientMessage(body: Buffer, headers: MessageHeaders): ClientMessage | Refusal {
  const era = eraOfHeader(headerValue(headers, VERSION_HEADER)) ?? 'legacy';
  const parsed = parseBody(body);
  if ('failure' in parsed) return refuse(era, parsed.failure, parsed.text, undefined);
  const { value } = parsed;
  if (Array.isArray(value)) {
    if (era === 'legacy' && value.length > 0) return { era, kind: 'batch', items: value };
    const text = 'The body must be a single JSON-RPC message, not an array';
    return refuse(era, 'not-a-message', text, undefined);
  }
  return classify(value, headers, parsed.text);
}

/**
 * Classifies one parsed message; also used for each member of a split array.
 *
 * @param text the message as it came, where it is one of its own: its id goes back as it is written there
 */
export function classify(value: unknown, headers: MessageHeaders, text?: string): ClientMessage | Refusal {
  const headerVersion = headerValue(headers, VERSION_HEADER);
  const headerEra = eraOfHeader(headerVersion);
  const message = withWrittenId(readMessage(value), text);
  if (message.kind === 'malformed') {
    return refuse(
      headerEra ?? 'legacy',
      'not-a-message',
      `Invalid request: ${message.problem}`,
      message.idText,
    );
  }
  if (eraOf(message, headerEra) === 'modern') return readModern(message, headers, headerVersion);
  if (headerVersion !== undefined && !isSpoken(headerVersion)) {
    const idText = message.kind === 'request' ? message.idText : undefined;
    return versionUnsupported('legacy', headerVersion, idText);
  }
  return { era: 'legacy', ...message };
}

/** Only escapes let one string be written in several ways. */
function withWrittenId(
  message: JsonRpcMessage | ShapeError,
  text: string | undefined,
): JsonRpcMessage | ShapeError {
  if (text === undefined || !('idText' in message) || !message.idText?.startsWith('"')) return message;
  if (!text.includes('\\')) return message;
  return { ...message, idText: rawStringMember(text, 'id') ?? message.idText };
}

/** The era that the header alone names: it decides GET, DELETE and notifications. Undefined: it says nothing. */
export function eraOfHeader(version: string | undefined): Era | undefined {
  if (version === undefined) return undefined;
  if (isModernVersion(version)) return 'modern';
  return LEGACY_VERSIONS.includes(version) ? 'legacy' : undefined;
}

export function headerValue(headers: MessageHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function eraOf(message: JsonRpcMessage, headerEra: Era | undefined): Era {
  if (message.kind !== 'request') return headerEra ?? 'legacy';
  const meta = message.params?._meta;
  const claimed = isJsonObject(meta) && META.protocolVersion in meta;
  if (message.method === 'initialize' && !claimed) return 'legacy';
  // A client that says "legacy" outright in its header may carry keys of the newer revision along.
  if (claimed && headerEra !== 'legacy') return 'modern';
  return headerEra ?? 'legacy';
}

function readModern(
  message: JsonRpcMessage,
  headers: MessageHeaders,
  headerVersion: string | undefined,
): ClientMessage | Refusal {
  if (message.kind === 'response') {
    return refuse(
      'modern',
      'not-a-message',
      'This revision has no client responses; retry the request',
      undefined,
    );
  }
  const headerMethod = headerValue(headers, METHOD_HEADER);
  if (message.kind === 'notification') {
    if (headerMethod !== undefined && headerMethod !== message.method) {
      return refuse('modern', 'header-mismatch', 'Mcp-Method differs from the body', undefined);
    }
    return headerVersion !== undefined && !isModernSpoken(headerVersion)
      ? versionUnsupported('modern', headerVersion, undefined)
      : { era: 'modern', ...message };
  }
  const { idText } = message;
  const meta = readMeta(message.params);
  if (typeof meta === 'string') return refuse('modern', 'meta-missing', meta, idText);
  const mismatch = headerMismatch(message, meta, headers, headerVersion);
  if (mismatch !== undefined) return refuse('modern', 'header-mismatch', mismatch, idText);
  if (!isModernSpoken(meta.version)) return versionUnsupported('modern', meta.version, idText);
  return { ...message, era: 'modern', params: message.params ?? {}, meta };
}

/** Returns the metadata, or the sentence that says what is missing. */
function readMeta(params: JsonObject | undefined): RequestMeta | string {
  const meta = params?._meta;
  if (!isJsonObject(meta))
    return `params._meta must carry ${META.protocolVersion} and ${META.clientCapabilities}`;
  const version = meta[META.protocolVersion];
  const clientCapabilities = meta[META.clientCapabilities];
  const clientInfo = meta[META.clientInfo];
  const logLevel = meta[META.logLevel];
  if (typeof version !== 'string') return `params._meta must carry a string ${META.protocolVersion}`;
  if (!isJsonObject(clientCapabilities))
    return `params._meta must carry an object ${META.clientCapabilities}`;
  if (clientInfo !== undefined && !isJsonObject(clientInfo)) return `${META.clientInfo} must be an object`;
  if (logLevel !== undefined && typeof logLevel !== 'string') return `${META.logLevel} must be a string`;
  return { version, clientInfo, clientCapabilities, logLevel };
}

/** Returns what differs between the headers and the body, or undefined. */
function headerMismatch(
  message: { method: string; params: JsonObject | undefined },
  meta: RequestMeta,
  headers: MessageHeaders,
  headerVersion: string | undefined,
): string | undefined {
  if (headerVersion === undefined) return 'The MCP-Protocol-Version header is missing';
  if (headerVersion !== meta.version)
    return `MCP-Protocol-Version differs from ${META.protocolVersion} in the body`;
  const headerMethod = headerValue(headers, METHOD_HEADER);
  if (headerMethod === undefined) return 'The Mcp-Method header is missing';
  // Compared as it stands: the encoded form is for Mcp-Name and Mcp-Param-* alone ("Server Validation").
  if (headerMethod !== message.method) return "Mcp-Method differs from the body's method";
  const source = nameSourceOf(message.method);
  if (source === undefined) return undefined;
  const headerName = headerValue(headers, NAME_HEADER);
  if (headerName === undefined) {
    return source.required ? `The Mcp-Name header is missing; ${message.method} needs it` : undefined;
  }
  const name = decodeHeaderValue(headerName);
  if (name === undefined) return 'The Mcp-Name header is malformed';
  return name === message.params?.[source.member]
    ? undefined
    : `Mcp-Name differs from params.${source.member}`;
}

type ParsedBody = { readonly value: unknown; readonly text: string } | Pick<Refusal, 'failure' | 'text'>;

function parseBody(body: Buffer): ParsedBody {
  if (body.length === 0) return { failure: 'not-json', text: 'The body is empty' };
  if (!isUtf8(body)) return { failure: 'not-json', text: 'The body is not UTF-8' };
  try {
    const text = body.toString('utf8', startsWithMark(body) ? BYTE_ORDER_MARK.length : 0);
    return { value: readJson(text), text };
  } catch (thrown) {
    return thrown instanceof RangeError
      ? { failure: 'not-a-message', text: 'The body is nested too deeply' }
      : { failure: 'not-json', text: 'The body is not JSON' };
  }
}

/** No JSON text starts with one, yet some writers put it there, and RFC 8259 lets a reader overlook it. */
function startsWithMark(body: Buffer): boolean {
  return body.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
}

function isSpoken(version: string): boolean {
  return SUPPORTED_VERSIONS.includes(version);
}

function isModernSpoken(version: string): boolean {
  return MODERN_VERSIONS.includes(version);
}

function versionUnsupported(era: Era, requested: string, idText: string | undefined): Refusal {
  const data = { supported: SUPPORTED_VERSIONS, requested };
  return { ...refuse(era, 'version-unsupported', 'Unsupported protocol version', idText), data };
}

function refuse(era: Era, failure: Refusal['failure'], text: string, idText: string | undefined): Refusal {
  return { kind: 'refused', era, failure, text, idText };
}
