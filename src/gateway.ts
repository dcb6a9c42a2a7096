// The composition root: makes everything, wires it, and ends it in reverse order.
import { createAccessPolicy } from './access/access-policy.ts';
import { createAuthenticator } from './access/authenticator.ts';
import { Limits } from './access/limits.ts';
import { LegacySessions } from './bridge/legacy-sessions.ts';
import { LinkHubs } from './bridge/link-hub.ts';
import { LogLanes } from './bridge/log-lane.ts';
import { ParkedCalls } from './bridge/parked-calls.ts';
import { RetryPasses } from './bridge/retry-passes.ts';
import { SealedState } from './bridge/sealed-state.ts';
import { isLoopbackHost } from './config/addresses.ts';
import type { Config } from './config/config.ts';
import { ServerCatalogue } from './federation/server-catalogue.ts';
import { type AdminServer, createAdminServer } from './http/admin-server.ts';
import { createPublicServer, type PublicServer } from './http/server.ts';
import type { GatewayContext } from './pipeline/gateway-context.ts';
import { handleExchange } from './pipeline/handle-exchange.ts';
import { createFetchJson } from './servers/http/fetch-json.ts';
import { createOutbound } from './servers/http/outbound.ts';
import { transportOpener } from './servers/open-transport.ts';
import type { ClientIdentity } from './servers/peer.ts';
import { Server } from './servers/server.ts';
import { createStore } from './state/create-store.ts';
import { MemorySessionStore } from './state/memory-session-store.ts';
import { logExchange } from './telemetry/exchange-log.ts';
import { createLogger, type Logger } from './telemetry/logger.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { RefusalSampler } from './telemetry/refusal-sampler.ts';

export interface GatewayOptions {
  readonly config: Config;
  /** The version of Portico, told to servers. */
  readonly version: string;
  readonly logger?: Logger;
  /** How long a server's question that names no call waits for one, or for a stream, that it could go out on. */
  readonly questionPatienceMs?: number;
}

export interface Addresses {
  /** URLs of the MCP endpoint's listener. */
  readonly public: readonly string[];
  readonly admin: readonly string[];
}

export interface Gateway {
  /** Listens, then warms the servers up; a server that fails to start does not fail this. */
  start(): Promise<Addresses>;
  /** Drains and ends everything; idempotent, safe after a failed start. `hurry` cuts what is still running. */
  close(): Promise<void>;
  hurry(): void;
}

/** BRIDGE.md, B. */
const QUESTION_PATIENCE_MS = 5_000;

export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, version, logger: given, questionPatienceMs = QUESTION_PATIENCE_MS } = options;
  const logger = given ?? createLogger({ level: config.gateway.log.level, secrets: config.secrets });
  const metrics = createMetrics();
  const outbound = createOutbound(config.gateway.outbound);
  const authenticator = createAuthenticator({
    auth: config.gateway.auth,
    publicUrl: config.gateway.publicUrl,
    logger,
    fetchJson: createFetchJson(outbound),
    scopeImplies: config.gateway.access?.scopeImplies ?? {},
  });
  const identity: ClientIdentity = { name: 'portico', title: 'Portico', version };
  const openTransport = transportOpener({ outbound, logger });
  const servers = new Map(
    config.servers.map((server) => [
      server.slug,
      new Server({ config: server, identity, openTransport, logger }),
    ]),
  );
  const store = createStore(config.gateway, { logger, metrics });
  const fallbacks = metrics.counter(
    'portico_limit_fallbacks_total',
    'Requests whose limits were counted in this process because Redis did not answer',
  );
  const limits = new Limits({
    limits: config.gateway.limits,
    store,
    onFallback: () => fallbacks.inc(),
  });
  const state = new SealedState();
  const sessionLimits = config.gateway.sessions;
  const sessions = new LegacySessions(new MemorySessionStore(sessionLimits), {
    idleTimeoutMs: sessionLimits.idleTimeoutMs,
    replay: sessionLimits.replay,
    questionPatienceMs,
    state,
  });
  const ending = new AbortController();
  const hurrying = new AbortController();
  const catalogue = new ServerCatalogue();
  const context: GatewayContext = {
    config: config.gateway,
    access: createAccessPolicy({ hasAuth: config.gateway.auth !== undefined, access: config.gateway.access }),
    servers,
    catalogue,
    sessions,
    bridge: {
      state,
      lanes: new LogLanes(),
      hubs: new LinkHubs((link, method) => catalogue.noteListChanged(link, method), questionPatienceMs),
      parked: new ParkedCalls(config.gateway.parked),
    },
    limits,
    retries: new RetryPasses(state),
    logger,
    ending: ending.signal,
  };
  for (const server of servers.values()) {
    catalogue.follow(server);
    context.bridge.lanes.follow(server);
  }

  const refusals = new RefusalSampler();
  let listening = false;
  let inFlight = 0;
  let closing: Promise<void> | undefined;
  const publicServer = await createPublicServer({
    config: config.gateway,
    logger,
    signIn: authenticator,
    ipGuard: {
      guards: limits.guards,
      admitAddress: config.gateway.redis && ((arrival) => limits.admitAddress(arrival)),
    },
    async handleExchange(exchange) {
      inFlight += 1;
      try {
        await handleExchange(context, exchange);
      } finally {
        inFlight -= 1;
      }
    },
    isDraining: () => closing !== undefined,
    onRefused: (code) => metrics.countRefusal(code),
    onSettled(record) {
      metrics.observeExchange(record);
      const suppressed = refusals.admit(record);
      if (suppressed !== undefined) logExchange(logger, record, suppressed);
    },
  });
  watchState(metrics, context, publicServer);
  const adminServer = await adminServerFor(config, { logger, metrics, status, isReady });

  function status(): unknown {
    return {
      version,
      uptimeSeconds: Math.round(process.uptime()),
      draining: closing !== undefined,
      sessions: sessions.size,
      store: { kind: config.gateway.redis === undefined ? 'memory' : 'redis', available: store.available },
      servers: Object.fromEntries([...servers].map(([slug, server]) => [slug, server.status()])),
    };
  }

  function isReady(): { ready: boolean; reason?: string } {
    if (closing !== undefined) return { ready: false, reason: 'draining' };
    return listening ? { ready: true } : { ready: false, reason: 'starting' };
  }

  /** Readiness red, keep accepting for a while, stop accepting, let calls finish, end the rest (DESIGN 8). */
  async function drain(): Promise<void> {
    const { delayMs, graceMs } = config.gateway.drain;
    if (listening) await pause(delayMs, hurrying.signal);
    publicServer.stopAccepting();
    ending.abort();
    const until = performance.now() + graceMs;
    while (inFlight > 0 && performance.now() < until && !hurrying.signal.aborted)
      await pause(20, hurrying.signal);
  }

  async function close(): Promise<void> {
    await drain();
    context.bridge.parked.close();
    // Servers first: their calls in flight fail, each by its id, before the streams that would say so are gone.
    await Promise.all([...servers.values()].map((server) => server.close()));
    await sessions.close();
    await publicServer.close();
    authenticator.close();
    await adminServer?.close();
    await store.close();
    await outbound.close();
  }

  return {
    async start() {
      await store.open();
      const addresses = { public: await publicServer.listen(), admin: (await adminServer?.listen()) ?? [] };
      listening = true;
      shoutIfOpen(config, logger);
      authenticator.warmUp();
      // Warm up: a cold package runner needs its time now rather than in a user's first call. Failures are in the
      // log and in /status, and the next call tries again.
      for (const server of servers.values()) server.catalogueLink().catch(() => {});
      return addresses;
    },
    close() {
      closing ??= close();
      return closing;
    },
    hurry: () => hurrying.abort(),
  };
}

async function adminServerFor(
  config: Config,
  parts: Omit<Parameters<typeof createAdminServer>[0], 'config'>,
): Promise<AdminServer | undefined> {
  const { admin } = config.gateway;
  return admin === undefined ? undefined : createAdminServer({ config: admin, ...parts });
}

/** At every start, so that nobody forgets it. */
function shoutIfOpen({ gateway: { auth, listen, publicUrl } }: Config, logger: Logger): void {
  // A public URL before a loopback address means a proxy on this machine.
  if (auth !== undefined || [listen.host, new URL(publicUrl).hostname].every(isLoopbackHost)) return;
  logger.warn(
    { host: listen.host, publicUrl },
    'INSECURE: whoever reaches this address uses every server without sign-in',
  );
}

/** What is asked of others at each scrape. */
function watchState(
  metrics: Metrics,
  { servers, sessions, bridge }: GatewayContext,
  edge: PublicServer,
): void {
  metrics.watch({
    name: 'portico_links',
    help: 'Open links by server',
    labelNames: ['server'],
    *read() {
      for (const [slug, server] of servers) yield { labels: { server: slug }, value: server.openLinks };
    },
  });
  metrics.watch({ name: 'portico_sessions', help: 'Open legacy sessions', read: () => sessions.size });
  metrics.watch({
    name: 'portico_parked_calls',
    help: 'Calls that wait for an answer of their client',
    read: () => bridge.parked.parked,
  });
  metrics.watch({
    name: 'portico_open_replies',
    help: 'Answers not ended yet',
    read: () => edge.openReplies,
  });
  metrics.watch({ name: 'portico_open_streams', help: 'Open event streams', read: () => edge.openStreams });
  metrics.watch({
    name: 'portico_buffered_bytes',
    help: 'Bytes held for all exchanges; gateway.maxBuffered bounds them',
    read: () => edge.bufferedBytes,
  });
}

function pause(durationMs: number, cut: AbortSignal): Promise<void> {
  if (durationMs <= 0 || cut.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      cut.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    cut.addEventListener('abort', done, { once: true });
  });
}
