// One request to a Streamable HTTP server, from its POST to its response: JSON or an event stream, and on a legacy
// leg as many streams as that takes (2025-11-25, transports, "Resumability and Redelivery").
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../errors.ts';
import { SESSION_HEADER } from '../../protocol/request-headers.ts';
import type { StopSignal } from '../../runtime/stop.ts';
import type { Caller } from '../credentials/caller.ts';
import type { PendingCall } from '../pending-calls.ts';
import { type LineItem, readServerLine, readServerPieces } from '../server-line.ts';
import { delayUnlessAborted } from '../within-time.ts';
import { mediaTypeOf, type ReadLimits, readEvents, readPieces } from './http-body.ts';
import { discard, type HttpEndpoint } from './http-endpoint.ts';
import { messageBody } from './message-body.ts';
import type { OutboundUse } from './outbound.ts';
import { readNullIdError, readRefusal } from './refusal.ts';
import { ResumePoint } from './resume-point.ts';
import type { HeaderMap } from './upstream-headers.ts';
import { isBrokenConnection, UpstreamHttpError, unavailable, wireReasonOf } from './upstream-http-error.ts';
import type { HttpAnswer } from './wire-request.ts';

export interface CallExchangeOptions {
  readonly endpoint: HttpEndpoint;
  readonly pending: PendingCall;
  readonly headers: HeaderMap;
  readonly use: OutboundUse;
  readonly caller: Caller | undefined;
  /** The headers of a GET that resumes after an event; undefined on a modern leg, which cannot resume. */
  readonly resumeHeaders: ((lastEventId: string) => HeaderMap) | undefined;
  readonly limits: ReadLimits;
  readonly signal: StopSignal;
  /** The server took the request: the headers of its 2xx. */
  onAccepted(headers: IncomingHttpHeaders): void;
  /** The session turned out to be gone after the call had been accepted. */
  onSessionLost(): void;
  /** @returns true when the item was this call's response */
  onItem(item: LineItem): boolean;
}

/** Requests that change nothing, so that a second one does no harm when the first may or may not have arrived. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
]);

/** Streams that a server may end or break in a row without a sign of life before the call is given up. */
const MAX_FRUITLESS_RESUMES = 5;
/** Somebody waits for the answer, so a server that has its stream polled is asked at least this often. */
const MAX_POLL_MS = 2_000;
/** A server should end the stream after the response; its connection is not kept for longer than this. */
const LINGER_MS = 1_000;

/**
 * Settles the pending call.
 *
 * @throws GatewayError when there is no response, or the signal's reason; `session-lost` only where the server has
 * not taken the request
 */
export async function runCallExchange(options: CallExchangeOptions): Promise<void> {
  const answer = await post(options);
  if (answer.status >= 300) {
    const { pending, headers, signal } = options;
    const request = { id: pending.id, inSession: SESSION_HEADER in headers };
    pending.settle({ error: await readRefusal(answer, request, signal) });
    return;
  }
  options.onAccepted(answer.headers);
  switch (mediaTypeOf(answer)) {
    case 'json': {
      const pieces = readPieces(answer, options.signal, options.limits);
      return receiveJsonAnswer(answer, pieces instanceof Promise ? await pieces : pieces, options);
    }
    case 'events':
      return new CallStream(options).follow(answer);
    case 'other':
      discard(answer);
      throw unavailable(
        'media-type',
        new UpstreamHttpError(answer.status, 'the answer is of another media type'),
      );
  }
}

function post(options: CallExchangeOptions): Promise<HttpAnswer> {
  const { endpoint, pending, headers, use, caller, signal } = options;
  const body = messageBody(pending.request);
  const request = { method: 'POST', headers, body, use, caller, signal } as const;
  const sent = endpoint.send(request);
  if (!REPEATABLE.has(pending.method)) return sent;
  return sent.catch((thrown: unknown) => {
    // The server may have closed an idle connection at the very moment that we used it.
    const stale = thrown instanceof GatewayError && isBrokenConnection(thrown.cause);
    if (!stale) throw thrown;
    return endpoint.send(request);
  });
}

function receiveJsonAnswer(
  answer: HttpAnswer,
  pieces: readonly Buffer[],
  options: CallExchangeOptions,
): void {
  if (receive(readServerPieces(pieces), options)) return;
  const error = readNullIdError(Buffer.concat(pieces));
  if (error === undefined) {
    throw unavailable('no-response', new UpstreamHttpError(answer.status, 'the answer lacks the response'));
  }
  options.pending.settle({ error });
}

/** The event streams that carry one call. */
class CallStream {
  readonly #options: CallExchangeOptions;
  readonly #point = new ResumePoint();

  constructor(options: CallExchangeOptions) {
    this.#options = options;
  }

  async follow(first: HttpAnswer): Promise<void> {
    let failure = await this.#read(first);
    while (failure !== undefined) {
      const waitMs = this.#point.nextDelayMs(MAX_POLL_MS);
      if (!this.#mayResume(failure) || this.#point.fruitless > MAX_FRUITLESS_RESUMES) throw failure;
      await delayUnlessAborted(waitMs, this.#options.signal);
      failure = await this.#resume();
    }
  }

  /** @returns why the stream is over without the response; undefined when there was one */
  async #read(answer: HttpAnswer): Promise<unknown> {
    const { signal, limits } = this.#options;
    const openedAt = performance.now();
    let linger: NodeJS.Timeout | undefined;
    const onMessageData = (data: string) => {
      this.#point.progressed();
      if (receive(readServerLine(data), this.#options)) {
        linger ??= setTimeout(() => answer.body.destroy(), LINGER_MS).unref();
      }
    };
    try {
      await readEvents(answer, signal, {
        ...limits,
        onMessageData,
        onId: (id) => this.#point.moveTo(id),
        onRetry: (delayMs) => this.#point.retryAfter(delayMs),
      });
    } catch (thrown) {
      if (linger === undefined) return thrown;
    } finally {
      clearTimeout(linger);
      this.#point.ended(performance.now() - openedAt);
    }
    return linger ? undefined : unavailable('no-response', 'the event stream ended without the response');
  }

  async #resume(): Promise<unknown> {
    try {
      return await this.#read(await this.#reopen());
    } catch (thrown) {
      return thrown;
    }
  }

  /** A stream that was too much for us would be so again; a status is the server's last word. */
  #mayResume(failure: unknown): boolean {
    const { signal, resumeHeaders } = this.#options;
    if (signal.aborted || resumeHeaders === undefined || this.#point.lastEventId === undefined) return false;
    if (!(failure instanceof GatewayError) || wireReasonOf(failure) === 'message-too-large') return false;
    return !(failure.cause instanceof UpstreamHttpError) || failure.cause.status >= 500;
  }

  async #reopen(): Promise<HttpAnswer> {
    const { endpoint, resumeHeaders, caller, signal, onSessionLost } = this.#options;
    const headers = resumeHeaders?.(this.#point.lastEventId ?? '') ?? {};
    const answer = await endpoint.send({ method: 'GET', headers, use: 'calls', caller, signal });
    if (answer.status === 200 && mediaTypeOf(answer) === 'events') return answer;
    discard(answer);
    if (answer.status === 404 && SESSION_HEADER in headers) onSessionLost();
    throw unavailable(
      'no-response',
      new UpstreamHttpError(answer.status, 'the event stream cannot be resumed'),
    );
  }
}

/** Hands over a message, or the messages of a batch as 2025-03-26 allows them. @returns true with the response */
function receive(items: readonly LineItem[], { onItem }: CallExchangeOptions): boolean {
  let answered = false;
  for (const item of items) answered = onItem(item) || answered;
  return answered;
}
