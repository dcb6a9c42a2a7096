// The wire to a server over Streamable HTTP, in both eras: each message its own POST. What a modern request needs
// stands in the request itself; a legacy leg has a session, a stream of its own, and an end.
import type { IncomingHttpHeaders } from 'node:http';
import type { HttpServerConfig } from '../../config/config.ts';
import type { JsonRpcId, JsonRpcNotification, JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import { SESSION_HEADER } from '../../protocol/request-headers.ts';
import { Roster } from '../../runtime/roster.ts';
import { Stop, type StopSignal } from '../../runtime/stop.ts';
import type { BufferBudget } from '../../state/buffer-budget.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Caller } from '../credentials/caller.ts';
import { type LinkCredential, NO_CREDENTIAL } from '../credentials/link-credential.ts';
import { isRefusalByStatus } from '../era-doubt.ts';
import { type PendingCall, PendingCalls } from '../pending-calls.ts';
import { type LineItem, readServerLine } from '../server-line.ts';
import type { ServerTransport, TransportEvents, UpstreamCall } from '../transport.ts';
import { runCallExchange } from './call-exchange.ts';
import { discard, HttpEndpoint } from './http-endpoint.ts';
import { followLegacyEventStream, type SessionCheck } from './legacy-event-stream.ts';
import { type Notice, type NoticeAddress, Notices } from './notices.ts';
import type { Outbound, OutboundUse } from './outbound.ts';
import { asServerMessage } from './server-message.ts';
import { TransportLife } from './transport-life.ts';
import {
  baseHeaders,
  type HeaderMap,
  type LegacyLeg,
  legacyPostHeaders,
  modernPostHeaders,
  modernVersionOf,
  notificationHeaders,
  sessionHeaders,
  streamHeaders,
  traceHeaders,
} from './upstream-headers.ts';
import { unavailable, wireReasonOf } from './upstream-http-error.ts';

export interface HttpTransport extends ServerTransport {
  /**
   * Opens a legacy server's own event stream; call it once the handshake is done. Nothing happens where the server
   * offers none. Idempotent.
   */
  startEventStream(): void;
  /** Messages of the server that were dropped: they named no call of ours, or were none at all. */
  readonly strayMessages: number;
}

export interface HttpTransportOptions {
  /**
   * After `onClosed('session-lost')` calls in flight are not broken off: each settles by itself, with the reason
   * `session-lost` if the server had not taken it.
   */
  readonly events: TransportEvents;
  readonly outbound: Outbound;
  /** Default: what the config has as headers is all. */
  readonly credential?: LinkCredential;
  readonly logger: Logger;
  /** What is half read counts here. */
  readonly budget: BufferBudget;
}

/** No I/O happens before the first message. */
export function openHttpTransport(config: HttpServerConfig, options: HttpTransportOptions): HttpTransport {
  return new StreamableHttpTransport(config, options);
}

const DELETE_TIMEOUT_MS = 2_000;
const PING_TIMEOUT_MS = 10_000;
const SESSION_ID = /^[\x21-\x7e]+$/;
const NEW_LEG: LegacyLeg = { version: undefined, sessionId: undefined };

class StreamableHttpTransport implements HttpTransport {
  readonly kind = 'http';
  readonly #config: HttpServerConfig;
  readonly #events: TransportEvents;
  readonly #logger: Logger;
  readonly #budget: BufferBudget;
  readonly #endpoint: HttpEndpoint;
  readonly #credential: LinkCredential;
  readonly #base: HeaderMap;
  readonly #calls = new PendingCalls();
  readonly #life: TransportLife;
  readonly #notices: Notices;
  /** Calls in flight, to be broken off by `close`. */
  readonly #exchanges = new Roster<Stop>();
  #leg = NEW_LEG;
  #isLeft = false;
  #closing: Promise<void> | undefined;
  #streaming = false;

  constructor(config: HttpServerConfig, options: HttpTransportOptions) {
    const { events, outbound, credential = NO_CREDENTIAL, logger, budget } = options;
    this.#config = config;
    this.#events = events;
    this.#logger = logger;
    this.#budget = budget;
    this.#credential = credential;
    const dispatcherFor = (use: OutboundUse) => outbound.dispatcherFor(config, use);
    this.#endpoint = new HttpEndpoint(new URL(config.url), dispatcherFor, credential);
    this.#base = baseHeaders(config);
    this.#life = new TransportLife(config, { events, logger });
    this.#notices = new Notices({
      life: this.#life,
      logger,
      addressFor: (notice) => this.#addressFor(notice),
      onSessionLost: () => this.#loseSession(),
    });
  }

  get open(): boolean {
    return this.#life.ended === undefined;
  }

  get strayMessages(): number {
    return this.#life.strayMessages;
  }

  present(caller: Caller, signal: StopSignal): Promise<void> | undefined {
    return this.#credential.present(caller, signal);
  }

  setProtocolVersion(version: string): void {
    this.#leg = { ...this.#leg, version };
  }

  get sessionId(): string | undefined {
    return this.#leg.sessionId;
  }

  takeUpSession(sessionId: string, version: string): void {
    this.#leg = { sessionId, version };
  }

  leaveSession(): void {
    this.#isLeft = true;
  }

  async call(call: UpstreamCall): Promise<JsonRpcOutcome> {
    const { slots } = this.#life;
    const { longLived, signal } = call;
    const release = longLived ? undefined : (slots.acquireNow(signal) ?? (await slots.acquire(signal)));
    try {
      if (this.#life.ended !== undefined) throw this.#life.ended;
      call.onAdmitted?.();
      return await this.#exchange(call);
    } finally {
      release?.();
    }
  }

  notify(message: JsonRpcNotification): Promise<void> {
    return this.#notices.notify(message);
  }

  respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void> {
    return this.#notices.respond(id, outcome);
  }

  startEventStream(): void {
    if (this.#streaming || !this.open) return;
    this.#streaming = true;
    const stream = followLegacyEventStream({
      endpoint: this.#endpoint,
      limits: { maxBytes: this.#config.maxMessageBytes, budget: this.#budget },
      logger: this.#logger,
      signal: this.#life.signal,
      headers: (lastEventId) => streamHeaders(this.#base, this.#leg, lastEventId),
      onMessageData: (data) => this.#receiveUnsolicited(data),
      checkSession: () => this.#checkSession(),
    });
    this.#life.track(stream);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const closed = unavailable('closed', 'the link was closed');
    const wasOpen = this.#life.end(closed);
    this.#calls.failAll(closed);
    for (const exchange of this.#exchanges) exchange.abort(closed);
    await this.#notices.lastWords();
    if (wasOpen) await this.#deleteSession();
    await this.#life.settled();
    if (wasOpen) this.#events.onClosed('closed');
  }

  #exchange(call: UpstreamCall): Promise<JsonRpcOutcome> {
    const modern = modernVersionOf(call.params) !== undefined;
    const leg = call.method === 'initialize' ? NEW_LEG : this.#leg;
    const stop = new Stop();
    const pending = this.#calls.open(call, ({ id, method }) => {
      stop.abort(call.signal.reason);
      // On a modern leg closing the stream says it all; `initialize` must not be cancelled on a legacy one.
      if (!modern && method !== 'initialize') this.#notices.cancel(id);
    });
    const place = this.#exchanges.enter(stop);
    const exchange = runCallExchange({
      endpoint: this.#endpoint,
      pending,
      headers: modern
        ? modernPostHeaders(this.#base, pending.request, call.paramHeaders ?? {})
        : { ...legacyPostHeaders(this.#base, leg), ...traceHeaders(call.params) },
      use: call.longLived ? 'streams' : 'calls',
      caller: call.caller,
      resumeHeaders: modern ? undefined : (lastEventId) => streamHeaders(this.#base, this.#leg, lastEventId),
      limits: { maxBytes: this.#config.maxMessageBytes, budget: this.#budget },
      signal: stop,
      onAccepted: (headers) => {
        if (call.method === 'initialize') this.#adoptSession(headers);
      },
      onSessionLost: () => this.#loseSession(),
      onItem: (item) => this.#receive(item, pending, modern),
    });
    const done = this.#life.hold();
    const over = () => {
      place.leave();
      done();
    };
    exchange.then(over, (thrown: unknown) => {
      if (wireReasonOf(thrown) === 'session-lost') this.#loseSession();
      pending.fail(thrown);
      over();
    });
    return pending.outcome;
  }

  /** A refused GET may speak of the session or of GET itself: a ping in that session tells which. */
  async #checkSession(): Promise<SessionCheck> {
    if (this.#leg.sessionId === undefined) return 'alive';
    const signal = AbortSignal.any([this.#life.signal, AbortSignal.timeout(PING_TIMEOUT_MS)]);
    const answered = await this.#exchange({ method: 'ping', params: undefined, signal, onMessage: () => {} })
      .then(() => true)
      .catch((thrown: unknown) => isRefusalByStatus(thrown));
    if (!this.open) return 'lost';
    return answered ? 'alive' : 'unknown';
  }

  #adoptSession(headers: IncomingHttpHeaders): void {
    const sessionId = headers[SESSION_HEADER];
    if (sessionId !== undefined && (typeof sessionId !== 'string' || !SESSION_ID.test(sessionId))) {
      throw unavailable('session-id-invalid', 'the session id of the server is no single visible ASCII text');
    }
    this.#leg = { ...NEW_LEG, sessionId };
  }

  /** @returns true when the item is the response to `pending` */
  #receive(item: LineItem, pending: PendingCall, modern: boolean): boolean {
    switch (item.kind) {
      case 'response':
      case 'bad-answer': {
        if (this.#calls.find(item.id) !== pending) break;
        if (item.kind === 'response') pending.settle(item.outcome);
        else pending.fail(unavailable('bad-answer', item.problem));
        return true;
      }
      case 'request':
        // The modern revision has no requests of servers, and no way to answer one.
        if (modern) break;
        if (item.method === 'ping') this.#life.tell(asServerMessage(item));
        else pending.deliver(asServerMessage(item));
        return false;
      case 'notification':
        if (pending.deliver(asServerMessage(item))) return false;
    }
    this.#life.stray();
    return false;
  }

  #receiveUnsolicited(data: string): void {
    for (const item of readServerLine(data)) {
      if (item.kind === 'request' || item.kind === 'notification') {
        this.#life.tell(asServerMessage(item));
      } else {
        this.#life.stray();
      }
    }
  }

  #addressFor(notice: Notice): NoticeAddress {
    const headers =
      'method' in notice
        ? notificationHeaders(this.#base, this.#leg, notice)
        : legacyPostHeaders(this.#base, this.#leg);
    return { endpoint: this.#endpoint, headers, inSession: this.#leg.sessionId !== undefined };
  }

  async #deleteSession(): Promise<void> {
    if (this.#leg.sessionId === undefined || this.#isLeft) return;
    const headers = sessionHeaders(this.#base, this.#leg);
    try {
      const signal = AbortSignal.timeout(DELETE_TIMEOUT_MS);
      discard(await this.#endpoint.send({ method: 'DELETE', headers, use: 'notices', signal }));
    } catch (thrown) {
      this.#logger.debug({ err: thrown }, 'the session of the server was not ended');
    }
  }

  #loseSession(): void {
    if (!this.#life.end(unavailable('session-lost', 'the server has forgotten the session'))) return;
    this.#events.onClosed('session-lost');
  }
}
