// One server of the config at run time: its era, its links, and how a link to it is opened.
import type { ServerConfig } from '../config/config.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { Logger } from '../telemetry/logger.ts';
import { awaitBackoff } from './await-backoff.ts';
import { CatalogueLinks } from './catalogue-links.ts';
import { Connector, type ConnectorOptions, type LinkTerms } from './connector.ts';
import { type Caller, isPersonal } from './credentials/caller.ts';
import { type LinkHold, LinkPool, type LinkState } from './link-pool.ts';
import { ListFindings } from './list-findings.ts';
import type { Peer } from './peer.ts';
import { probeEra } from './probe-era.ts';
import type { ProcessPlaces } from './process-places.ts';
import { ServerFaults } from './server-faults.ts';
import { ServerLink } from './server-link.ts';
import { type ServerState, serverState } from './server-state.ts';
import { ServerStats } from './server-stats.ts';
import { type LinkListener, type SharedListener, SharedListeners } from './shared-listeners.ts';
import { type Backoff, OwnerBackoffs, StartBackoff } from './start-backoff.ts';
import type { GroupUsages } from './stdio/group-usage.ts';
import type { ServerMessage } from './transport.ts';
import { WarmLinks } from './warm-links.ts';

const ASK_AGAIN_AFTER_MS = 10_000;

export interface OwnLinkRequest extends LinkTerms, LinkHold {
  /** Principal or session; links are never shared across keys. */
  readonly key: string;
  /** Whose failures hold up whose starts: the principal. */
  readonly owner: string;
  onUnsolicited?(message: ServerMessage, link: ServerLink): void;
}

export interface ServerOptions extends ConnectorOptions {
  readonly logger: Logger;
  /** Those of all servers: a child process takes one. */
  readonly places: ProcessPlaces;
  readonly usages?: GroupUsages;
}

export class Server {
  readonly config: ServerConfig;
  readonly stats: ServerStats;
  readonly #options: ServerOptions;
  readonly #logger: Logger;
  readonly #pool: LinkPool;
  readonly #warm: WarmLinks | undefined;
  readonly #catalogue: CatalogueLinks;
  readonly #connector: Connector;
  /** Of the link that lists come from, and of the server as such. */
  readonly #backoff = new StartBackoff();
  readonly #ownerBackoffs = new OwnerBackoffs();
  readonly #listeners = new SharedListeners();
  #peer: Peer | undefined;
  readonly #faults = new ServerFaults();
  readonly #findings: ListFindings;
  #askedAgainAt = Number.NEGATIVE_INFINITY;
  readonly #retired = new AbortController();

  constructor(options: ServerOptions) {
    this.config = options.config;
    this.#options = options;
    this.stats = new ServerStats(options.usages);
    this.#connector = new Connector({ ...options, stats: this.stats });
    this.#logger = options.logger.child({ server: options.config.slug });
    this.#findings = new ListFindings(this.#logger);
    const { type, maxLinks, idleTimeoutMs } = options.config;
    const processes = { places: options.places, max: maxLinks };
    this.#pool = new LinkPool({ idleTimeoutMs, ...(type === 'stdio' ? { processes } : {}) });
    this.#warm = this.#warmLinks();
    this.#catalogue = this.#catalogueLinks();
  }

  /** What it sees depends on who calls: it has no link that is everyone's. */
  get personal(): boolean {
    return isPersonal(this.config);
  }

  get slug(): string {
    return this.config.slug;
  }

  /** What the server last said of itself, also while it is down. */
  get lastPeer(): Peer | undefined {
    return this.#peer;
  }

  /**
   * The link that lists, `initialize` and discover are served from; on a shared server the calls too.
   *
   * @param clientCapabilities normalised; `{}` is the link that is opened at boot and stays open
   * @throws GatewayError credential-refused where the server sees who calls, and nobody does
   */
  catalogueLink(caller?: Caller, clientCapabilities: JsonObject = {}): Promise<ServerLink> {
    return this.#catalogue.acquire(caller, clientCapabilities);
  }

  /** The same if it is open now, for clients that declare nothing: everyone's, or the caller's own. Asking starts nothing. */
  peekCatalogueLink(caller?: Caller): ServerLink | undefined {
    return this.#catalogue.peek(caller);
  }

  /** A link that belongs to one principal or one session. */
  async ownLink(request: OwnLinkRequest): Promise<ServerLink> {
    const backoff = this.#ownerBackoffs.of(request.owner);
    const terms = { ...request, personal: true };
    // The pool keeps what it is given for as long as the link: the caller, who leads to a token, is not for that.
    const { caller: _caller, ...place } = request;
    const spare = this.#pool.has(request.key) ? undefined : this.#warm?.claim({ ...place, backoff });
    return (
      spare ?? this.#pool.acquire(request.key, (signal) => this.#open(terms, { signal, backoff }), place)
    );
  }

  /** The link of that key if it is open now; asking starts nothing. */
  peekOwnLink(key: string): ServerLink | undefined {
    return this.#pool.peek(key);
  }

  releaseOwnLink(key: string): Promise<void> {
    return this.#pool.release(key);
  }

  /**
   * Messages of the catalogue link that are true for everyone (list changes), or for the person given. Returns the way
   * to stop.
   */
  onSharedMessage(listener: SharedListener, person?: string): () => void {
    return this.#listeners.add(listener, person);
  }

  /** The same of every catalogue link, whoever it belongs to: for what is kept of links. */
  onCatalogueMessage(listener: LinkListener): () => void {
    return this.#listeners.addToLinks(listener);
  }

  /** Hears only what `announce` tells: for those whom the server itself tells the rest. */
  onAnnounced(listener: SharedListener, person?: string): () => void {
    return this.#listeners.addToAnnounced(listener, person);
  }

  /** Tells those who listen to such messages of one that no link here has brought. */
  announce(message: ServerMessage, person?: string): void {
    this.#listeners.announce(message, person);
  }

  /** Who may share a link to this server, once its era is known. */
  isolationFor(peer: Peer): 'shared' | 'principal' | 'session' {
    if (this.config.isolation !== 'auto') return this.config.isolation;
    if (peer.era === 'legacy') return 'session';
    return this.personal ? 'principal' : 'shared';
  }

  status(): Record<string, unknown> {
    return {
      type: this.config.type,
      personal: this.personal,
      state: this.#state,
      era: this.#peer?.era ?? null,
      protocolVersion: this.#peer?.version ?? null,
      links: this.#pool.links.length,
      starting: this.#pool.starting,
      inFlight: this.#pool.links.reduce((sum, link) => sum + link.inFlight, 0),
      linksByState: this.linksByState,
      starts: this.stats.starts,
      restarts: this.stats.restarts,
      lastHandshakeMs: this.stats.lastHandshakeMs ?? null,
      failures: this.#backoff.failures,
      ...this.#faults.status(),
      ...this.#findings.status(),
      ...(this.config.type === 'stdio' ? { processes: this.#processStatus() } : {}),
    };
  }

  /** Names of tools that callers do not get to see, since they could not be called by the rules. */
  get unusableTools(): readonly string[] {
    return this.#findings.unusableTools;
  }

  get #state(): ServerState {
    const { openLinks } = this;
    return serverState({ openLinks, starting: this.#pool.starting, isBroken: this.#faults.isBroken });
  }

  get linksByState(): Readonly<Record<LinkState, number>> {
    return this.#pool.linksByState;
  }

  /** Those that are open. */
  get links(): readonly ServerLink[] {
    return this.#pool.links;
  }

  get openLinks(): number {
    return this.#pool.links.length;
  }

  /** Aborts when the server leaves the config, or comes back to it as another: what is open without end should end. */
  get retired(): AbortSignal {
    return this.#retired.signal;
  }

  /** From here on each link closes once its calls are over; those who have not called yet still may. Idempotent. */
  retire(): void {
    this.#retired.abort();
    this.#pool.retire();
  }

  /** Nobody new will call. Resolves when the last call is over and its link closed. */
  async end(): Promise<void> {
    this.retire();
    await this.#pool.emptied();
    await this.close();
  }

  async close(): Promise<void> {
    this.#retired.abort();
    this.#listeners.clear();
    await this.#pool.close();
  }

  #processStatus(): Record<string, unknown> {
    const { exits, totals, present } = this.stats;
    const { processes: count, queued, rssBytes } = present;
    return { count, exits: Object.fromEntries(exits), queued, rssBytes, ...totals };
  }

  #catalogueLinks(): CatalogueLinks {
    return new CatalogueLinks({
      config: this.config,
      pool: this.#pool,
      backoff: this.#backoff,
      ownerBackoffs: this.#ownerBackoffs,
      retired: this.retired,
      open: (terms, options) => this.#open(terms, options),
      onOpened: ({ peer }) => {
        if (this.isolationFor(peer) !== 'shared') this.#warm?.fill();
      },
      onMessage: (message, link, person) => this.#listeners.tell(message, link, person),
    });
  }

  /** Where what it sees depends on who calls, nothing can be started before somebody does. */
  #warmLinks(): WarmLinks | undefined {
    const count = this.config.type === 'stdio' && !this.personal ? this.config.warm : 0;
    if (count === 0) return undefined;
    return new WarmLinks({
      count,
      pool: this.#pool,
      retired: this.retired,
      open: (terms, options) => this.#open({ ...terms, personal: true }, options),
    });
  }

  async #open(
    request: Omit<OwnLinkRequest, 'key' | keyof LinkHold>,
    { signal, backoff }: { signal: AbortSignal; backoff: Backoff },
  ): Promise<ServerLink> {
    await awaitBackoff(backoff, signal, this.#faults.refusal);
    this.stats.started();
    const startedAt = performance.now();
    const attempt = backoff.begin();
    try {
      const { transport, peer, inbox, inherited } = await this.#connector.connect(request, signal);
      // What a session was told when it began may be old by now.
      if (!inherited) this.#peer = peer;
      this.#faults.clear();
      this.stats.opened(since(startedAt));
      this.#logger.info({ era: peer.era, version: peer.version, ms: since(startedAt) }, 'link open');
      const link = new ServerLink({
        transport,
        peer,
        inbox,
        identity: this.#options.identity,
        limits: this.config,
        ...(request.onUnsolicited === undefined ? {} : { onUnsolicited: request.onUnsolicited }),
        onClosed: (link, reason) => this.#linkEnded(link, reason, backoff),
        findings: this.#findings,
        ...(this.config.type === 'http' ? { onDoubt: (link: ServerLink) => void this.#askAgain(link) } : {}),
      });
      // A server that has forgotten it by now did so after it had been of use.
      link.hasAnswered = inherited;
      return link;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const words = this.#faults.noteFailure(thrown);
      // Whose credential is refused holds up nobody; tokens are not asked for at any pace anyway.
      if (request.caller === undefined || this.#faults.refusal === undefined) {
        backoff.failed(performance.now(), { begunAtMs: startedAt });
      }
      this.stats.failed();
      this.#logger.warn({ reason: words, ms: since(startedAt) }, 'link failed to open');
      throw thrown;
    } finally {
      attempt.over();
    }
  }

  /**
   * A server that answers as one of the other era might is asked again what it is, once in a while at most. If it has
   * changed, every link to it is one to a server that is no more.
   */
  async #askAgain(link: ServerLink): Promise<void> {
    const now = performance.now();
    if (this.config.protocol !== 'auto' || now - this.#askedAgainAt < ASK_AGAIN_AFTER_MS) return;
    this.#askedAgainAt = now;
    const signal = this.#retired.signal;
    const wire = { transport: link.transport, firstOutput: undefined };
    const probing = probeEra(wire, { ...this.#options, clientCapabilities: {}, signal });
    const probe = await probing.catch(() => undefined);
    if (probe === undefined || probe.era === link.peer.era || signal.aborted) return;
    this.#logger.warn({ was: link.peer.era, is: probe.era }, 'the server has changed its era');
    this.#connector.forgetEra();
    await this.#pool.releaseAll();
    await this.#catalogue.reopen();
  }

  #linkEnded(link: ServerLink, reason: string, backoff: Backoff): void {
    this.#pool.forget(link);
    if (link.closing) {
      backoff.endedWell(performance.now() - link.openedAt);
      return;
    }
    // A server that forgets a session which served calls is well. One that forgets each before it was of any use is
    // not, though every handshake succeeds.
    if (reason === 'session-lost' && link.hasAnswered) {
      this.#logger.info({ uptimeMs: since(link.openedAt) }, 'the server forgot a session');
      return;
    }
    backoff.failed(performance.now(), { uptimeMs: performance.now() - link.openedAt });
    this.stats.failed();
    this.#faults.noteEnd(reason);
    this.#logger.warn({ reason, uptimeMs: since(link.openedAt) }, 'link ended');
  }
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
