// The composition root: makes everything, wires it, and ends it in reverse order.
import { isLoopbackHost } from './config/addresses.ts';
import type { Config } from './config/config.ts';
import { type AdminServer, createAdminServer } from './http/admin-server.ts';
import { createPublicServer } from './http/server.ts';
import { applyConfig, warmUp } from './lifecycle/apply-config.ts';
import { consoleDocuments } from './lifecycle/console-documents.ts';
import { type DefinedTools, definedTools } from './lifecycle/defined-tools.ts';
import { Editions } from './lifecycle/editions.ts';
import { createLastingParts } from './lifecycle/lasting-parts.ts';
import { pause } from './lifecycle/pause.ts';
import { type ReadConfig, type ReloadOutcome, Reloads } from './lifecycle/reloads.ts';
import { replicaListener } from './lifecycle/replica-listener.ts';
import { watchState } from './lifecycle/watch-state.ts';
import { TurnBatch } from './runtime/turn-batch.ts';
import type { BufferBudget } from './state/buffer-budget.ts';
import { exchangeLine, logExchange } from './telemetry/exchange-log.ts';
import type { ExchangeRecord } from './telemetry/exchange-record.ts';
import type { Logger } from './telemetry/logger.ts';
import { RefusalSampler } from './telemetry/refusal-sampler.ts';
import { endTrace } from './telemetry/tracing.ts';

export interface GatewayOptions {
  readonly config: Config;
  /** The version of Portico, told to servers. */
  readonly version: string;
  readonly logger?: Logger;
  /** How long a server's question that names no call waits for one, or for a stream, that it could go out on. */
  readonly questionPatienceMs?: number;
  /** What counts all bytes that are held; of its own, as large as the config says, unless given. */
  readonly budget?: BufferBudget;
}

export interface Addresses {
  /** URLs of the MCP endpoint's listener. */
  readonly public: readonly string[];
  readonly admin: readonly string[];
}

export interface Gateway {
  /** Listens, then warms the servers up; a server that fails to start does not fail this. */
  start(): Promise<Addresses>;
  /**
   * Puts what `read` gives in the place of the config that holds; one that is wrong changes nothing. One at a time:
   * whoever asks while one runs is served by the next. Never rejects; does nothing once the gateway is ending.
   */
  reload(read: ReadConfig): Promise<ReloadOutcome>;
  /**
   * The tools that a server defines, less those that the config does not let exist. Nothing need have been started.
   *
   * @throws GatewayError when the server cannot be asked
   */
  definedTools(server: string, signal: AbortSignal): Promise<DefinedTools>;
  /** Drains and ends everything; idempotent, safe after a failed start. `hurry` cuts what is still running. */
  close(): Promise<void>;
  hurry(): void;
}

/** Long enough for a session's client to open its stream; a question that nobody can hear should not hang. */
const QUESTION_PATIENCE_MS = 5_000;
/** For calls that have just failed to tell their clients, each by its id. */
const LAST_WORDS_MS = 1_000;

export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, version, logger: given, questionPatienceMs = QUESTION_PATIENCE_MS, budget } = options;
  const lasting = createLastingParts({ config, version, logger: given, questionPatienceMs, budget });
  const { logger, metrics, store, sessions, bridge, ending, hurrying, audit, tracing, replica } = lasting;
  const editions = new Editions(config, lasting);
  const refusals = new RefusalSampler();
  const settled = new TurnBatch<ExchangeRecord>(noteExchange);
  let listening = false;
  let closing: Promise<void> | undefined;

  const publicServer = await createPublicServer({
    ...editions.current.edge,
    logger,
    budget: lasting.budget,
    handleExchange: (exchange) => editions.current.handle(exchange),
    isDraining: () => closing !== undefined,
    onRefused: (code) => metrics.countRefusal(code),
    onSettled(record) {
      endTrace(tracing, record, 'whole');
      settled.add(record);
    },
  });
  watchState(lasting, editions, publicServer);
  const reloads = new Reloads({
    logger,
    metrics,
    isEnding: () => closing !== undefined,
    apply: (loaded) => applyConfig({ lasting, editions, edge: publicServer }, loaded),
  });
  const replicaServer = replicaListener(lasting, editions, () => closing !== undefined);
  lasting.replicas?.onEvent((event) => {
    if (event.kind === 'keys-changed') editions.current.authenticator.noteKeysChanged(event.issuer);
    if (event.kind === 'list-changed') lasting.news?.receive(event, () => editions.current.context.servers);
  });
  const documents = { '/status': status, ...consoleDocuments(lasting, editions) };
  const adminServer = await adminServerFor(config, {
    ...{ logger, metrics, documents, isReady },
    catchUp: () => settled.flush(),
  });

  function noteExchange(record: ExchangeRecord): void {
    metrics.observeExchange(record);
    lasting.traffic.note(record);
    audit?.auditor.noteDenial(record);
    const suppressed = refusals.admit(record);
    if (suppressed === undefined) return;
    const line = exchangeLine(record, suppressed);
    lasting.recent.note(line);
    logExchange(logger, line);
  }

  function status(): unknown {
    const { servers, shapes } = editions.current.context;
    return {
      version,
      uptimeSeconds: Math.round(process.uptime()),
      draining: closing !== undefined,
      config: reloads.status,
      sessions: sessions.size,
      audit: audit && { writable: audit.log.healthy, queued: audit.log.queued },
      store: { kind: config.gateway.redis === undefined ? 'memory' : 'redis', available: store.available },
      ...(replica === undefined ? {} : { replicas: replica.network.live }),
      servers: Object.fromEntries(
        [...servers].map(([slug, server]) => [
          slug,
          {
            ...server.status(),
            ...shapes.of(slug).findings.status(),
            missingLists: lasting.lists.statusOf(server),
          },
        ]),
      ),
      withheldNames: lasting.withheld.status(),
    };
  }

  function isReady(): { ready: boolean; reason?: string } {
    if (closing !== undefined) return { ready: false, reason: 'draining' };
    return listening ? { ready: true } : { ready: false, reason: 'starting' };
  }

  /** Readiness red, keep accepting for a while, stop accepting, let calls finish, end the rest. */
  async function drain(): Promise<void> {
    const { delayMs, graceMs } = editions.current.config.gateway.drain;
    if (listening) await pause(delayMs, hurrying.signal);
    publicServer.stopAccepting();
    void replica?.network.leave();
    await untilAnswered(graceMs, hurrying.signal);
    ending.abort();
    lasting.listens.endAll();
  }

  /** Until no exchange is left but subscriptions, which have no end of their own; or until time is up. */
  async function untilAnswered(timeoutMs: number, cut: AbortSignal): Promise<void> {
    const until = performance.now() + timeoutMs;
    const isBusy = () => editions.running > lasting.listens.size;
    while (isBusy() && performance.now() < until && !cut.aborted) await pause(20, cut);
  }

  async function close(): Promise<void> {
    await drain();
    bridge.parked.close();
    sessions.startHandOver();
    // Servers first: their calls in flight fail, each by its id, before the streams that would say so are gone.
    await editions.closeServers();
    await untilAnswered(LAST_WORDS_MS, new AbortController().signal);
    await sessions.close();
    await publicServer.close();
    settled.flush();
    lasting.news?.close();
    await replica?.network.close();
    await replicaServer?.close();
    await adminServer?.close();
    await lasting.guardian.close();
    await audit?.log.close();
    await store.close();
    await editions.close();
  }

  return {
    async start() {
      await store.open();
      await audit?.log.open();
      await replicaServer?.listen();
      await replica?.network.open();
      const addresses = { public: await publicServer.listen(), admin: (await adminServer?.listen()) ?? [] };
      listening = true;
      shoutIfOpen(config, logger);
      warmUp(editions.current);
      return addresses;
    },
    async definedTools(slug, signal) {
      const { servers, shapes, catalogue } = editions.current.context;
      const server = servers.get(slug);
      if (server === undefined) throw new Error(`there is no server ${slug}`);
      const { tools, ambiguous } = await definedTools(server, catalogue, signal);
      const isThere = (name: string) => shapes.of(slug).exists(name);
      return {
        tools: new Map([...tools].filter(([name]) => isThere(name))),
        ambiguous: ambiguous.filter(isThere),
      };
    },
    reload: (read) => reloads.request(read),
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
