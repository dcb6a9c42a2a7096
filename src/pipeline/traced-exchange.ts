// An exchange joins the trace that its request speaks of: in `_meta`, which goes with the message, else in the headers.
import type { ClientRequest } from '../protocol/client-message.ts';
import { isJsonObject } from '../protocol/json-text.ts';
import { methodLabel } from '../protocol/methods.ts';
import { mergeTraceContexts, readTraceContext, type TraceContext } from '../protocol/trace-context.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import { passedTrace } from '../telemetry/exchange-trace.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayContext } from './gateway-context.ts';

export function beginTrace(
  { tracing }: GatewayContext,
  { record, forwarded }: Pick<Exchange, 'record' | 'forwarded'>,
  { method, params }: ClientRequest,
): void {
  const meta = params?._meta;
  const ofMessage = isJsonObject(meta) ? readTraceContext(meta) : undefined;
  // The replica that hands a message over has read it, and its own span comes in between.
  const context =
    forwarded === undefined
      ? mergeTraceContexts(ofMessage, record.traceContext)
      : (record.traceContext ?? ofMessage);
  const part = forwarded === undefined ? 'whole' : 'handed-over';
  record.traceContext = context;
  record.method ??= methodLabel(method);
  record.trace = tracing === undefined ? passedTrace(context) : tracing.begin(record, context, part);
}

/** What another replica is told that goes on with an exchange, also with one that is no request. */
export function handedTrace({ tracing }: GatewayContext, record: ExchangeRecord): TraceContext | undefined {
  record.trace ??= tracing?.begin(record, record.traceContext, 'whole');
  return record.trace === undefined ? record.traceContext : record.trace.context;
}

/** Runs a step of the line, as a part of the trace. */
export function tracedStep<T>({ trace }: ExchangeRecord, name: 'access' | 'limit', run: () => T): T {
  return trace === undefined ? run() : trace.step(name, run);
}
