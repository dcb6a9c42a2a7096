// The trace that an exchange belongs to. Without an OpenTelemetry SDK it is what the client said of it, handed on as it
// came; with one, spans of ours stand in between (tracing.ts).
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { parseTraceParent, type TraceContext } from '../protocol/trace-context.ts';

export interface ExchangeTrace {
  /** 32 digits; undefined where the client has baggage alone. */
  readonly traceId: string | undefined;
  /** What a replica is told that goes on with the exchange. */
  readonly context: TraceContext | undefined;
  /** Runs a step of the line. */
  step<T>(name: 'access' | 'limit', run: () => T): T;
  /** Begins a request to a server. */
  callServer(call: TracedCall): ServerCallTrace;
  /** Nothing more comes of the exchange. */
  end(exchange: TracedExchange): void;
}

/** What of an exchange's record is to be seen in its span. */
export interface TracedExchange {
  /** `performance.now()` when the request's headers had been read. */
  readonly startedAt: number;
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly view: string | undefined;
  readonly server: string | undefined;
  readonly protocolVersion: string | undefined;
  readonly httpStatus: number | undefined;
  readonly outcome: string | undefined;
  readonly reason: string | undefined;
  readonly rule: string | undefined;
  readonly isError: boolean | undefined;
}

export interface TracedCall {
  /** Slug of the server. */
  readonly server: string;
  readonly method: string;
  /** The tool, prompt or URI, in the server's own words. */
  readonly target: string | undefined;
  /** The revision that the server speaks. */
  readonly protocolVersion: string;
  /** Where it is, where that is a network address; undefined for a child process. */
  readonly url: string | undefined;
}

export interface ServerCallTrace {
  /** What the server is told. */
  readonly context: TraceContext | undefined;
  settle(outcome: JsonRpcOutcome): void;
  fail(thrown: unknown): void;
}

/** The client's own trace; undefined where it said nothing. */
export function passedTrace(context: TraceContext | undefined): ExchangeTrace | undefined {
  if (context === undefined) return undefined;
  const call: ServerCallTrace = { context, settle() {}, fail() {} };
  return {
    traceId: traceIdOf(context),
    context,
    step: (_name, run) => run(),
    callServer: () => call,
    end() {},
  };
}

export function traceIdOf({ traceparent }: TraceContext): string | undefined {
  return traceparent === undefined ? undefined : parseTraceParent(traceparent)?.traceId;
}
