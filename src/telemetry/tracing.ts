// Spans through OpenTelemetry's API, named by its conventions for MCP, where the operator has loaded an SDK; docs/tracing.md.
// No span holds a URI's query, an argument, a token, a session id or a request id.
import {
  type Attributes,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { toGatewayError } from '../errors.ts';
import type { JsonRpcOutcome } from '../protocol/json-rpc.ts';
import { parseTraceParent, type TraceContext } from '../protocol/trace-context.ts';
import type { ExchangeRecord } from './exchange-record.ts';
import type { ExchangeTrace, ServerCallTrace, TracedCall, TracedExchange } from './exchange-trace.ts';
import { loggableTarget } from './loggable-target.ts';

export interface Tracing {
  /** @param parent what the client said of its trace, or the replica that has handed the exchange over */
  begin(exchange: TracedExchange, parent: TraceContext | undefined, part: ExchangePart): ExchangeTrace;
}

/** handed-over: what this replica does of an exchange that is another's, which has counted it. */
export type ExchangePart = 'whole' | 'handed-over';

/** Undefined where no SDK has been loaded: then nothing is made for an exchange. */
export function createTracing(version: string): Tracing | undefined {
  const tracer = loadedTracer(trace.getTracerProvider(), version);
  if (tracer === undefined) return undefined;
  return {
    begin(exchange, parent, part) {
      const startTime = Date.now() - (performance.now() - exchange.startedAt);
      const method = exchange.method ?? UNREAD;
      const kind = part === 'whole' ? SpanKind.SERVER : SpanKind.INTERNAL;
      const options = { kind, startTime, attributes: { 'mcp.method.name': method } };
      const span = tracer.startSpan(part === 'whole' ? method : HANDED_OVER, options, contextOf(parent));
      return new SpanTrace(tracer, { span, part, baggage: parent?.baggage });
    },
  };
}

/** Ends the span of an exchange; one that was refused before it was read has one all the same. */
export function endTrace(tracing: Tracing | undefined, record: ExchangeRecord, part: ExchangePart): void {
  const { traceContext, trace: begun } = record;
  (begun ?? tracing?.begin(record, traceContext, part))?.end(record);
}

/** The API's own provider stands in for the SDK's, and says by this method whether there is one. */
interface StandIn extends TracerProvider {
  getDelegateTracer(name: string, version?: string): Tracer | undefined;
}

function loadedTracer(provider: TracerProvider, version: string): Tracer | undefined {
  return 'getDelegateTracer' in provider
    ? (provider as StandIn).getDelegateTracer('portico', version)
    : provider.getTracer('portico', version);
}

function contextOf(said: TraceContext | undefined) {
  const parent = said?.traceparent === undefined ? undefined : parseTraceParent(said.traceparent);
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, flags: traceFlags } = parent;
  const traceState = said?.tracestate === undefined ? undefined : createTraceState(said.tracestate);
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags,
    isRemote: true,
    ...(traceState === undefined ? {} : { traceState }),
  });
}

class SpanTrace implements ExchangeTrace {
  readonly traceId: string;
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #part: ExchangePart;
  readonly #baggage: string | undefined;

  constructor(
    tracer: Tracer,
    { span, part, baggage }: { span: Span; part: ExchangePart; baggage: string | undefined },
  ) {
    this.traceId = span.spanContext().traceId;
    this.#tracer = tracer;
    this.#span = span;
    this.#part = part;
    this.#baggage = baggage;
  }

  get context(): TraceContext {
    return this.#contextOf(this.#span);
  }

  step<T>(name: 'access' | 'limit', run: () => T): T {
    const span = this.#child(`portico.${name}`, SpanKind.INTERNAL, {});
    let result: T;
    try {
      result = run();
    } catch (thrown) {
      endFailed(span, toGatewayError(thrown).code);
      throw thrown;
    }
    if (result instanceof Promise) {
      void result.then(
        () => span.end(),
        (thrown: unknown) => endFailed(span, toGatewayError(thrown).code),
      );
    } else {
      span.end();
    }
    return result;
  }

  callServer({ server, method, target, protocolVersion, url }: TracedCall): ServerCallTrace {
    const span = this.#child(spanName(method, target), SpanKind.CLIENT, {
      'mcp.method.name': method,
      'mcp.protocol.version': protocolVersion,
      'portico.server': server,
      ...targetAttributes(method, target),
      ...networkAttributes(url),
    });
    return {
      context: this.#contextOf(span),
      settle(outcome) {
        const failure = failureOf(outcome);
        if ('error' in outcome) span.setAttribute('rpc.response.status_code', String(outcome.error.code));
        if (failure === undefined) span.end();
        else endFailed(span, failure);
      },
      fail: (thrown) => endFailed(span, toGatewayError(thrown).code),
    };
  }

  end(record: TracedExchange): void {
    const { method = UNREAD, target, outcome = 'cancelled' } = record;
    // A name that nobody has would be a name of a span as often as somebody invents one.
    const isKnown = outcome === 'ok' || outcome === 'error';
    if (this.#part === 'whole') this.#span.updateName(isKnown ? spanName(method, target) : method);
    this.#span.setAttributes({
      'mcp.method.name': method,
      ...targetAttributes(method, target),
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'portico.outcome': outcome,
      ...defined({
        'mcp.protocol.version': record.protocolVersion,
        'http.response.status_code': record.httpStatus,
        'portico.view': record.view,
        'portico.server': record.server,
        'portico.reason': record.reason,
        'portico.rule': record.rule,
      }),
    });
    const failure = outcome === 'ok' ? record.isError && TOOL_ERROR : outcome;
    if (failure) endFailed(this.#span, failure);
    else this.#span.end();
  }

  #contextOf(span: Span): TraceContext {
    return { ...sayingOf(span), ...(this.#baggage === undefined ? {} : { baggage: this.#baggage }) };
  }

  #child(name: string, kind: SpanKind, attributes: Attributes): Span {
    return this.#tracer.startSpan(name, { kind, attributes }, trace.setSpan(ROOT_CONTEXT, this.#span));
  }
}

/** In place of the method of a request that was refused before it was read. */
const UNREAD = 'none';
/** Its exchange has the name of what was asked. */
const HANDED_OVER = 'portico.forwarded';
/** OpenTelemetry's word for a tool that says itself that it failed. */
const TOOL_ERROR = 'tool_error';

/** Somebody who leaves has not met with an error. */
function endFailed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType);
  if (errorType !== 'cancelled') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function failureOf(outcome: JsonRpcOutcome): string | undefined {
  if ('error' in outcome) return String(outcome.error.code);
  return outcome.result.isError === true ? TOOL_ERROR : undefined;
}

/** Few names: those of tools and prompts, while URIs are without end. */
function spanName(method: string, target: string | undefined): string {
  const isNamed = method === 'tools/call' || method === 'prompts/get';
  return isNamed && target !== undefined ? `${method} ${loggableTarget(target)}` : method;
}

function targetAttributes(method: string, target: string | undefined): Attributes {
  if (target === undefined) return {};
  const said = loggableTarget(target);
  switch (method) {
    case 'tools/call':
      return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': said };
    case 'prompts/get':
      return { 'gen_ai.prompt.name': said };
    case 'resources/read':
      return { 'mcp.resource.uri': said };
    default:
      return {};
  }
}

function networkAttributes(url: string | undefined): Attributes {
  if (url === undefined) return { 'network.transport': 'pipe' };
  const { protocol, hostname, port } = new URL(url);
  return {
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'server.address': hostname,
    'server.port': port === '' ? DEFAULT_PORTS[protocol] : Number(port),
  };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** The span as a parent of what the server makes of it. */
function sayingOf(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  const tracestate = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    ...(tracestate === undefined || tracestate === '' ? {} : { tracestate }),
  };
}

function defined(attributes: Readonly<Record<string, string | number | undefined>>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
