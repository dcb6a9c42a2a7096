// From a server's config to an open wire with a known era and a done handshake: probe, fall back, and remember what
// the server turned out to be (BRIDGE.md, "Detection").
import type { ServerConfig } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import type { Era } from '../protocol/era.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import { type Discovery, discover, initialize } from './handshake.ts';
import type { OpenTransport, WiredTransport } from './open-transport.ts';
import type { ClientIdentity, Peer } from './peer.ts';
import { LinkInbox } from './server-link.ts';

/** A legacy verdict is asked again after a day; a server may have been updated meanwhile. */
const LEGACY_VERDICT_MS = 24 * 3600_000;
const SILENCE_AFTER_OUTPUT_MS = 2_000;
/** Statuses that say something about the caller or the moment, and nothing about the era. */
const ERALESS_STATUSES = new Set([401, 403, 407, 408, 429]);
/** What a server of HTTP+SSE answers to a POST on its one URL. */
const OLDER_WIRE_STATUSES = new Set([400, 404, 405]);

/** What a link is opened with, whoever it is for. */
export interface LinkTerms {
  readonly clientCapabilities: JsonObject;
  /** The revision to offer a legacy server. */
  readonly offeredVersion?: string;
}

interface Wire extends WiredTransport {
  readonly inbox: LinkInbox;
}
export interface Connected extends Wire {
  readonly peer: Peer;
}

export interface ConnectorOptions {
  readonly config: ServerConfig;
  readonly identity: ClientIdentity;
  readonly openTransport: OpenTransport;
}

export class Connector {
  readonly #config: ServerConfig;
  readonly #options: ConnectorOptions;
  #verdict: { era: Era; expiresAt: number } | undefined;

  constructor(options: ConnectorOptions) {
    this.#config = options.config;
    this.#options = options;
  }

  /** The server answered as one of the other era would: it is probed again before the next handshake. */
  forgetEra(): void {
    this.#verdict = undefined;
  }

  /**
   * Opens the wire, finds out the era where it is not known, and shakes hands. Closes what it opened on failure.
   *
   * @throws GatewayError server-unavailable, credential-refused, server-rate-limited
   */
  async connect(request: LinkTerms): Promise<Connected> {
    let wire = await this.#wire(this.#config);
    try {
      // HTTP+SSE is older than the modern era.
      if (this.#config.type !== 'sse' && this.#knownEra() !== 'legacy') {
        const discovery = await this.#discover(wire, request.clientCapabilities);
        if (discovery.era === 'modern') {
          this.#verdict = { era: 'modern', expiresAt: Number.POSITIVE_INFINITY };
          return { ...wire, peer: discovery.peer };
        }
        if (this.#config.protocol === 'modern') {
          throw unavailable(
            'not-modern',
            'the server does not speak a modern revision, as `protocol: modern` wants',
          );
        }
        if (!wire.transport.open) wire = await this.#wire(this.#config);
      }
      const { peer, wire: settled } = await this.#initialize(wire, request);
      wire = settled;
      wire.listen?.();
      this.#verdict = { era: 'legacy', expiresAt: performance.now() + LEGACY_VERDICT_MS };
      return { ...wire, peer };
    } catch (thrown) {
      this.#verdict = undefined;
      await wire.transport.close();
      throw thrown;
    }
  }

  #knownEra(): Era | undefined {
    if (this.#config.protocol !== 'auto') return this.#config.protocol;
    return this.#verdict !== undefined && this.#verdict.expiresAt > performance.now()
      ? this.#verdict.era
      : undefined;
  }

  async #wire(config: ServerConfig): Promise<Wire> {
    const inbox = new LinkInbox();
    const clock = startClock(this.#config.startTimeoutMs);
    try {
      return {
        ...(await this.#options.openTransport(config, { events: inbox, signal: clock.signal })),
        inbox,
      };
    } finally {
      clock.stop();
    }
  }

  /** The probe. A child that says nothing, or that exits at the sight of it, is legacy (BRIDGE.md, "Detection"). */
  async #discover(wire: Wire, clientCapabilities: JsonObject): Promise<Discovery> {
    const clock = startClock(this.#config.startTimeoutMs);
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
        this.#config.type === 'stdio' &&
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

  /** The legacy handshake; a server that refuses the POST itself may be one of HTTP+SSE (transports, 2025-11-25). */
  async #initialize(wire: Wire, request: LinkTerms): Promise<{ peer: Peer; wire: Wire }> {
    try {
      return { peer: await this.#shakeHands(wire, request), wire };
    } catch (thrown) {
      const status = httpStatusOf(thrown);
      if (this.#config.type !== 'http' || status === undefined || !OLDER_WIRE_STATUSES.has(status))
        throw thrown;
      await wire.transport.close();
      const older = await this.#wire({ ...this.#config, type: 'sse' });
      try {
        return { peer: await this.#shakeHands(older, request), wire: older };
      } catch (failure) {
        await older.transport.close();
        throw failure;
      }
    }
  }

  async #shakeHands(wire: Wire, { clientCapabilities, offeredVersion }: LinkTerms): Promise<Peer> {
    const clock = startClock(this.#config.startTimeoutMs);
    const { identity } = this.#options;
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
