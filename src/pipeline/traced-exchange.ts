// An exchange joins the trace that its request speaks of: in `_meta`, which goes with the message, else in the headers.
import type { ClientRequest } from '../protocol/client-message.ts';
import { isJsonObject } from '../protocol/json-text.ts';
import { methodLabel } from '../protocol/methods.ts';
import { mergeTraceContexts, readTraceContext } from '../protocol/trace-context.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import { passedTrace } from '../telemetry/exchange-trace.ts';
import type { GatewayContext } from './gateway-context.ts';

export function beginTrace(
  { tracing }: GatewayContext,
  record: ExchangeRecord,
  { method, params }: ClientRequest,
): void {
  const meta = params?._meta;
  const ofMessage = isJsonObject(meta) ? readTraceContext(meta) : undefined;
  const context = mergeTraceContexts(ofMessage, record.traceContext);
  record.traceContext = context;
  record.method ??= methodLabel(method);
  record.trace = tracing === undefined ? passedTrace(context) : tracing.begin(record, context);
}

/** Runs a step of the line, as a part of the trace. */
export function tracedStep<T>({ trace }: ExchangeRecord, name: 'access' | 'limit', run: () => T): T {
  return trace === undefined ? run() : trace.step(name, run);
}
