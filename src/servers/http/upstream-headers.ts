// The headers of one request to a server, built from nothing: what the leg demands, and what the config adds for the
// server. Of what a client sent only a trace context ever reaches this place, so nothing else of it can leak (F33, F52).
import type { HttpServerConfig } from '../../config/config.ts';
import { isModernVersion, META } from '../../protocol/era.ts';
import type { JsonRpcNotification, JsonRpcRequest } from '../../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import {
  LAST_EVENT_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  PARAM_HEADER_PREFIX,
  SESSION_HEADER,
  standardHeaders,
  VERSION_HEADER,
} from '../../protocol/request-headers.ts';
import { readTraceContext } from '../../protocol/trace-context.ts';

export type HeaderMap = Readonly<Record<string, string>>;

/** What a legacy leg has agreed on so far. */
export interface LegacyLeg {
  /** Undefined until `initialize` is answered: that request carries neither. */
  readonly version: string | undefined;
  readonly sessionId: string | undefined;
}

/** Headers that belong to a leg or to HTTP's framing: configured ones of these names are left out. */
const RESERVED: ReadonlySet<string> = new Set([
  VERSION_HEADER,
  METHOD_HEADER,
  NAME_HEADER,
  SESSION_HEADER,
  LAST_EVENT_HEADER,
  'accept',
  'accept-encoding',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'expect',
  'te',
  'trailer',
  'upgrade',
]);

const POST_ACCEPT = 'application/json, text/event-stream';
const STREAM_ACCEPT = 'text/event-stream';
/** What a header can carry: no control characters, nothing beyond Latin-1. */
const SENDABLE = /^[\x20-\x7e\x80-\xff]*$/;

export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || lower.startsWith(PARAM_HEADER_PREFIX);
}

/** The headers that every request to a server carries, whatever it says: the configured ones in lower case. */
export function baseHeaders(config: Pick<HttpServerConfig, 'headers' | 'url'>): HeaderMap {
  const headers: Record<string, string> = {
    'user-agent': 'portico',
    // Compression would hold back events, and a small body could expand without a bound.
    'accept-encoding': 'identity',
  };
  const { username, password } = new URL(config.url);
  if (username !== '' || password !== '') {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  }
  for (const [name, value] of Object.entries(config.headers)) {
    if (!isReservedHeader(name)) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** The revision that a modern request names in its body, or undefined for a legacy one. */
export function modernVersionOf(params: JsonObject | undefined): string | undefined {
  const meta = params?._meta;
  const version = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
  return typeof version === 'string' ? version : undefined;
}

/** For a modern request: the mirrors of its body, and the `Mcp-Param-*` headers of its tool. */
export function modernPostHeaders(base: HeaderMap, message: JsonRpcRequest, params: HeaderMap): HeaderMap {
  const version = modernVersionOf(message.params);
  const headers: Record<string, string> = {
    ...postHeaders(base),
    ...traceHeaders(message.params),
    ...standardHeaders(message.method, message.params),
    ...(version === undefined ? {} : { [VERSION_HEADER]: version }),
  };
  for (const [name, value] of Object.entries(params)) {
    const lower = name.toLowerCase();
    if (lower.startsWith(PARAM_HEADER_PREFIX)) headers[lower] = value;
  }
  return headers;
}

/**
 * For whatever is sent after a handshake, and for `initialize` itself on a leg that has agreed on nothing yet. The
 * version header came with 2025-06-18; servers of older revisions ignore it, so it is sent to all.
 */
export function legacyPostHeaders(base: HeaderMap, leg: LegacyLeg): HeaderMap {
  return { ...postHeaders(base), ...legHeaders(leg) };
}

/** The trace context of a request, as its `_meta` has it. */
export function traceHeaders(params: JsonObject | undefined): HeaderMap {
  const meta = params?._meta;
  return isJsonObject(meta) ? { ...readTraceContext(meta) } : {};
}

/** For a notification: the modern revision wants its method mirrored too. */
export function notificationHeaders(
  base: HeaderMap,
  leg: LegacyLeg,
  message: JsonRpcNotification,
): HeaderMap {
  const headers = legacyPostHeaders(base, leg);
  return leg.version !== undefined && isModernVersion(leg.version)
    ? { ...headers, ...standardHeaders(message.method, message.params) }
    : headers;
}

/** For the GET that opens or resumes an event stream. */
export function streamHeaders(base: HeaderMap, leg: LegacyLeg, lastEventId: string | undefined): HeaderMap {
  const headers: Record<string, string> = { ...base, accept: STREAM_ACCEPT, ...legHeaders(leg) };
  const encoded = lastEventId === undefined ? '' : Buffer.from(lastEventId, 'utf8').toString('latin1');
  if (encoded !== '' && SENDABLE.test(encoded)) headers[LAST_EVENT_HEADER] = encoded;
  return headers;
}

/** For the DELETE that ends a session. */
export function sessionHeaders(base: HeaderMap, leg: LegacyLeg): HeaderMap {
  return { ...base, ...legHeaders(leg) };
}

function postHeaders(base: HeaderMap): HeaderMap {
  return { ...base, 'content-type': 'application/json', accept: POST_ACCEPT };
}

function legHeaders({ version, sessionId }: LegacyLeg): HeaderMap {
  return {
    ...(version === undefined ? {} : { [VERSION_HEADER]: version }),
    ...(sessionId === undefined ? {} : { [SESSION_HEADER]: sessionId }),
  };
}
