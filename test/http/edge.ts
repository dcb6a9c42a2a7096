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
import { gatewayConfig } from '../support/gateway-config.ts';

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
  return gatewayConfig({
    publicUrl: 'http://127.0.0.1:8080',
    bodyLimitBytes: 1024 * 1024,
    maxBufferedBytes: 64 * 1024 * 1024,
    ...overrides,
  });
}

/** A POST as MCP clients send it, through fetch. */
export function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } });
}
