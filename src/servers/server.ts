// One server of the config at run time: its era, its links, and how a link to it is opened.
import type { ServerConfig } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import type { Era } from '../protocol/era.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Discovery, discover, initialize } from './handshake.ts';
import { LinkPool } from './link-pool.ts';
import type { OpenTransport, WiredTransport } from './open-transport.ts';
import type { ClientIdentity, Peer } from './peer.ts';
import { LinkInbox, ServerLink } from './server-link.ts';
import { StartBackoff } from './start-backoff.ts';
import type { ServerMessage } from './transport.ts';

/** A legacy verdict is asked again after a day; a server may have been updated meanwhile. */
const LEGACY_VERDICT_MS = 24 * 3600_000;
const SILENCE_AFTER_OUTPUT_MS = 2_000;
/** A start that is due this soon is worth waiting for; one further off is refused at once. */
const WORTH_WAITING_MS = 1_000;
const CATALOGUE_KEY = 'catalogue';

/** Statuses that say something about the caller or the moment, and nothing about the era. */
const ERALESS_STATUSES = new Set([401, 403, 407, 408, 429]);

export interface OwnLinkRequest {
  /** Principal or session; links are never shared across keys. */
  readonly key: string;
  /** True for a session's link, which lives as long as the session. */
  readonly pinned: boolean;
  readonly clientCapabilities: JsonObject;
  /** The revision to offer a legacy server. */
  readonly offeredVersion?: string;
  onUnsolicited?(message: ServerMessage, link: ServerLink): void;
}

type SharedListener = (message: ServerMessage, link: ServerLink) => void;

export interface ServerOptions {
  readonly config: ServerConfig;
  readonly identity: ClientIdentity;
  readonly openTransport: OpenTransport;
  readonly logger: Logger;
}

export class Server {
  readonly config: ServerConfig;
  readonly #options: ServerOptions;
  readonly #logger: Logger;
  readonly #pool: LinkPool;
  readonly #backoff = new StartBackoff();
  readonly #listeners = new Set<SharedListener>();
  #verdict: { era: Era; expiresAt: number } | undefined;
  #peer: Peer | undefined;
  #lastError: string | undefined;
  #starts = 0;

  constructor(options: ServerOptions) {
    this.config = options.config;
    this.#options = options;
    this.#logger = options.logger.child({ server: options.config.slug });
    this.#pool = new LinkPool(options.config);
  }

  get slug(): string {
    return this.config.slug;
  }

  /** What the server last said of itself, also while it is down. */
  get lastPeer(): Peer | undefined {
    return this.#peer;
  }

  /** The link that lists, `initialize` and discover are served from; on a shared server the calls too. */
  catalogueLink(): Promise<ServerLink> {
    return this.#pool.acquire(
      CATALOGUE_KEY,
      () =>
        this.#open({
          clientCapabilities: {},
          onUnsolicited: (message, link) => this.#receiveShared(message, link),
        }),
      true,
    );
  }

  /** A link that belongs to one principal or one session. */
  ownLink(request: OwnLinkRequest): Promise<ServerLink> {
    return this.#pool.acquire(request.key, () => this.#open(request), request.pinned);
  }

  /** The link of that key if it is open now; asking starts nothing. */
  peekOwnLink(key: string): ServerLink | undefined {
    return this.#pool.peek(key);
  }

  releaseOwnLink(key: string): Promise<void> {
    return this.#pool.release(key);
  }

  /** Messages of the catalogue link that are true for everyone (list changes). Returns the way to stop. */
  onSharedMessage(listener: SharedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Who may share a link to this server, once its era is known (DESIGN 5). */
  isolationFor(peer: Peer): 'shared' | 'principal' | 'session' {
    if (this.config.isolation !== 'auto') return this.config.isolation;
    return peer.era === 'modern' ? 'shared' : 'session';
  }

  /** The server answered as one of the other era would: ask again before the next call. */
  async forgetEra(): Promise<void> {
    this.#verdict = undefined;
    await this.#pool.release(CATALOGUE_KEY);
  }

  status(): Record<string, unknown> {
    return {
      type: this.config.type,
      era: this.#peer?.era ?? null,
      protocolVersion: this.#peer?.version ?? null,
      links: this.#pool.links.length,
      starting: this.#pool.starting,
      inFlight: this.#pool.links.reduce((sum, link) => sum + link.inFlight, 0),
      starts: this.#starts,
      failures: this.#backoff.failures,
      lastError: this.#lastError ?? null,
    };
  }

  get openLinks(): number {
    return this.#pool.links.length;
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#pool.close();
  }

  async #open(request: Omit<OwnLinkRequest, 'key' | 'pinned'>): Promise<ServerLink> {
    await this.#awaitBackoff();
    this.#starts += 1;
    const startedAt = performance.now();
    try {
      const { transport, peer, inbox } = await this.#connect(request);
      this.#peer = peer;
      this.#lastError = undefined;
      this.#logger.info({ era: peer.era, version: peer.version, ms: since(startedAt) }, 'link open');
      return new ServerLink({
        transport,
        peer,
        inbox,
        identity: this.#options.identity,
        limits: this.config,
        ...(request.onUnsolicited === undefined ? {} : { onUnsolicited: request.onUnsolicited }),
        onClosed: (link, reason) => this.#linkEnded(link, reason),
      });
    } catch (thrown) {
      this.#backoff.failed(performance.now());
      this.#lastError = describeFailure(thrown);
      this.#logger.warn({ reason: this.#lastError, ms: since(startedAt) }, 'link failed to open');
      throw thrown;
    }
  }

  /** Opens the wire, finds out the era where it is not known, and shakes hands. Closes what it opened on failure. */
  async #connect(request: Omit<OwnLinkRequest, 'key' | 'pinned'>): Promise<Connected> {
    let wire = await this.#wire();
    try {
      const era = this.#knownEra();
      if (era !== 'legacy') {
        const discovery = await this.#discover(wire, request.clientCapabilities);
        if (discovery.era === 'modern') {
          this.#verdict = { era: 'modern', expiresAt: Number.POSITIVE_INFINITY };
          return { ...wire, peer: discovery.peer };
        }
        if (this.config.protocol === 'modern') {
          throw unavailable(
            'not-modern',
            'the server does not speak a modern revision, as `protocol: modern` wants',
          );
        }
        if (!wire.transport.open) wire = await this.#wire();
      }
      const peer = await this.#initialize(wire, request);
      wire.listen?.();
      this.#verdict = { era: 'legacy', expiresAt: performance.now() + LEGACY_VERDICT_MS };
      return { ...wire, peer };
    } catch (thrown) {
      if (this.config.protocol === 'auto') this.#verdict = undefined;
      await wire.transport.close();
      throw thrown;
    }
  }

  #knownEra(): Era | undefined {
    if (this.config.protocol !== 'auto') return this.config.protocol;
    return this.#verdict !== undefined && this.#verdict.expiresAt > performance.now()
      ? this.#verdict.era
      : undefined;
  }

  async #wire(): Promise<Wire> {
    const inbox = new LinkInbox();
    return { ...(await this.#options.openTransport(this.config, inbox)), inbox };
  }

  /** The probe. A child that says nothing, or that exits at the sight of it, is legacy (BRIDGE.md, "Detection"). */
  async #discover(wire: Wire, clientCapabilities: JsonObject): Promise<Discovery> {
    const clock = startClock(this.config.startTimeoutMs);
    const silence = new Error('silence');
    let quietTimer: NodeJS.Timeout | undefined;
    let settled = false;
    void wire.firstOutput?.then(() => {
      if (!settled) quietTimer = setTimeout(() => clock.abort(silence), SILENCE_AFTER_OUTPUT_MS);
    });
    try {
      const { identity } = this.#options;
      return await discover(wire.transport, { identity, clientCapabilities, signal: clock.signal });
    } catch (thrown) {
      if (
        this.config.type === 'stdio' &&
        (thrown === silence || clock.signal.aborted || !wire.transport.open)
      ) {
        return { era: 'legacy' };
      }
      const status = httpStatusOf(thrown);
      if (status !== undefined && status >= 400 && status < 500 && !ERALESS_STATUSES.has(status)) {
        return { era: 'legacy' };
      }
      throw thrown;
    } finally {
      settled = true;
      clock.stop();
      clearTimeout(quietTimer);
    }
  }

  async #initialize(wire: Wire, request: Omit<OwnLinkRequest, 'key' | 'pinned'>): Promise<Peer> {
    const clock = startClock(this.config.startTimeoutMs);
    const { identity } = this.#options;
    const { clientCapabilities, offeredVersion } = request;
    try {
      return await initialize(
        wire.transport,
        { identity, clientCapabilities, signal: clock.signal },
        offeredVersion,
      );
    } finally {
      clock.stop();
    }
  }

  async #awaitBackoff(): Promise<void> {
    const remainingMs = this.#backoff.remainingMs(performance.now());
    if (remainingMs === 0) return;
    if (remainingMs > WORTH_WAITING_MS) {
      throw new GatewayError('server-unavailable', {
        reason: 'backing-off',
        text: 'The server failed to start; it is tried again shortly',
        data: { retryAfterMs: Math.ceil(remainingMs) },
      });
    }
    await new Promise((resolve) => setTimeout(resolve, remainingMs));
  }

  #receiveShared(message: ServerMessage, link: ServerLink): void {
    if ('id' in message) {
      void link.respond(message.id, { error: { code: -32601, message: 'No client feature is shared here' } });
      return;
    }
    for (const listener of this.#listeners) listener(message, link);
  }

  #linkEnded(link: ServerLink, reason: string): void {
    this.#pool.forget(link);
    if (reason === 'closed') return;
    this.#backoff.failed(performance.now(), performance.now() - link.openedAt);
    this.#lastError = reason;
    this.#logger.warn({ reason, uptimeMs: since(link.openedAt) }, 'link ended');
  }
}

interface Wire extends WiredTransport {
  readonly inbox: LinkInbox;
}
interface Connected extends Wire {
  readonly peer: Peer;
}

function startClock(timeoutMs: number): { signal: AbortSignal; abort(reason: Error): void; stop(): void } {
  const controller = new AbortController();
  const expire = () => controller.abort(unavailable('start-timeout', `no answer within ${timeoutMs} ms`));
  const timer = setTimeout(expire, timeoutMs);
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    stop: () => clearTimeout(timer),
  };
}

function unavailable(reason: string, message: string): GatewayError {
  return new GatewayError('server-unavailable', { reason, cause: new Error(message) });
}

function httpStatusOf(thrown: unknown): number | undefined {
  const cause = thrown instanceof GatewayError ? thrown.cause : undefined;
  return cause instanceof Error && 'status' in cause && typeof cause.status === 'number'
    ? cause.status
    : undefined;
}

/** Words for the operator: reason and cause, never for a client. */
function describeFailure(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const reason = thrown instanceof GatewayError ? (thrown.details.reason ?? thrown.code) : thrown.message;
  return thrown.cause instanceof Error ? `${reason}: ${thrown.cause.message}` : reason;
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
