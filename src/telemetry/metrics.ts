// What Prometheus scrapes. Names follow OpenTelemetry's conventions for MCP where there is one. Every label comes
// from a closed set or from the configuration; what a client invents becomes `other`.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { FAILURES, type FailureCode } from '../errors.ts';
import { SUPPORTED_VERSIONS } from '../protocol/era.ts';
import type { ExchangeRecord } from './exchange-record.ts';
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

export function createMetrics({ processMetrics = true }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  if (processMetrics) collectDefaultMetrics({ register: registry });
  const registers = [registry];

  const exchanges = new Counter({
    name: 'portico_exchanges_total',
    help: 'Client requests by method, era and outcome (ok, error, cancelled, or a failure code)',
    labelNames: ['method', 'era', 'outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'mcp_server_operation_duration_seconds',
    help: 'From the headers of a client request to the last byte of its answer',
    labelNames: ['mcp_method_name', 'mcp_protocol_version', 'error_type'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const upstreamDurations = new Histogram({
    name: 'mcp_client_operation_duration_seconds',
    help: 'The part of it that a server took',
    labelNames: ['mcp_method_name', 'server', 'error_type'],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const toolCalls = new Counter({
    name: 'portico_tool_calls_total',
    help: 'Tool calls by server, tool and outcome',
    labelNames: ['server', 'tool', 'outcome'],
    registers,
  });
  const refusals = new Counter({
    name: 'portico_refusals_total',
    help: 'Requests that Portico itself refused, by failure code and finer reason',
    labelNames: ['code', 'reason'],
    registers,
  });

  const boundExchanges = bound((method, era, outcome) => exchanges.labels(method, era, outcome));
  const boundDurations = bound((method, version, errorType) => durations.labels(method, version, errorType));
  const boundUpstream = bound((method, server, errorType) =>
    upstreamDurations.labels(method, server, errorType),
  );
  const boundToolCalls = bound((server, tool, outcome) => toolCalls.labels(server, tool, outcome));
  const boundRefusals = bound((code, reason) => refusals.labels(code, reason));
  const toolNames = new Map<string, Set<string>>();
  const reasons = new Set<string>();

  function observeExchange(record: ExchangeRecord): void {
    const { method, server, outcome = 'cancelled', durationMs, upstreamMs } = record;
    boundExchanges(method ?? 'none', record.era ?? 'unknown', outcome).inc();
    if (isFailure(outcome)) countRefusal(outcome, record.reason);
    if (method === undefined) return;
    const errorType = errorTypeOf(record, outcome);
    if (durationMs !== undefined && isTimed(method)) {
      boundDurations(method, versionLabel(record), errorType).observe(durationMs / 1000);
    }
    if (server === undefined) return;
    if (upstreamMs !== undefined) boundUpstream(method, server, errorType).observe(upstreamMs / 1000);
    if (method === 'tools/call') boundToolCalls(server, toolLabel(server, record), outcome).inc();
  }

  function countRefusal(code: FailureCode, reason?: string): void {
    boundRefusals(code, admitted(reasons, reason ?? '', MAX_REASONS)).inc();
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
    histogram: (name, help, labelNames = []) =>
      new Histogram({ name, help, labelNames, registers, buckets: DURATION_BUCKETS }),
    expose: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

/** Binds each combination of labels once: looking them up anew costs more than counting. */
function bound<T>(bind: (...labels: string[]) => T): (...labels: string[]) => T {
  const known = new Map<string, T>();
  return (...labels) => {
    const key = labels.join('\n');
    const child = known.get(key) ?? bind(...labels);
    known.set(key, child);
    return child;
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
