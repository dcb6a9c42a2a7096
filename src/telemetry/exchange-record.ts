// What is remembered of one exchange: filled in along the line, settled once at the last byte, then written as one
// log line and counted. Never a body, a token, a session id or an argument.

import type { TraceContext } from '../protocol/trace-context.ts';
import { type ExchangeTrace, traceIdOf } from './exchange-trace.ts';

export interface ExchangeRecord {
  readonly id: string;
  /** `performance.now()` when the request's headers had been read. */
  readonly startedAt: number;
  era: 'modern' | 'legacy' | undefined;
  /** A method of the protocol, `other`, or the HTTP method where there is no message: fit for a metric's label. */
  method: string | undefined;
  view: string | undefined;
  server: string | undefined;
  /** The tool, prompt or URI addressed, in its server's own words where there is one; log line only. */
  target: string | undefined;
  protocolVersion: string | undefined;
  /** What the client calls itself; audit alone. */
  clientInfo: { readonly name?: unknown; readonly version?: unknown } | undefined;
  httpStatus: number | undefined;
  /** `ok`, `error` (the server's own error answer), `cancelled`, or a failure code of the error table. */
  outcome: string | undefined;
  /** A finer word from a closed set, for the log line. */
  reason: string | undefined;
  /** The access rule that decided, allowing or refusing; log line only. */
  rule: string | undefined;
  /** The result of a tool says that the tool failed; audit alone. */
  isError: boolean | undefined;
  /** The hash of its session's id, once that has been met here; audit alone. */
  sessionKey: string | undefined;
  /** Of the JSON text of the answer; audit alone. */
  answerBytes: number | undefined;
  /** The part of `upstreamMs` that the request waited: for its link to start, and for a place on it. */
  queueMs: number | undefined;
  upstreamMs: number | undefined;
  /** From the headers to the last byte of the answer; set when the record is settled. */
  durationMs: number | undefined;
  /** Where a request came from that was refused at the edge; audit alone. */
  address: string | undefined;
  /** The client's own words, for servers; only the trace id is written. */
  traceContext: TraceContext | undefined;
  /** Undefined until a request has been read, and where nobody traces anything. */
  trace: ExchangeTrace | undefined;
}

export function newRecord(id: string, startedAt: number): ExchangeRecord {
  return {
    id,
    startedAt,
    era: undefined,
    method: undefined,
    view: undefined,
    server: undefined,
    target: undefined,
    protocolVersion: undefined,
    clientInfo: undefined,
    httpStatus: undefined,
    outcome: undefined,
    reason: undefined,
    rule: undefined,
    isError: undefined,
    sessionKey: undefined,
    answerBytes: undefined,
    queueMs: undefined,
    upstreamMs: undefined,
    durationMs: undefined,
    address: undefined,
    traceContext: undefined,
    trace: undefined,
  };
}

/** Undefined where it is no part of a trace. */
export function traceIdOfRecord({ trace, traceContext }: ExchangeRecord): string | undefined {
  if (trace !== undefined) return trace.traceId;
  return traceContext && traceIdOf(traceContext);
}
