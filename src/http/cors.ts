// What a browser is told about cross-origin use. The decision is the origin policy's; this only words it. No
// credentials mode: a token comes in a header, never in a cookie.
import type { IncomingHttpHeaders } from 'node:http';
import type { OriginVerdict } from '../access/origin-policy.ts';
import { PARAM_HEADER_PREFIX } from '../protocol/request-headers.ts';

export const ALLOWED_METHODS = 'POST, GET, DELETE, OPTIONS';
const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'accept',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'traceparent',
  'tracestate',
  'baggage',
];
const EXPOSED_HEADERS = 'WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version, Retry-After';
const PREFLIGHT_MAX_AGE_SECONDS = '600';
const HEADER_TOKEN = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const MAX_REFLECTED = 64;
const VARY = ['Vary', 'Origin'] as const;

/** Name and value in turn, for every answer to a request with this verdict. */
export function corsHeaders(verdict: OriginVerdict): readonly string[] {
  if (verdict.kind !== 'allowed') return VARY;
  return [
    'Vary',
    'Origin',
    'Access-Control-Allow-Origin',
    verdict.origin,
    'Access-Control-Expose-Headers',
    EXPOSED_HEADERS,
  ];
}

/** What an answer to OPTIONS says besides {@link corsHeaders}. */
export function preflightHeaders(headers: IncomingHttpHeaders, verdict: OriginVerdict): readonly string[] {
  if (verdict.kind !== 'allowed' || headers['access-control-request-method'] === undefined) {
    return ['Allow', ALLOWED_METHODS];
  }
  return [
    'Access-Control-Allow-Methods',
    ALLOWED_METHODS,
    // A wildcard would not cover Authorization, and tools name their own Mcp-Param-* headers.
    'Access-Control-Allow-Headers',
    [...ALLOWED_HEADERS, ...requestedParamHeaders(headers['access-control-request-headers'])].join(', '),
    'Access-Control-Max-Age',
    PREFLIGHT_MAX_AGE_SECONDS,
  ];
}

function requestedParamHeaders(requested: string | undefined): readonly string[] {
  if (requested === undefined) return [];
  const names = requested.split(',').map((name) => name.trim().toLowerCase());
  const ours = names.filter((name) => name.startsWith(PARAM_HEADER_PREFIX) && HEADER_TOKEN.test(name));
  return [...new Set(ours)].slice(0, MAX_REFLECTED);
}
