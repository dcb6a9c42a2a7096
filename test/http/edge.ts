// The public server on a real socket, with a stand-in for the pipeline behind it.
import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import type { GatewayConfig } from '../../src/config/config.ts';
import type { FailureCode } from '../../src/errors.ts';
import type { HttpTiming } from '../../src/http/http-timing.ts';
import type { IpGuardOptions } from '../../src/http/ip-guard.ts';
import { createPublicServer, type PublicServer } from '../../src/http/server.ts';
import type { SignIn } from '../../src/http/sign-in.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import type { ExchangeRecord } from '../../src/telemetry/exchange-record.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

export interface EdgeOptions {
  /** In place of the pipeline; without one, every request is answered with what arrived. */
  handle?(exchange: Exchange): Promise<void> | void;
  readonly config?: Partial<GatewayConfig>;
  readonly signIn?: SignIn;
  readonly ipGuard?: IpGuardOptions;
  isDraining?(): boolean;
  readonly timing?: Partial<HttpTiming>;
}

export interface Edge {
  readonly server: PublicServer;
  /** The first of them. */
  readonly url: string;
  readonly urls: readonly string[];
  readonly port: number;
  /** Every log line written so far. */
  readonly logLines: readonly string[];
  readonly settled: readonly ExchangeRecord[];
  readonly refused: readonly FailureCode[];
  /** The next record to be settled. */
  nextSettled(): Promise<ExchangeRecord>;
}

export async function startEdge(t: TestContext, options: EdgeOptions = {}): Promise<Edge> {
  const logLines: string[] = [];
  const settled: ExchangeRecord[] = [];
  const refused: FailureCode[] = [];
  const events = new EventEmitter();
  const handle = options.handle ?? answerWithWhatArrived;
  const server = await createPublicServer({
    config: edgeConfig(options.config),
    logger: createLogger({
      level: 'trace',
      secrets: [],
      destination: { write: (line) => logLines.push(line) },
    }),
    handleExchange: async (exchange) => handle(exchange),
    onSettled: (record) => {
      settled.push(record);
      events.emit('settled', record);
    },
    onRefused: (code) => refused.push(code),
    ...(options.signIn && { signIn: options.signIn }),
    ...(options.ipGuard && { ipGuard: options.ipGuard }),
    isDraining: () => options.isDraining?.() ?? false,
    timing: { closeFlushMs: 50, ...options.timing },
  });
  t.after(() => server.close());
  const urls = await server.listen();
  const [url = ''] = urls;
  return {
    server,
    url,
    urls,
    port: Number(new URL(url).port),
    logLines,
    settled,
    refused,
    nextSettled: async () => (await once(events, 'settled'))[0] as ExchangeRecord,
  };
}

function answerWithWhatArrived({ reply, body, view, httpMethod }: Exchange): void {
  reply.respond('1', { result: { view: view ?? '', httpMethod, bytes: body.length } });
}

export function edgeConfig(overrides: Partial<GatewayConfig> = {}): GatewayConfig {
  return {
    listen: { host: '127.0.0.1', port: 0, tls: undefined },
    admin: undefined,
    publicUrl: 'http://127.0.0.1:8080',
    insecure: false,
    auth: undefined,
    access: undefined,
    limits: [],
    streams: { maxPerPrincipal: 100 },
    processes: { max: 100, maxPerPrincipal: 100 },
    redis: undefined,
    replica: undefined,
    audit: undefined,
    trustedProxies: [],
    origins: [],
    hosts: [],
    bodyLimitBytes: 1024 * 1024,
    maxBufferedBytes: 64 * 1024 * 1024,
    sessions: {
      idleTimeoutMs: 60_000,
      maxAgeMs: 60_000,
      max: 10,
      maxPerPrincipal: 10,
      replay: { bytes: 1024, forMs: 1000 },
    },
    parked: { timeoutMs: 1000, max: 10, maxPerPrincipal: 10 },
    names: 'auto',
    pins: undefined,
    lists: { timeoutMs: 1000, staleForMs: 300_000, ttlMs: 1000 },
    toolsets: {},
    outbound: { proxy: undefined, noProxy: [], ca: undefined },
    drain: { delayMs: 0, graceMs: 1000 },
    log: { level: 'info' },
    ...overrides,
  };
}

/** A POST as MCP clients send it, through fetch. */
export function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } });
}
