// The answer to an exchange that another replica has handed over: what is said to the reply goes there as frames, in
// order, and is said there to the client's own. Once that replica is gone every method is a no-op.
import { failureFor, GatewayError } from '../errors.ts';
import type { ClientReply } from '../pipeline/exchange.ts';
import type { Era } from '../protocol/era.ts';
import {
  type JsonRpcOutcome,
  type StreamMessage,
  textOfWritten,
  writtenResult,
} from '../protocol/json-rpc.ts';
import { writeJson } from '../protocol/json-text.ts';
import type { ForwardedRecord, ReplyFrame } from '../replicas/replicas.ts';
import { frameText, HEARTBEAT, respondText } from '../replicas/reply-frames.ts';
import type { SignedLines } from '../replicas/signed-lines.ts';
import type { Place } from '../runtime/roster.ts';
import type { ExchangeRecord } from '../telemetry/exchange-record.ts';
import type { Accepted } from './accept-header.ts';
import type { KeepAliveComments, KeptAlive } from './keep-alive-comments.ts';
import { PacedResponse, type PacedResponseOptions } from './paced-response.ts';
import { ReplyCourse } from './reply-course.ts';

export interface FramedReplyOptions extends PacedResponseOptions {
  /** What the client's Accept header allows. */
  readonly accepts: Accepted;
  readonly record: ExchangeRecord;
  /** Its first line is out. */
  readonly signed: SignedLines;
  /** What shows the other replica, while nothing is said, that this one is there. */
  readonly heartbeats: KeepAliveComments;
  /** Called for each failure that is told to the client. */
  onFailure(error: GatewayError): void;
  /** Called when the other replica, or the client there, is gone before the answer was complete. */
  onLeft(): void;
}

/** Smaller answers fit the socket's own buffer and are not worth counting. */
const LARGE_ANSWER = 64 * 1024;
/** `{"jsonrpc":"2.0","id":` and the comma behind the id. */
const RESPONSE_HEAD_BYTES = 23;

export class FramedReply implements ClientReply, KeptAlive {
  readonly accepts: Accepted;
  readonly #options: FramedReplyOptions;
  readonly #pace: PacedResponse;
  readonly #course: ReplyCourse;
  readonly #heartbeat: Place;
  readonly #over = Promise.withResolvers<void>();

  /** The head of the response is out. */
  constructor(options: FramedReplyOptions) {
    const { accepts, response, heartbeats } = options;
    this.accepts = accepts;
    this.#options = options;
    this.#course = new ReplyCourse(accepts, (primingEventId) => void this.#say({ open: { primingEventId } }));
    this.#pace = new PacedResponse(options, () => this.#abandon());
    this.#heartbeat = heartbeats.add(this);
    response.on('error', () => {});
    response.once('close', () => this.#onClose());
  }

  writeComment(): void {
    const { response } = this.#options;
    if (!response.writableNeedDrain) response.write(HEARTBEAT);
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

  setHeader(name: string, value: string): void {
    if (this.#course.isOpen) void this.#say({ header: [name, value] });
  }

  send(message: StreamMessage, eventId?: string): Promise<void> | undefined {
    this.openStream();
    return this.#course.isStreaming ? this.#say({ send: { message, eventId } }) : undefined;
  }

  respond(
    idText: string,
    outcome: JsonRpcOutcome,
    { status, eventId }: { status?: number; eventId?: string } = {},
  ): void {
    if (this.#course.hasEnded) return;
    const { record, hold } = this.#options;
    const written = writtenResult(outcome);
    const outcomeJson = written === undefined ? writeJson(outcome) : `{"result":${textOfWritten(written)}}`;
    if (outcomeJson.length > LARGE_ANSWER && !hold.resize(outcomeJson.length)) {
      this.fail(new GatewayError('no-capacity', { reason: 'buffers_full' }), idText, record.era ?? 'legacy');
      return;
    }
    record.outcome ??= 'error' in outcome ? 'error' : 'ok';
    record.isError = 'result' in outcome && outcome.result.isError === true;
    record.answerBytes =
      RESPONSE_HEAD_BYTES + Buffer.byteLength(idText) + Buffer.byteLength(outcomeJson) - '{'.length;
    // As the client's own reply decides: a stream that a hold was to begin begins with its priming event all the same.
    if (this.#course.endsAsEvent(status ?? 200)) this.openStream();
    this.#end(respondText({ idText, outcomeJson, status, eventId }));
  }

  fail(error: GatewayError, idText: string | undefined, era: Era): void {
    const { record, onFailure } = this.#options;
    onFailure(error);
    if (this.#course.hasEnded) return;
    record.outcome ??= error.code;
    record.reason ??= error.details.reason;
    const { cause: _, ...details } = error.details;
    if (this.#course.endsAsEvent(failureFor(error.code, era).status)) this.openStream();
    this.#end(frameText({ fail: { code: error.code, details, idText, era } }));
  }

  accept(status: 202 | 204 = 202): void {
    if (!this.#course.isOpen) return;
    this.#options.record.outcome ??= 'ok';
    this.#end(frameText({ accept: status }));
  }

  end(): void {
    if (this.#course.hasEnded) return;
    this.openStream();
    if (this.#course.isStreaming) this.#end(frameText({ end: true }));
    else this.accept();
  }

  whenClosed(listener: () => void): void {
    void this.#over.promise.then(listener);
  }

  /** Once the pipeline is done as well: says what is to be remembered of the exchange, as the last thing of all. */
  async close(): Promise<void> {
    await this.#over.promise;
    const { response, record, signed } = this.#options;
    if (!response.destroyed) this.#pace.end(signed.sign(frameText({ record: forwardedRecord(record) })));
  }

  #say(frame: ReplyFrame): Promise<void> | undefined {
    return this.#pace.write(this.#options.signed.sign(frameText(frame)));
  }

  #end(lastText: string): void {
    this.#pace.writeLast(this.#options.signed.sign(lastText));
    this.#settle();
  }

  #settle(): void {
    this.#course.end();
    this.#over.resolve();
  }

  /** The client, or the way to it, is too slow for what it asked: its exchange ends, and nobody else's. */
  #abandon(): void {
    const { record, response } = this.#options;
    record.outcome ??= 'no-capacity';
    record.reason ??= 'slow_reader';
    response.destroy();
  }

  #onClose(): void {
    const isLeft = !this.#course.hasEnded;
    this.#settle();
    this.#heartbeat.leave();
    this.#pace.closed();
    if (isLeft) this.#options.onLeft();
  }
}

function forwardedRecord(record: ExchangeRecord): ForwardedRecord {
  const { outcome, reason, isError, answerBytes, upstreamMs, queueMs } = record;
  const { server, target, protocolVersion, rule } = record;
  return {
    ...{ outcome, reason, isError, answerBytes, upstreamMs, queueMs },
    ...{ server, target, protocolVersion, rule },
  };
}
