// One upstream connection to a server, after its handshake: a child process, or an HTTP server with its session if
// it has one. It adds to the transport what holds for every call: deadline, counting, and the server's own requests.
import { GatewayError } from '../errors.ts';
import { META } from '../protocol/era.ts';
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts';
import type { JsonRpcId, JsonRpcNotification, JsonRpcOutcome } from '../protocol/json-rpc.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import type { StopSignal } from '../runtime/stop.ts';
import { type CallDeadline, type DeadlineLimits, startDeadline } from './call-deadline.ts';
import type { Caller } from './credentials/caller.ts';
import { isRefusalByStatus, raisesDoubt } from './era-doubt.ts';
import { describe } from './handshake.ts';
import type { ListFindings } from './list-findings.ts';
import type { ClientIdentity, Peer, UpstreamSession } from './peer.ts';
import type { ServerMessage, ServerTransport, TransportEvents } from './transport.ts';

/** Unsolicited messages held for a link that nobody listens to yet: real servers ask `roots/list` at once. */
const MAX_EARLY_MESSAGES = 64;

/** Clients choose what they declare, so what is kept for their sake is bounded. */
const MAX_PEERS = 64;

const UNLIMITED: DeadlineLimits = {
  callTimeoutMs: Number.POSITIVE_INFINITY,
  maxCallTimeMs: Number.POSITIVE_INFINITY,
};

/** Takes what a transport says outside any call, from before the handshake on. */
export class LinkInbox implements TransportEvents {
  closedBecause: string | undefined;
  #listener: ((message: ServerMessage) => void) | undefined;
  #early: ServerMessage[] = [];
  #onClosed: ((reason: string) => void) | undefined;

  onUnsolicited(message: ServerMessage): void {
    if (this.#listener !== undefined) this.#listener(message);
    else if (this.#early.length < MAX_EARLY_MESSAGES) this.#early.push(message);
  }

  onClosed(reason: string): void {
    this.closedBecause = reason;
    this.#onClosed?.(reason);
  }

  attach(listener: (message: ServerMessage) => void, onClosed: (reason: string) => void): void {
    this.#listener = listener;
    this.#onClosed = onClosed;
    const early = this.#early;
    this.#early = [];
    for (const message of early) listener(message);
    if (this.closedBecause !== undefined) onClosed(this.closedBecause);
  }
}

export interface LinkCallOptions {
  readonly signal: StopSignal;
  readonly paramHeaders?: Readonly<Record<string, string>> | undefined;
  readonly caller?: Caller | undefined;
  /** Hands out the call's clock, for who has to stop it while a person is asked. */
  onStarted?(clock: Pick<CallDeadline, 'extend' | 'pause' | 'resume'>): void;
  /** A subscription: no deadline, and no place among the calls in flight. */
  readonly longLived?: boolean;
  /** A subscription of Portico's own: it does not keep the link from being idle. */
  readonly background?: boolean;
  onMessage?(message: ServerMessage): void;
  /** The wait for a place among the calls in flight is over. */
  onAdmitted?(): void;
}

/** A request of Portico's own, on behalf of clients that declare `clientCapabilities`, or of nobody. */
export interface OwnCallOptions {
  readonly signal: StopSignal;
  readonly clientCapabilities?: JsonObject;
}

export interface ServerLinkOptions {
  readonly transport: ServerTransport;
  readonly peer: Peer;
  readonly identity: ClientIdentity;
  readonly limits: DeadlineLimits;
  readonly inbox: LinkInbox;
  /** Unsolicited messages other than `ping`; without it, a server's requests are refused at once. */
  onUnsolicited?(message: ServerMessage, link: ServerLink): void;
  onClosed(link: ServerLink, reason: string): void;
  /** Where to note what is wrong with what it lists. */
  readonly findings?: ListFindings;
  /** The server answered as one of the other era might. */
  onDoubt?(link: ServerLink): void;
}

export class ServerLink {
  readonly peer: Peer;
  readonly transport: ServerTransport;
  readonly findings: ListFindings | undefined;
  readonly openedAt = performance.now();
  /** When the last call ended; meaningful while nothing is in flight. */
  idleSince = performance.now();
  inFlight = 0;
  /** Subscriptions: they stay open, and keep the link from being idle. */
  streams = 0;
  /** Resolves once the wire is gone, whatever ended it. */
  readonly closed: Promise<void>;
  /** A call on it had an answer. */
  hasAnswered = false;
  /** Portico itself ends it: nothing is wrong with the server. */
  closing = false;
  readonly #identity: ClientIdentity;
  readonly #limits: DeadlineLimits;
  readonly #onDoubt: ServerLinkOptions['onDoubt'];
  /** What the server says of itself to whom, by what they declare. */
  readonly #peers = new Map<string, Promise<Peer>>();

  constructor(options: ServerLinkOptions) {
    this.peer = options.peer;
    this.transport = options.transport;
    this.findings = options.findings;
    this.#identity = options.identity;
    this.#limits = options.limits;
    this.#onDoubt = options.onDoubt;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    options.inbox.attach(
      (message) => this.#receive(message, options.onUnsolicited),
      (reason) => {
        resolve();
        options.onClosed(this, reason);
      },
    );
  }

  /** The server's session, fit to be gone on in over another wire; undefined where there is none. */
  get upstreamSession(): UpstreamSession | undefined {
    const { sessionId } = this.transport;
    return sessionId === undefined ? undefined : { id: sessionId, peer: this.peer };
  }

  /** From here on its end does not end the server's session: another link goes on in it. */
  leaveSession(): void {
    this.transport.leaveSession?.();
  }

  /** Nothing of it is in use. */
  get idle(): boolean {
    return this.inFlight === 0 && this.streams === 0;
  }

  get open(): boolean {
    return this.transport.open;
  }

  /**
   * Sends a request whose params are final and settles with the server's answer.
   *
   * @throws GatewayError server-unavailable, deadline-passed, no-capacity; or the signal's reason when aborted
   */
  async call(
    method: string,
    params: JsonObject | undefined,
    options: LinkCallOptions,
  ): Promise<JsonRpcOutcome> {
    const deadline = startDeadline(options.longLived ? UNLIMITED : this.#limits, options.signal);
    this.#count(options, 1);
    options.onStarted?.(deadline);
    try {
      const outcome = await this.transport.call({
        method,
        params,
        signal: deadline.signal,
        longLived: options.longLived ?? false,
        paramHeaders: options.paramHeaders,
        caller: options.caller,
        onAdmitted: () => options.onAdmitted?.(),
        onMessage: (message) => {
          if (message.method === 'notifications/progress') deadline.extend();
          options.onMessage?.(message);
        },
      });
      this.hasAnswered = true;
      if (raisesDoubt(this.peer.era, outcome)) this.#onDoubt?.(this);
      return outcome;
    } catch (thrown) {
      if (isRefusalByStatus(thrown)) this.#onDoubt?.(this);
      throw thrown;
    } finally {
      deadline.stop();
      this.#count(options, -1);
      this.idleSince = performance.now();
    }
  }

  /** A request of Portico's own (a list for the catalogue): the metadata that the revision demands is added. */
  async ownCall(
    method: string,
    params: JsonObject,
    { signal, clientCapabilities }: OwnCallOptions,
  ): Promise<JsonObject> {
    const outcome = await this.call(method, this.withOwnMeta(params, clientCapabilities), { signal });
    if ('result' in outcome) return outcome.result;
    throw new GatewayError('server-unavailable', {
      reason: outcome.error.code === METHOD_NOT_FOUND ? 'method-not-found' : 'own-call-refused',
      cause: new Error(`the server answered ${method} with error ${outcome.error.code}`),
    });
  }

  /**
   * What a modern server says of itself to a client of these capabilities, asked once for each set of them; what a
   * legacy one said in its handshake.
   */
  peerFor(clientCapabilities: JsonObject): Promise<Peer> {
    const key = JSON.stringify(clientCapabilities);
    if (this.peer.era === 'legacy' || key === '{}') return Promise.resolve(this.peer);
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const { signal } = new AbortController();
    const asked = this.ownCall('server/discover', {}, { signal, clientCapabilities }).then((result) => ({
      ...this.peer,
      ...describe(result),
    }));
    const [oldest] = this.#peers.size >= MAX_PEERS ? this.#peers.keys() : [];
    if (oldest !== undefined) this.#peers.delete(oldest);
    this.#peers.set(key, asked);
    asked.catch(() => {
      if (this.#peers.get(key) === asked) this.#peers.delete(key);
    });
    return asked;
  }

  /**
   * Says on whose behalf whatever follows is sent, but for calls that say it themselves.
   *
   * @returns undefined where nothing has to be waited for
   * @throws GatewayError credential-refused, or the signal's reason
   */
  present(caller: Caller, signal: StopSignal): Promise<void> | undefined {
    return this.transport.present?.(caller, signal);
  }

  notify(message: JsonRpcNotification): Promise<void> {
    return this.transport.notify(message);
  }

  respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void> {
    return this.transport.respond(id, outcome);
  }

  close(): Promise<void> {
    if (this.open) this.closing = true;
    return this.transport.close();
  }

  /** Params of a request of Portico's own, as the server's revision wants them. */
  withOwnMeta(params: JsonObject, clientCapabilities: JsonObject = {}): JsonObject {
    if (this.peer.era === 'legacy') return params;
    const _meta = {
      [META.protocolVersion]: this.peer.version,
      [META.clientInfo]: { ...this.#identity },
      [META.clientCapabilities]: clientCapabilities,
    };
    return { ...params, _meta };
  }

  #count({ longLived, background }: LinkCallOptions, change: 1 | -1): void {
    if (background) return;
    if (longLived) this.streams += change;
    else this.inFlight += change;
  }

  #receive(message: ServerMessage, onUnsolicited: ServerLinkOptions['onUnsolicited']): void {
    if ('id' in message && message.method === 'ping') {
      void this.respond(message.id, { result: {} });
    } else if (onUnsolicited !== undefined) {
      onUnsolicited(message, this);
    } else if ('id' in message) {
      const error = { code: METHOD_NOT_FOUND, message: 'No client feature is available on this connection' };
      void this.respond(message.id, { error });
    }
  }
}
