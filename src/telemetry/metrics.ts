// What Prometheus scrapes. Names follow OpenTelemetry's conventions for MCP where there is one. Every label comes
// from a closed set or from the configuration; what a client invents becomes `other`.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { FAILURES, type FailureCode } from '../errors.ts';
import { SUPPORTED_VERSIONS } from '../protocol/era.ts';
import type { ExchangeRecord } from './exchange-record.ts';
import { LabelTree } from './label-tree.ts';
import { type CounterChild, type HistogramChild, PlainCounter, PlainHistogram } from './plain-metrics.ts';
import { isTimed } from './timed-methods.ts';

export interface MetricsOptions {
  /** CPU, memory, event loop and garbage collection of the process; on unless false. */
  readonly processMetrics?: boolean;
}

export interface GaugeReading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** A counter only ever grows while this process lives. Default: gauge. */
  readonly kind?: 'gauge' | 'counter';
  /** Asked at each scrape. */
  read(): number | Iterable<GaugeReading>;
}

export interface Metrics {
  /** Counts a settled exchange and its durations. */
  observeExchange(record: ExchangeRecord): void;
  /** Counts a request that ended before it became an exchange. */
  countRefusal(code: FailureCode): void;
  /** Adds a gauge whose value lives elsewhere: links, sessions, buffered bytes. */
  watch(gauge: GaugeOptions): void;
  /** A counter of this registry; bind its labels once with `labels()`. */
  counter(name: string, help: string, labelNames?: readonly string[]): Counter<string>;
  /** The same for what is counted with each call. */
  plainCounter(name: string, help: string, labelNames: readonly string[]): PlainCounter;
  /** A histogram of seconds, with the bounds of all others. */
  histogram(name: string, help: string, labelNames?: readonly string[]): Histogram<string>;
  /** The text of a scrape. */
  expose(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Bounds of OpenTelemetry's MCP conventions, in seconds. */
const DURATION_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const VERSIONS: ReadonlySet<string> = new Set(SUPPORTED_VERSIONS);
const MAX_TOOLS_PER_SERVER = 500;
const MAX_REASONS = 200;

interface ExchangeKind {
  readonly exchanges: CounterChild;
  readonly duration: HistogramChild | undefined;
  readonly upstream: HistogramChild | undefined;
  readonly toolCalls: CounterChild | undefined;
}

export function createMetrics({ processMetrics = true }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  if (processMetrics) collectDefaultMetrics({ register: registry });
  const registers = [registry];

  const exchanges = new PlainCounter({
    name: 'portico_exchanges_total',
    help: 'Client requests by method, era and outcome (ok, error, cancelled, or a failure code)',
    labelNames: ['method', 'era', 'outcome'],
    registry,
  });
  const durations = new PlainHistogram({
    name: 'mcp_server_operation_duration_seconds',
    help: 'From the headers of a client request to the last byte of its answer',
    labelNames: ['mcp_method_name', 'mcp_protocol_version', 'error_type'],
    bounds: DURATION_BUCKETS,
    registry,
  });
  const upstreamDurations = new PlainHistogram({
    name: 'mcp_client_operation_duration_seconds',
    help: 'The part of it that a server took',
    labelNames: ['mcp_method_name', 'server', 'error_type'],
    bounds: DURATION_BUCKETS,
    registry,
  });
  const toolCalls = new PlainCounter({
    name: 'portico_tool_calls_total',
    help: 'Tool calls by server, tool and outcome',
    labelNames: ['server', 'tool', 'outcome'],
    registry,
  });
  const refusals = new PlainCounter({
    name: 'portico_refusals_total',
    help: 'Requests that Portico itself refused, by failure code and finer reason',
    labelNames: ['code', 'reason'],
    registry,
  });
  /** What an exchange of this kind counts in, bound once: their labels are as many as kinds of exchanges. */
  const kinds = new LabelTree<ExchangeKind>();
  const toolNames = new Map<string, Set<string>>();
  const reasons = new Set<string>();

  function observeExchange(record: ExchangeRecord): void {
    const { outcome = 'cancelled', durationMs, upstreamMs } = record;
    if (isFailure(outcome)) countRefusal(outcome, record.reason);
    const kind = kindOf(record, outcome);
    kind.exchanges.inc();
    if (durationMs !== undefined) kind.duration?.observe(durationMs / 1000);
    if (upstreamMs !== undefined) kind.upstream?.observe(upstreamMs / 1000);
    kind.toolCalls?.inc();
  }

  function kindOf(record: ExchangeRecord, outcome: string): ExchangeKind {
    const { method = 'none', era = 'unknown', server = '' } = record;
    const version = versionLabel(record);
    const tool = record.method === 'tools/call' && server !== '' ? toolLabel(server, record) : '';
    const errorType = errorTypeOf(record, outcome);
    const place = kinds.at([method, era, version, server, tool, outcome, errorType]);
    if (place.value === undefined) {
      const isNamed = record.method !== undefined;
      const hasServer = isNamed && server !== '';
      place.value = {
        exchanges: exchanges.labels(method, era, outcome),
        duration: isNamed && isTimed(method) ? durations.labels(method, version, errorType) : undefined,
        upstream: hasServer ? upstreamDurations.labels(method, server, errorType) : undefined,
        toolCalls: tool === '' ? undefined : toolCalls.labels(server, tool, outcome),
      };
    }
    return place.value;
  }

  function countRefusal(code: FailureCode, reason?: string): void {
    refusals.labels(code, admitted(reasons, reason ?? '', MAX_REASONS)).inc();
  }

  /** Only a call that reached a tool names one: else anyone could use up the names with inventions. */
  function toolLabel(server: string, { target, outcome }: ExchangeRecord): string {
    if (target === undefined) return 'other';
    const names = toolNames.get(server) ?? new Set();
    toolNames.set(server, names);
    if (outcome === 'ok' || outcome === 'error') return admitted(names, target, MAX_TOOLS_PER_SERVER);
    return names.has(target) ? target : 'other';
  }

  return {
    observeExchange,
    countRefusal,
    watch({ name, help, labelNames = [], kind = 'gauge', read }) {
      const collect = () => {
        const reading = read();
        metric.reset();
        // Both count up from nothing.
        if (typeof reading === 'number') metric.inc(reading);
        else for (const { labels, value } of reading) metric.inc(labels, value);
      };
      const options = { name, help, labelNames, registers, collect };
      const metric = kind === 'gauge' ? new Gauge(options) : new Counter(options);
    },
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames, registers }),
    plainCounter: (name, help, labelNames) => new PlainCounter({ name, help, labelNames, registry }),
    histogram: (name, help, labelNames = []) =>
      new Histogram({ name, help, labelNames, registers, buckets: DURATION_BUCKETS }),
    expose: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

/** The value itself while the set has room for it. */
function admitted(known: Set<string>, value: string, max: number): string {
  if (known.has(value)) return value;
  if (known.size >= max) return 'other';
  known.add(value);
  return value;
}

/** OpenTelemetry has a word for a tool that says itself that it failed. */
function errorTypeOf({ isError }: ExchangeRecord, outcome: string): string {
  if (outcome !== 'ok') return outcome;
  return isError ? 'tool_error' : '';
}

/** Clients say what they like: what is no revision of ours is none. */
function versionLabel({ protocolVersion = '' }: ExchangeRecord): string {
  return VERSIONS.has(protocolVersion) ? protocolVersion : '';
}

function isFailure(outcome: string): outcome is FailureCode {
  return Object.hasOwn(FAILURES, outcome);
}
