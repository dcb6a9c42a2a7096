// What lives as long as the process: everything that a reload must not lose, such as sessions, parked calls, counters.

import type { LimitDecision } from '../access/limits/limits.ts';
import type { KeyFetchOutcome } from '../access/sign-in/issuer-keys.ts';
import { LinkHubs } from '../bridge/listening/link-hub.ts';
import { LogLanes } from '../bridge/listening/log-lane.ts';
import { ParkedCalls } from '../bridge/parking/parked-calls.ts';
import { RetryPasses } from '../bridge/parking/retry-passes.ts';
import { SealedState } from '../bridge/seals/sealed-state.ts';
import { LegacySessions } from '../bridge/sessions/legacy-sessions.ts';
import type { AuditConfig } from '../config/audit-config.ts';
import type { Config, GatewayConfig } from '../config/config.ts';
import { KnownLists } from '../federation/known-lists.ts';
import { ServerCatalogue } from '../federation/server-catalogue.ts';
import { WithheldNames } from '../federation/withheld-names.ts';
import type { GatewayContext } from '../pipeline/gateway-context.ts';
import { OpenListens } from '../pipeline/open-listens.ts';
import { OpenStreams } from '../pipeline/open-streams.ts';
import type { CredentialFailureLabels } from '../servers/credentials/credential-reports.ts';
import { ProcessPlaces } from '../servers/process-places.ts';
import { GroupUsages } from '../servers/stdio/group-usage.ts';
import { Guardian } from '../servers/stdio/guardian.ts';
import { BufferBudget } from '../state/buffer-budget.ts';
import { createSessionStore } from '../state/create-session-store.ts';
import { createStore } from '../state/create-store.ts';
import type { Store } from '../state/store.ts';
import { type AuditLog, createAuditLog } from '../telemetry/audit/audit-log.ts';
import { Auditor } from '../telemetry/audit/auditor.ts';
import { adjustLogger, createLogger, type Logger } from '../telemetry/logger.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { RecentExchanges } from '../telemetry/recent-exchanges.ts';
import { createRedact } from '../telemetry/redaction.ts';
import { createTracing } from '../telemetry/tracing.ts';
import { Traffic } from '../telemetry/traffic.ts';
import { ListNews } from './list-news.ts';
import { createReplicaParts, type ReplicaParts } from './replica-parts.ts';

export interface LastingOptions {
  /** The config of the start; what of it may change is applied by `applyConfig`. */
  readonly config: Config;
  readonly version: string;
  readonly logger: Logger | undefined;
  readonly questionPatienceMs: number;
  readonly budget: BufferBudget | undefined;
}

export interface LastingParts
  extends Pick<
    GatewayContext,
    | 'logger'
    | 'tracing'
    | 'catalogue'
    | 'lists'
    | 'withheld'
    | 'identity'
    | 'sessions'
    | 'listens'
    | 'streams'
    | 'bridge'
    | 'retries'
    | 'replicas'
  > {
  readonly metrics: Metrics;
  /** For whoever looks on. */
  readonly traffic: Traffic;
  readonly recent: RecentExchanges;
  readonly store: Store;
  /** Of the child processes of all servers. */
  readonly places: ProcessPlaces;
  readonly guardian: Guardian;
  /** Of all bytes that are held for clients and servers. */
  readonly budget: BufferBudget;
  readonly usages: GroupUsages;
  /** Aborted when the gateway drains. */
  readonly ending: AbortController;
  /** Aborted when it is to end without waiting any longer. */
  readonly hurrying: AbortController;
  /** Undefined where this is the only one. */
  readonly replica: ReplicaParts | undefined;
  /** Undefined where this is the only one. */
  readonly news: ListNews | undefined;
  /** Undefined where no record is kept. */
  readonly audit: { readonly log: AuditLog; readonly auditor: Auditor } | undefined;
  /** Counts a request whose limits were counted here because the store did not answer. */
  onLimitFallback(): void;
  onLimitDecision(limit: string, decision: LimitDecision): void;
  onKeyFetch(issuer: string, outcome: KeyFetchOutcome): void;
  /** Counts a failure to sign in to a server. */
  onCredentialFailure(labels: CredentialFailureLabels): void;
  /** What of another config concerns what lives on. */
  applyConfig(config: Config): void;
}

export function createLastingParts(options: LastingOptions): LastingParts {
  const { config, version, questionPatienceMs } = options;
  const { gateway } = config;
  const logger = options.logger ?? createLogger({ level: gateway.log.level, secrets: config.secrets });
  const metrics = createMetrics();
  const fallbacks = metrics.counter(
    'portico_limit_fallbacks_total',
    'Requests whose limits were counted in this process because Redis did not answer',
  );
  const decisions = metrics.plainCounter(
    'portico_limit_decisions_total',
    'Times that a limit was taken from, or refused a request',
    ['limit', 'decision'],
  );
  const keyFetches = metrics.counter('portico_key_fetches_total', 'Attempts to fetch the keys of an issuer', [
    'issuer',
    'outcome',
  ]);
  /** From nothing on, as a rate sees only what grew. */
  const expectKeyFetches = ({ auth }: GatewayConfig) => {
    for (const { issuer } of auth?.issuers ?? []) {
      for (const outcome of ['ok', 'failed']) keyFetches.inc({ issuer, outcome }, 0);
    }
  };
  expectKeyFetches(gateway);
  const credentialFailures = metrics.counter(
    'portico_credential_failures_total',
    'Failures to sign in to a server, by server, kind of credential and reason',
    ['server', 'type', 'reason'],
  );
  const traffic = new Traffic();
  const budget = options.budget ?? new BufferBudget(gateway.maxBufferedBytes);
  const store = createStore(gateway, { logger, metrics });
  const replica = createReplicaParts({ config, store, budget, logger, metrics });
  const replicas = replica?.network;
  const state = new SealedState(replica?.keys.seal);
  const limits = gateway.sessions;
  const sessionStore = createSessionStore({
    ...{ store, limits, metrics },
    replica: replica && { id: replica.network.id, macKey: replica.keys.record },
  });
  const sessions = new LegacySessions(sessionStore, {
    ...sessionLimits(gateway),
    questionPatienceMs,
    state,
    budget,
    replicas,
  });
  replicas?.onEvent((event) => {
    if (event.kind === 'session-ended') sessions.noteEnded(event.key);
    if (event.kind === 'session-moved') sessions.noteMoved(event.key);
  });
  const catalogue = new ServerCatalogue();
  catalogue.onListChanged((server, method, person) => sessions.tellListChanged(server, method, person));
  const parked = new ParkedCalls(gateway.parked, replicas?.id);
  const places = new ProcessPlaces(gateway.processes);
  const hubs = new LinkHubs((link, method) => catalogue.noteListChanged(link, method), questionPatienceMs);
  const news = replicas && new ListNews({ replicas, catalogue, hubs });
  return {
    logger,
    metrics,
    traffic,
    recent: new RecentExchanges(),
    tracing: createTracing(version),
    identity: { name: 'portico', title: 'Portico', version },
    store,
    audit: gateway.audit && createAudit(gateway.audit, { version, logger, metrics, secrets: config.secrets }),
    places,
    guardian: new Guardian(logger),
    budget,
    usages: new GroupUsages(),
    sessions,
    listens: new OpenListens(),
    streams: new OpenStreams(),
    catalogue,
    lists: new KnownLists({
      ...{ catalogue, logger, metrics },
      onReturn: (server, method, person) => news?.publish({ server: server.slug, method, person }),
    }),
    withheld: new WithheldNames(logger),
    bridge: {
      state,
      lanes: new LogLanes(),
      hubs,
      parked,
    },
    retries: new RetryPasses({ state, shared: replica && store }),
    replicas,
    replica,
    news,
    ending: new AbortController(),
    hurrying: new AbortController(),
    onLimitFallback: () => fallbacks.inc(),
    onLimitDecision: (limit, decision) => decisions.labels(limit, decision).inc(),
    onKeyFetch: (issuer, outcome) => keyFetches.inc({ issuer, outcome }),
    onCredentialFailure: (labels) => credentialFailures.inc({ ...labels }),
    applyConfig(next) {
      const { servers, gateway: changed, secrets } = next;
      traffic.keepOnly(new Set(servers.map(({ slug }) => slug)));
      adjustLogger(logger, { level: changed.log.level, secrets });
      sessionStore.applyLimits(changed.sessions);
      sessions.applyLimits(sessionLimits(changed));
      parked.applyLimits(changed.parked);
      places.applyCaps(changed.processes);
      replica?.applyConfig(next);
      expectKeyFetches(changed);
    },
  };
}

function sessionLimits({ sessions: { idleTimeoutMs, replay } }: GatewayConfig) {
  return { idleTimeoutMs, replay };
}

function createAudit(
  config: AuditConfig,
  {
    version,
    logger,
    metrics,
    secrets,
  }: { version: string; logger: Logger; metrics: Metrics; secrets: readonly string[] },
): { log: AuditLog; auditor: Auditor } {
  const dropped = metrics.counter(
    'portico_audit_dropped_total',
    'Audit records that found no place in the queue',
  );
  const log = createAuditLog({
    config,
    version,
    logger,
    redact: createRedact(secrets),
    onDropped: () => dropped.inc(),
  });
  metrics.watch({
    name: 'portico_audit_queued',
    help: 'Audit records that are not in the file yet',
    read: () => log.queued,
  });
  metrics.watch({
    name: 'portico_audit_writable',
    help: '1 while audit records can be written, else 0',
    read: () => (log.healthy ? 1 : 0),
  });
  return { log, auditor: new Auditor(log, config) };
}
