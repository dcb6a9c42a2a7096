// W3C Trace Context and Baggage, as they travel in headers and in `_meta` (2026-07-28, basic/index, "OpenTelemetry trace
// context"). Only the syntax is judged: what a client says of its trace is handed on, not believed.
import { isJsonObject, type JsonObject } from './json-text.ts';

export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** What a `traceparent` says. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

/** Trace Context, section 3.2.2; versions after 00 may have more members. */
const TRACE_PARENT =
  /^(?!ff)(?<version>[0-9a-f]{2})-(?<traceId>(?!0{32})[0-9a-f]{32})-(?<spanId>(?!0{16})[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;
const MAX_TRACE_PARENT_LENGTH = 200;
/** What any header can carry, and no more than Baggage, section 3.3.2, has everyone carry. */
const SENDABLE = /^[\x20-\x7e]{1,8192}$/;

/** What is well-formed of a trace context among headers or in a `_meta`; undefined where nothing is. */
export function readTraceContext(source: Readonly<Record<string, unknown>>): TraceContext | undefined {
  const { traceparent, tracestate, baggage } = source;
  if (traceparent === undefined && baggage === undefined) return undefined;
  const isTraced = typeof traceparent === 'string' && parseTraceParent(traceparent) !== undefined;
  return traceContext({
    traceparent: isTraced ? traceparent : undefined,
    // Without its trace a state says nothing.
    tracestate: isTraced && isSendable(tracestate) ? tracestate : undefined,
    baggage: isSendable(baggage) ? baggage : undefined,
  });
}

/** Where a message speaks of its own trace, the headers that brought it are not asked about that. */
export function mergeTraceContexts(
  ofMessage: TraceContext | undefined,
  ofHeaders: TraceContext | undefined,
): TraceContext | undefined {
  if (ofMessage === undefined || ofHeaders === undefined) return ofMessage ?? ofHeaders;
  const { traceparent, tracestate } = ofMessage.traceparent === undefined ? ofHeaders : ofMessage;
  return traceContext({ traceparent, tracestate, baggage: ofMessage.baggage ?? ofHeaders.baggage });
}

/** Undefined where it is malformed. */
export function parseTraceParent(text: string): TraceParent | undefined {
  if (text.length > MAX_TRACE_PARENT_LENGTH) return undefined;
  const { version, traceId = '', spanId = '', flags = '', more } = TRACE_PARENT.exec(text)?.groups ?? {};
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** Params whose `_meta` says this trace context besides what it said before. */
export function withTraceContext(params: JsonObject | undefined, context: TraceContext): JsonObject {
  const meta = isJsonObject(params?._meta) ? params._meta : {};
  if (context.traceparent === undefined) return { ...params, _meta: { ...meta, ...context } };
  // A state belongs to its parent: with another parent, the old one goes too.
  const { tracestate: _old, ...kept } = meta;
  return { ...params, _meta: { ...kept, ...context } };
}

function traceContext(
  members: {
    readonly [Member in keyof TraceContext]-?: string | undefined;
  },
): TraceContext | undefined {
  const said = Object.entries(members).filter(([, value]) => value !== undefined);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

function isSendable(value: unknown): value is string {
  return typeof value === 'string' && SENDABLE.test(value);
}
