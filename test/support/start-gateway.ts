// A gateway in the test's own process, on free ports, made of plain config objects. Its end is held to what must
// always be true: no child, no socket and no timer of it is left, and it has told no secret.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AccessConfig } from '../../src/config/access-config.ts';
import type {
  GatewayConfig,
  HttpServerConfig,
  ServerConfig,
  StdioServerConfig,
} from '../../src/config/config.ts';
import { createGateway, type GatewayOptions } from '../../src/gateway.ts';
import type { ReloadOutcome, ReloadStatus } from '../../src/lifecycle/reloads.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { httpServerConfig } from './http-server-config.ts';
import { type LiveHandles, watchHandles } from './live-handles.ts';
import { processesIn } from './process-tree.ts';
import { faultyConfig } from './stdio-rig.ts';

export interface StartOptions {
  /** The faulty stdio server with these switches, and what else differs in its config. */
  readonly stdio?: { readonly switches?: readonly string[] } & Partial<StdioServerConfig>;
  /** A server over HTTP at this URL, and what else differs in its config. */
  readonly http?: { readonly url: string } & Partial<HttpServerConfig>;
  /** Any servers, in place of the two above; a child's `cwd` is always a folder of the gateway's own. */
  readonly servers?: readonly ServerConfig[];
  readonly gateway?: Partial<GatewayConfig>;
  readonly overrides?: Omit<GatewayOptions, 'config' | 'version' | 'logger'>;
  readonly secrets?: readonly string[];
}

export type LogLine = Readonly<Record<string, unknown>>;

export interface StartedGateway extends AsyncDisposable {
  /** The endpoint of all servers, `http://127.0.0.1:port/mcp`. */
  readonly url: string;
  readonly adminUrl: string;
  readonly logs: readonly LogLine[];
  /** The log line that satisfies `isIt`, be it there already or still to come. */
  logged(isIt: (line: LogLine) => boolean): Promise<LogLine>;
  /** The pids of all children, grandchildren included, that are alive. */
  children(): number[];
  status(): Promise<StatusReport>;
  /** Reloads with these in place of what it was started, or last reloaded, with. */
  reload(changes: Pick<StartOptions, 'servers' | 'gateway' | 'stdio' | 'http'>): Promise<ReloadOutcome>;
  hurry(): void;
  /** Idempotent. Rejects where something is left. */
  close(): Promise<void>;
}

export interface StatusReport {
  readonly sessions: number;
  readonly config: ReloadStatus;
  readonly store: { readonly kind: string; readonly available: boolean };
  readonly servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Whoever signs in; a test that is about access says so. */
const EVERYTHING_FOR_EVERYONE: AccessConfig = {
  rules: [
    {
      name: 'everyone',
      when: { groups: [], scopes: [], subjects: [], clients: [], issuers: [] },
      allow: ['*'],
      deny: [],
      if: undefined,
    },
  ],
  scopes: {},
  scopeImplies: {},
};

const GONE_WITHIN_MS = 3_000;

export async function startGateway({
  gateway = {},
  secrets = [],
  ...options
}: StartOptions): Promise<StartedGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'));
  const handles = watchHandles();
  const lines: LogLine[] = [];
  const grew = new EventTarget();
  const write = (line: string): void => {
    lines.push(JSON.parse(line) as LogLine);
    grew.dispatchEvent(new Event('line'));
  };
  let wanted: StartOptions = { ...options, gateway };
  const configNow = () => ({
    servers: serversOf(wanted, folder),
    gateway: gatewayConfig(wanted.gateway ?? {}),
    secrets,
  });
  const budget = new BufferBudget(configNow().gateway.maxBufferedBytes);
  const running = await createGateway({
    config: configNow(),
    budget,
    version: '0.0.0-test',
    logger: createLogger({ level: 'debug', secrets, destination: { write } }),
    ...options.overrides,
  });
  const addresses = await running.start().catch(async (thrown: unknown) => {
    handles.stop();
    await running.close();
    throw thrown;
  });
  const [url = ''] = addresses.public;
  const [adminUrl = ''] = addresses.admin;

  async function end(): Promise<void> {
    await running.close();
    try {
      await assertNothingLeft(folder, handles);
      assertNoSecret(lines, secrets);
      assert.equal(budget.usedBytes, 0, 'the gateway still counts bytes that it held');
    } finally {
      handles.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
  let ending: Promise<void> | undefined;
  const close = () => {
    ending ??= end();
    return ending;
  };

  return {
    url: `${url}/mcp`,
    adminUrl,
    logs: lines,
    logged: (isIt) => firstLine(lines, grew, isIt),
    children: () => processesIn(folder),
    status: async () => (await (await fetch(`${adminUrl}/status`)).json()) as StatusReport,
    reload(changes) {
      wanted = { ...wanted, ...changes, gateway: { ...wanted.gateway, ...changes.gateway } };
      return running.reload(async () => ({ ok: true, config: configNow(), warnings: [], files: [] }));
    },
    hurry: () => running.hurry(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function serversOf({ stdio, http, servers }: StartOptions, folder: string): ServerConfig[] {
  const { switches = [], ...changes } = stdio ?? {};
  const built = servers ?? [
    ...(stdio === undefined ? [] : [faultyConfig(switches, changes)]),
    ...(http === undefined ? [] : [httpServerConfig(http.url, http)]),
  ];
  return built.map((server) => (server.type === 'stdio' ? { ...server, cwd: folder } : server));
}

/** Limits far away, clocks short: what a test does not speak of must not get in its way. */
function gatewayConfig(changes: Partial<GatewayConfig>): GatewayConfig {
  const loopback = { host: '127.0.0.1', port: 0 };
  return {
    listen: { ...loopback, tls: undefined },
    admin: { ...loopback, hosts: [], token: undefined },
    publicUrl: 'http://127.0.0.1',
    insecure: false,
    auth: undefined,
    access: EVERYTHING_FOR_EVERYONE,
    limits: [],
    redis: undefined,
    replica: undefined,
    audit: undefined,
    trustedProxies: [],
    origins: [],
    hosts: [],
    bodyLimitBytes: 4 * 1024 * 1024,
    maxBufferedBytes: 512 * 1024 * 1024,
    sessions: {
      idleTimeoutMs: 60_000,
      maxAgeMs: 600_000,
      max: 1_000,
      maxPerPrincipal: 1_000,
      replay: { bytes: 1024 * 1024, forMs: 60_000 },
    },
    streams: { maxPerPrincipal: 1_000 },
    processes: { max: 1_000, maxPerPrincipal: 1_000 },
    parked: { timeoutMs: 60_000, max: 100, maxPerPrincipal: 100 },
    names: 'auto',
    pins: undefined,
    lists: { timeoutMs: 10_000, staleForMs: 300_000, ttlMs: 30_000 },
    toolsets: {},
    outbound: { proxy: undefined, noProxy: [], ca: undefined },
    drain: { delayMs: 0, graceMs: 500 },
    log: { level: 'debug' },
    ...changes,
  };
}

async function firstLine(
  lines: readonly LogLine[],
  grew: EventTarget,
  isIt: (line: LogLine) => boolean,
): Promise<LogLine> {
  for (;;) {
    const found = lines.find(isIt);
    if (found !== undefined) return found;
    await new Promise((resolve) => grew.addEventListener('line', resolve, { once: true }));
  }
}

async function assertNothingLeft(folder: string, handles: LiveHandles): Promise<void> {
  const until = performance.now() + GONE_WITHIN_MS;
  const left = () => [...processesIn(folder).map((pid) => `process ${pid}`), ...handles.remaining()];
  while (left().length > 0 && performance.now() < until) await delay(10);
  assert.deepEqual(left(), [], 'the gateway left something behind');
}

function assertNoSecret(lines: readonly LogLine[], secrets: readonly string[]): void {
  const text = JSON.stringify(lines);
  for (const secret of secrets) assert.ok(!text.includes(secret), 'the gateway logged a secret');
}
