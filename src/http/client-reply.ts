// The answer to one HTTP request, JSON or server-sent events, over Node's own response. Once the client is gone
// every method is a no-op: a late answer is nobody's fault.
import type { ServerResponse } from 'node:http';
import { failureFor, GatewayError } from '../errors.ts';
import type { ClientReply } from '../pipeline/exchange.ts';
import type { Era } from '../protocol/era.ts';
import { type JsonRpcOutcome, type StreamMessage, writtenResult } from '../protocol/json-rpc.ts';
import { writeJson } from '../protocol/json-text.ts';
import type { Place } from '../runtime/roster.ts';
import type { StopHearer } from '../runtime/stop.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import type { Accepted } from './accept-header.ts';
import { type AnswerBody, answerBody, LARGE_BODY_BYTES } from './answer-body.ts';
import { errorMessage, errorResponse, type FailureContext } from './error-response.ts';
import { EVENT_STREAM, eventBounds, eventFrame, KEEP_ALIVE_COMMENT, primingFrame } from './event-frame.ts';
import type { KeepAliveComments, KeptAlive } from './keep-alive-comments.ts';
import { PacedResponse, type PacedResponseOptions } from './paced-response.ts';
import { ReplyCourse } from './reply-course.ts';
import type { ResponseClose } from './response-close.ts';
import { challengeFor, type SignIn } from './sign-in.ts';

export interface HttpReplyOptions extends PacedResponseOptions {
  readonly accepts: Accepted;
  readonly record: ExchangeRecord;
  readonly close: ResponseClose;
  /** Sent with every answer: name and value in turn. */
  readonly headers: readonly string[];
  readonly keepAlive: KeepAliveComments;
  /** True while the server is ending: this answer is then the last on its connection. */
  isLastAnswer(): boolean;
  /** Called for each failure that is told to the client. */
  onFailure(error: GatewayError, record: ExchangeRecord): void;
  /** Words what a client is told that has to sign in. */
  readonly signIn: SignIn | undefined;
}

/** A client that is gone is no failure. */
function ignore(): void {}

const JSON_BOUNDS = ['', ''] as const;

export class HttpReply implements ClientReply, KeptAlive, StopHearer {
  readonly accepts: Accepted;
  readonly #options: HttpReplyOptions;
  readonly #response: ServerResponse;
  readonly #pace: PacedResponse;
  readonly #course: ReplyCourse;
  #headers: readonly string[];
  #comments: Place | undefined;

  constructor(options: HttpReplyOptions) {
    this.accepts = options.accepts;
    this.#course = new ReplyCourse(options.accepts, (primingEventId) => this.#beginStream(primingEventId));
    this.#options = options;
    this.#response = options.response;
    this.#pace = new PacedResponse(options, () => this.#abandon());
    this.#headers = options.headers;
    this.#response.on('error', ignore);
    options.close.tell(this);
  }

  get committed(): boolean {
    return !this.#course.isOpen;
  }

  holdFor(holdMs: number, primingEventId?: string): void {
    this.#course.holdFor(holdMs, primingEventId);
  }

  openStream(primingEventId?: string): void {
    this.#course.openStream(primingEventId);
  }

  #beginStream(primingEventId: string | undefined): void {
    this.#writeHead(200, [
      'Content-Type',
      EVENT_STREAM,
      // Proxies that buffer or compress would hold events back.
      'Cache-Control',
      'no-cache, no-transform',
      'X-Accel-Buffering',
      'no',
    ]);
    const priming = primingEventId === undefined ? '' : primingFrame(primingEventId);
    this.#response.write(KEEP_ALIVE_COMMENT + priming);
    this.#comments = this.#options.keepAlive.add(this);
  }

  writeComment(): void {
    // Who does not read what is there needs no more of it.
    if (!this.#response.writableNeedDrain) this.#response.write(KEEP_ALIVE_COMMENT);
  }

  setHeader(name: string, value: string): void {
    if (this.#course.isOpen) this.#headers = [...this.#headers, name, value];
  }

  send(message: StreamMessage, eventId?: string): Promise<void> | undefined {
    this.openStream();
    return this.#course.isStreaming ? this.#pace.write(eventFrame(writeJson(message), eventId)) : undefined;
  }

  respond(
    idText: string,
    outcome: JsonRpcOutcome,
    { status = 200, eventId }: { status?: number; eventId?: string } = {},
  ): void {
    if (this.#course.hasEnded) return;
    const { record, hold } = this.#options;
    const isEvent = this.#course.endsAsEvent(status);
    const [begin, end] = isEvent ? eventBounds(eventId) : JSON_BOUNDS;
    const head = `${begin}{"jsonrpc":"2.0","id":${idText},`;
    const written = writtenResult(outcome);
    const texts =
      written === undefined
        ? [`${head}${writeJson(outcome).slice(1)}${end}`]
        : [`${head}"result":`, ...written, `}${end}`];
    const body = answerBody(texts);
    if (body.bytes > LARGE_BODY_BYTES && !hold.resize(body.bytes)) {
      this.fail(new GatewayError('no-capacity', { reason: 'buffers_full' }), idText, record.era ?? 'legacy');
      return;
    }
    record.outcome ??= 'error' in outcome ? 'error' : 'ok';
    record.isError = 'result' in outcome && outcome.result.isError === true;
    record.answerBytes = body.bytes - begin.length - end.length;
    if (isEvent) {
      this.openStream();
      this.#endStream(body.pieces);
    } else {
      this.#endWithJson(status, [], body);
    }
  }

  fail(error: GatewayError, idText: string | undefined, era: Era): void {
    const { record, signIn, onFailure } = this.#options;
    onFailure(error, record);
    if (this.#course.hasEnded) return;
    record.outcome ??= error.code;
    record.reason ??= error.details.reason;
    const challenge = challengeFor(signIn, record.view);
    const context: FailureContext = { era, idText, incidentId: record.id, challenge };
    if (this.#course.endsAsEvent(failureFor(error.code, era).status)) {
      this.openStream();
      // Without an id the client could not tell whose failure this is.
      this.#endStream(idText === undefined ? [] : [eventFrame(errorMessage(error, context), undefined)]);
    } else {
      const { status, headers, body } = errorResponse(error, context);
      this.#endWithJson(status, headers, answerBody([body]));
    }
  }

  accept(status: 202 | 204 = 202): void {
    if (!this.#course.isOpen) return;
    this.#options.record.outcome ??= 'ok';
    this.#course.end();
    this.#writeHead(status, status === 204 ? [] : ['Content-Length', '0']);
    this.#response.end();
  }

  end(): void {
    if (this.#course.hasEnded) return;
    this.openStream();
    if (this.#course.isStreaming) this.#endStream([]);
    else this.accept();
  }

  whenClosed(listener: () => void): void {
    this.#options.close.tell(listener);
  }

  #endWithJson(status: number, headers: readonly string[], { bytes, pieces }: AnswerBody): void {
    this.#course.end();
    this.#writeHead(status, [
      ...headers,
      'Content-Type',
      'application/json',
      'Cache-Control',
      'no-store',
      'Content-Length',
      String(bytes),
    ]);
    this.#pace.end(...pieces);
  }

  #endStream(lastFrame: readonly (string | Buffer)[]): void {
    this.#course.end();
    this.#stopComments();
    this.#pace.end(...lastFrame);
  }

  #writeHead(status: number, headers: readonly string[]): void {
    if (this.#options.isLastAnswer()) this.#response.shouldKeepAlive = false;
    this.#response.writeHead(status, [...this.#headers, ...headers]);
  }

  /** The reader is too slow for what it asked: its exchange ends, and nobody else's. */
  #abandon(): void {
    this.#options.record.outcome ??= 'no-capacity';
    this.#options.record.reason ??= 'slow_reader';
    this.#response.destroy();
  }

  #stopComments(): void {
    this.#comments?.leave();
  }

  /** The response has closed. */
  handleEvent(): void {
    this.#course.end();
    this.#stopComments();
    this.#pace.closed();
  }
}
