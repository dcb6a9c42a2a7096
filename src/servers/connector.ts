// From a server's config to an open wire with a known era and a done handshake: probe, fall back, and remember what
// the server turned out to be.
import type { ServerConfig } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import type { Era } from '../protocol/era.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { Caller } from './credentials/caller.ts';
import { httpStatusOf, isRefusalByStatus } from './era-doubt.ts';
import { initialize } from './handshake.ts';
import type { OpenTransport, WiredTransport } from './open-transport.ts';
import type { ClientIdentity, Peer, UpstreamSession } from './peer.ts';
import { probeEra, type UnansweredProbe } from './probe-era.ts';
import { LinkInbox } from './server-link.ts';
import type { ServerStats } from './server-stats.ts';
import { startClock } from './start-clock.ts';

/** A legacy verdict is asked again after a day; a server may have been updated meanwhile. */
const LEGACY_VERDICT_MS = 24 * 3600_000;
/** What a server of HTTP+SSE answers to a POST on its one URL. */
const OLDER_WIRE_STATUSES = new Set([400, 404, 405]);
/** How long after a refused handshake the probe's answer may still come. */
const LATE_PROBE_MS = 2_000;

/** What a link is opened with, whoever it is for. */
export interface LinkTerms {
  readonly clientCapabilities: JsonObject;
  /** The revision to offer a legacy server. */
  readonly offeredVersion?: string;
  /** On whose behalf, where the server sees that. */
  readonly caller?: Caller;
  /** The link is one principal's, or one session's, alone. */
  readonly personal?: boolean;
  /**
   * A session at the server to go on in, in place of a handshake; asked once the wire is there. Whether the server still
   * knows it, the first message shows.
   */
  inherited?(): UpstreamSession | undefined;
}

interface Wire extends WiredTransport {
  readonly inbox: LinkInbox;
}
export interface Connected extends Wire {
  readonly peer: Peer;
  /** It goes on in a session that was there before. */
  readonly inherited: boolean;
}

export interface ConnectorOptions {
  readonly config: ServerConfig;
  readonly identity: ClientIdentity;
  readonly openTransport: OpenTransport;
  readonly stats?: ServerStats;
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number;
}

export class Connector {
  readonly #config: ServerConfig;
  readonly #options: ConnectorOptions;
  readonly #now: () => number;
  #verdict: { era: Era; expiresAt: number } | undefined;

  constructor(options: ConnectorOptions) {
    this.#config = options.config;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The server answered as one of the other era would: it is probed again before the next handshake. */
  forgetEra(): void {
    this.#verdict = undefined;
  }

  /**
   * Opens the wire, finds out the era where it is not known, and shakes hands. Closes what it opened on failure.
   *
   * @throws GatewayError server-unavailable, credential-refused, server-rate-limited; or the signal's reason
   */
  async connect(terms: LinkTerms, signal: AbortSignal): Promise<Connected> {
    const remembered = this.#config.protocol === 'auto' && this.#knownEra() === 'legacy';
    try {
      return await this.#connectOnce(terms, signal);
    } catch (thrown) {
      // It was legacy when it was last asked; a newer one may have taken its place since (F36).
      if (!remembered || signal.aborted || !isRefusedHandshake(thrown)) throw thrown;
      return this.#connectOnce(terms, signal);
    }
  }

  async #connectOnce(terms: LinkTerms, signal: AbortSignal): Promise<Connected> {
    let wire = await this.#wire(this.#config, terms, signal);
    const inherited = wire.transport.takeUpSession && terms.inherited?.();
    if (inherited !== undefined) {
      const { id, peer } = inherited;
      wire.transport.takeUpSession?.(id, peer.version);
      wire.listen?.();
      return { ...wire, peer, inherited: true };
    }
    try {
      let unanswered: UnansweredProbe | undefined;
      // HTTP+SSE is older than the modern era.
      if (this.#config.type !== 'sse' && this.#knownEra() !== 'legacy') {
        const probe = await probeEra(wire, { ...this.#options, ...terms, signal });
        if (probe.era === 'modern') return this.#settled({ ...wire, peer: probe.peer });
        ({ unanswered } = probe);
        if (this.#config.protocol === 'modern') {
          unanswered?.giveUp();
          throw unavailable(
            'not-modern',
            'the server does not speak a modern revision, as `protocol: modern` wants',
          );
        }
        if (!wire.transport.open) {
          await wire.transport.close();
          wire = await this.#wire(this.#config, terms, signal);
        }
      }
      const { peer, wire: settled } = await this.#initialize(wire, terms, { signal, unanswered });
      wire = settled;
      if (peer.era === 'legacy') wire.listen?.();
      return this.#settled({ ...wire, peer });
    } catch (thrown) {
      this.#verdict = undefined;
      await wire.transport.close();
      throw thrown;
    }
  }

  #settled(shaken: Wire & { readonly peer: Peer }): Connected {
    const connected = { ...shaken, inherited: false };
    const { era } = connected.peer;
    // A handshake that rests on a verdict is none itself: a server with many links would never be asked again.
    if (this.#knownEra() === era) return connected;
    const expiresAt = era === 'modern' ? Number.POSITIVE_INFINITY : this.#now() + LEGACY_VERDICT_MS;
    this.#verdict = { era, expiresAt };
    return connected;
  }

  #knownEra(): Era | undefined {
    if (this.#config.protocol !== 'auto') return this.#config.protocol;
    return this.#verdict !== undefined && this.#verdict.expiresAt > this.#now()
      ? this.#verdict.era
      : undefined;
  }

  async #wire(config: ServerConfig, terms: LinkTerms, signal: AbortSignal): Promise<Wire> {
    const { caller, personal = caller !== undefined } = terms;
    const inbox = new LinkInbox();
    const clock = startClock(this.#config.startTimeoutMs, signal);
    try {
      return {
        ...(await this.#options.openTransport(config, {
          events: inbox,
          caller,
          personal,
          stats: this.#options.stats,
          signal: clock.signal,
        })),
        inbox,
      };
    } finally {
      clock.stop();
    }
  }

  /** The legacy handshake; a server that refuses the POST itself may be one of HTTP+SSE (transports, 2025-11-25). */
  async #initialize(
    wire: Wire,
    terms: LinkTerms,
    { signal, unanswered }: { signal: AbortSignal; unanswered: UnansweredProbe | undefined },
  ): Promise<{ peer: Peer; wire: Wire }> {
    try {
      return { peer: await this.#shakeHands(wire, terms, { signal, unanswered }), wire };
    } catch (thrown) {
      const status = httpStatusOf(thrown);
      if (this.#config.type !== 'http' || status === undefined || !OLDER_WIRE_STATUSES.has(status))
        throw thrown;
      await wire.transport.close();
      const older = await this.#wire({ ...this.#config, type: 'sse' }, terms, signal);
      try {
        return { peer: await this.#shakeHands(older, terms, { signal, unanswered: undefined }), wire: older };
      } catch (failure) {
        await older.transport.close();
        throw failure;
      }
    }
  }

  /** Whichever comes first of the handshake and a late answer to the probe. */
  async #shakeHands(
    { transport }: Wire,
    { clientCapabilities, offeredVersion }: LinkTerms,
    { signal, unanswered }: { signal: AbortSignal; unanswered: UnansweredProbe | undefined },
  ): Promise<Peer> {
    const clock = startClock(this.#config.startTimeoutMs, signal);
    const { identity } = this.#options;
    const greeting = { identity, clientCapabilities, signal: clock.signal };
    const greeted = initialize(transport, greeting, offeredVersion);
    let lateTimer: NodeJS.Timeout | undefined;
    try {
      if (unanswered === undefined) return await greeted;
      greeted.catch(() => {
        if (!clock.signal.aborted) lateTimer = setTimeout(unanswered.giveUp, LATE_PROBE_MS);
      });
      return await Promise.any([greeted, unanswered.modern]).catch(() => greeted);
    } finally {
      clearTimeout(lateTimer);
      unanswered?.giveUp();
      clock.abort(new Error('another answer came first'));
      clock.stop();
    }
  }
}

/** The server is there and does not want this handshake. */
function isRefusedHandshake(thrown: unknown): boolean {
  const reason = thrown instanceof GatewayError ? thrown.details.reason : undefined;
  return reason === 'initialize-refused' || reason === 'no-common-version' || isRefusalByStatus(thrown);
}

function unavailable(reason: string, message: string): GatewayError {
  return new GatewayError('server-unavailable', { reason, cause: new Error(message) });
}
