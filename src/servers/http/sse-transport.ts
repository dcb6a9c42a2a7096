// The deprecated HTTP+SSE wire of 2024-11-05: one GET stream that carries every message of the server, and a second
// URL, named by the stream's first event, that takes every message of ours. The stream is the session.
import type { HttpServerConfig } from '../../config/config.ts';
import type { GatewayError } from '../../errors.ts';
import type { JsonRpcId, JsonRpcNotification, JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import type { Caller } from '../credentials/caller.ts';
import { type PendingCall, PendingCalls } from '../pending-calls.ts';
import { readServerLine } from '../server-line.ts';
import type { UpstreamCall } from '../transport.ts';
import { mediaTypeOf, readEvents } from './http-body.ts';
import { discard, HttpEndpoint } from './http-endpoint.ts';
import type { HttpTransport, HttpTransportOptions } from './http-transport.ts';
import { messageBody } from './message-body.ts';
import { Notices } from './notices.ts';
import { readRefusal } from './refusal.ts';
import { asServerMessage } from './server-message.ts';
import { TransportLife } from './transport-life.ts';
import {
  baseHeaders,
  type HeaderMap,
  legacyPostHeaders,
  streamHeaders,
  traceHeaders,
} from './upstream-headers.ts';
import {
  statusFailure,
  UpstreamHttpError,
  unavailable,
  wireFailure,
  wireReasonOf,
} from './upstream-http-error.ts';
import type { HttpAnswer } from './wire-request.ts';

export interface SseTransportOptions extends HttpTransportOptions {
  /** Bounds the opening alone. */
  readonly signal: StopSignal;
}

/**
 * Resolves once the server has named the URL that takes messages.
 *
 * @throws GatewayError server-unavailable, with `endpoint-refused` when that URL is of another origin; or the signal's
 * reason
 */
export async function openSseTransport(
  config: HttpServerConfig,
  options: SseTransportOptions,
): Promise<HttpTransport> {
  const transport = new SseTransport(config, options);
  await transport.start(options.signal);
  return transport;
}

/** A POST whose response has come by the stream is not waited for any longer than this. */
const LINGER_MS = 1_000;

class SseTransport implements HttpTransport {
  readonly kind = 'sse';
  readonly #config: HttpServerConfig;
  readonly #options: HttpTransportOptions;
  readonly #stream: HttpEndpoint;
  readonly #base: HeaderMap;
  readonly #calls = new PendingCalls();
  readonly #life: TransportLife;
  readonly #notices: Notices;
  /** Breaks the stream, and with it the session. */
  readonly #cut = new AbortController();
  readonly #named = Promise.withResolvers<void>();
  /** Where our messages go, once the server has named it. */
  #messages: HttpEndpoint;
  #version: string | undefined;
  #started = false;
  #closing: Promise<void> | undefined;

  constructor(config: HttpServerConfig, options: HttpTransportOptions) {
    this.#config = config;
    this.#options = options;
    this.#stream = this.#endpointAt(new URL(config.url));
    this.#messages = this.#stream;
    this.#base = baseHeaders(config);
    this.#life = new TransportLife(config, options);
    this.#notices = new Notices({
      life: this.#life,
      logger: options.logger,
      addressFor: () => ({ endpoint: this.#messages, headers: this.#postHeaders(), inSession: true }),
      onSessionLost: () => this.#loseSession(),
    });
  }

  get open(): boolean {
    return this.#life.ended === undefined;
  }

  get strayMessages(): number {
    return this.#life.strayMessages;
  }

  async start(signal: StopSignal): Promise<void> {
    signal.throwIfAborted();
    const abandon = () => this.#cut.abort(signal.reason);
    signal.addEventListener('abort', abandon);
    try {
      const answer = await this.#openStream();
      this.#life.track(this.#readStream(answer));
      await this.#named.promise;
      if (this.#life.ended !== undefined) throw this.#life.ended;
      this.#started = true;
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  }

  async present(caller: Caller, signal: StopSignal): Promise<void> {
    await this.#options.credential?.present(caller, signal);
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  /** The one stream is open from the start. */
  startEventStream(): void {}

  async call(call: UpstreamCall): Promise<JsonRpcOutcome> {
    const { slots } = this.#life;
    const release = slots.acquireNow(call.signal) ?? (await slots.acquire(call.signal));
    try {
      if (this.#life.ended !== undefined) throw this.#life.ended;
      call.onAdmitted?.();
      return await this.#exchange(call);
    } finally {
      release();
    }
  }

  notify(message: JsonRpcNotification): Promise<void> {
    return this.#notices.notify(message);
  }

  respond(id: JsonRpcId, outcome: JsonRpcOutcome): Promise<void> {
    return this.#notices.respond(id, outcome);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Without the stream there is no session that a cancellation could be said in.
    await this.#notices.lastWords();
    this.#end(unavailable('closed', 'the link was closed'), 'closed');
    await this.#life.settled();
  }

  /** Ends the link; once it has, this does nothing. */
  #end(because: GatewayError, reason: string): void {
    if (!this.#life.end(because)) return;
    this.#calls.failAll(reason === 'closed' ? because : unavailable('connection-lost', because));
    this.#cut.abort(because);
    if (this.#started) this.#options.events.onClosed(reason);
  }

  #endpointAt(url: URL): HttpEndpoint {
    const { outbound, credential } = this.#options;
    return new HttpEndpoint(url, (use) => outbound.dispatcherFor(this.#config, use), credential);
  }

  #postHeaders(): HeaderMap {
    return legacyPostHeaders(this.#base, { version: this.#version, sessionId: undefined });
  }

  async #openStream(): Promise<HttpAnswer> {
    const headers = streamHeaders(this.#base, { version: undefined, sessionId: undefined }, undefined);
    const { signal } = this.#cut;
    const answer = await this.#stream.send({ method: 'GET', headers, use: 'streams', signal });
    if (answer.status === 200 && mediaTypeOf(answer) === 'events') return answer;
    discard(answer);
    if (answer.status >= 300) throw statusFailure(answer.status, answer.headers);
    throw unavailable('media-type', new UpstreamHttpError(answer.status, 'the answer is no event stream'));
  }

  /** Never rejects. */
  async #readStream(answer: HttpAnswer): Promise<void> {
    let failure: unknown = unavailable('connection-lost', 'the server ended the event stream');
    try {
      await readEvents(answer, this.#cut.signal, {
        maxBytes: this.#config.maxMessageBytes,
        budget: this.#options.budget,
        onMessageData: (data) => this.#receive(data),
        onOther: (type, data) => {
          if (type === 'endpoint') this.#nameEndpoint(data, answer.url);
        },
      });
    } catch (thrown) {
      failure = thrown;
    }
    this.#named.reject(failure);
    this.#end(wireFailure(failure), 'stream-ended');
  }

  /** The server chooses where our messages, and the headers configured for it, go: nowhere but to its own origin. */
  #nameEndpoint(data: string, stream: URL): void {
    const target = URL.canParse(data, stream.href) ? new URL(data, stream) : undefined;
    if (target?.origin !== stream.origin) {
      throw unavailable('endpoint-refused', 'the server names an endpoint of another origin');
    }
    this.#messages = this.#endpointAt(target);
    this.#named.resolve();
  }

  #receive(data: string): void {
    for (const item of readServerLine(data)) {
      switch (item.kind) {
        case 'response':
        case 'bad-answer': {
          const pending = this.#calls.find(item.id);
          if (item.kind === 'response') pending?.settle(item.outcome);
          else pending?.fail(unavailable('bad-answer', item.problem));
          if (pending === undefined) this.#life.stray();
          break;
        }
        case 'request':
        case 'notification': {
          const message = asServerMessage(item);
          if (message.method !== 'notifications/progress') this.#life.tell(message);
          else if (!this.#calls.deliverProgress(message)) this.#life.stray();
          break;
        }
        default:
          this.#life.stray();
      }
    }
  }

  #exchange(call: UpstreamCall): Promise<JsonRpcOutcome> {
    const stop = new AbortController();
    const pending = this.#calls.open(call, ({ id, method }) => {
      stop.abort(call.signal.reason);
      if (method !== 'initialize') this.#notices.cancel(id);
    });
    const post = this.#post(pending, call.caller, stop.signal).catch((thrown: unknown) => {
      pending.fail(thrown);
      if (wireReasonOf(thrown) === 'session-lost') this.#loseSession();
    });
    this.#life.track(post);
    const linger = () => {
      const timer = setTimeout(() => stop.abort(), this.open ? LINGER_MS : 0).unref();
      void post.finally(() => clearTimeout(timer));
    };
    pending.outcome.then(linger, linger);
    return pending.outcome;
  }

  /** Hands over the request; its response comes by the stream, even while this is still on its way. */
  async #post(pending: PendingCall, caller: Caller | undefined, signal: StopSignal): Promise<void> {
    const answer = await this.#messages.send({
      method: 'POST',
      headers: { ...this.#postHeaders(), ...traceHeaders(pending.request.params) },
      body: messageBody(pending.request),
      use: 'calls',
      caller,
      signal,
    });
    if (answer.status < 300) discard(answer);
    else pending.settle({ error: await readRefusal(answer, { id: pending.id, inSession: true }, signal) });
  }

  #loseSession(): void {
    this.#end(unavailable('session-lost', 'the server has forgotten the session'), 'session-lost');
  }
}
