// One request through undici's `dispatch`: its `request` makes a stream of every body, which costs more than all else
// that is done for a small answer. Here the reader takes the chunks as they come.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { StopSignal } from '../../runtime/stop.ts';
import { TurnBatch } from '../../runtime/turn-batch.ts';
import { wireFailure } from './upstream-http-error.ts';

export interface HttpAnswer {
  /** Where it came from, after redirects. */
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: AnswerBody;
}

/** To be read to its end, discarded or destroyed: until then it holds a connection. */
export interface AnswerBody {
  /** All of it, where it is here already and small; then there is nothing more to be read or ended. */
  readonly whole: Buffer | undefined;
  /** Once. What came before is handed over at once. */
  read(reader: BodyReader): void;
  /** Breaks the connection off, if the body has not ended. */
  destroy(): void;
}

/** After `onEnd` or `onBroken` nothing comes any more. */
export interface BodyReader {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  onBroken(error: Error): void;
}

/** A small answer arrives whole, before anybody could read it; of a large one no more than this is taken. */
const MAX_EARLY_BYTES = 64 * 1024;

export interface WireRequest {
  readonly url: URL;
  readonly options: Dispatcher.DispatchOptions;
  /** Breaks the exchange at any time, also while the body is read. */
  readonly signal: StopSignal;
}

/**
 * Resolves with the head of the answer.
 *
 * @throws GatewayError server-unavailable, or the signal's reason when aborted
 */
export function sendOnWire(dispatcher: Dispatcher, request: WireRequest): Promise<HttpAnswer> {
  const { signal } = request;
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const exchange = new WireExchange(request, resolve, reject);
  try {
    dispatcher.dispatch(request.options, exchange);
  } catch (thrown) {
    exchange.finish(thrown);
  }
  return promise;
}

const HEADS = new TurnBatch<WireExchange>((exchange) => exchange.handOver());

/** All in one object, since each call has one. */
class WireExchange implements Dispatcher.DispatchHandler, HttpAnswer, AnswerBody {
  readonly url: URL;
  status = 0;
  headers: IncomingHttpHeaders = {};
  readonly #signal: StopSignal;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #reader: BodyReader | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  #over = false;
  #error: unknown;

  constructor(
    { url, signal }: WireRequest,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.url = url;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener('abort', this);
  }

  /** The caller aborts. */
  handleEvent(): void {
    this.#breakOff(this.#signal.reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it waited for a connection: it is never sent.
    if (this.#over) controller.abort(asError(this.#error));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    HEADS.add(this);
  }

  handOver(): void {
    this.#resolve(this);
  }

  get body(): AnswerBody {
    return this;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#reader !== undefined) {
      this.#reader.onChunk(chunk);
      return;
    }
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > MAX_EARLY_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.finish(error);
  }

  /** The exchange is over, by an error or well. The first word counts. */
  finish(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    this.#signal.removeEventListener('abort', this);
    // Without effect where the head has been handed over.
    if (error !== undefined) this.#reject(this.#signal.aborted ? this.#signal.reason : wireFailure(error));
    if (this.#reader !== undefined) this.#tellEnd(this.#reader);
  }

  get whole(): Buffer | undefined {
    if (!this.#over || this.#error !== undefined) return undefined;
    return this.#early.length === 1 ? this.#early[0] : Buffer.concat(this.#early);
  }

  read(reader: BodyReader): void {
    for (const chunk of this.#early) reader.onChunk(chunk);
    this.#early = [];
    this.#reader = reader;
    if (this.#over) this.#tellEnd(reader);
    else if (this.#earlyBytes > MAX_EARLY_BYTES) this.#controller?.resume();
  }

  destroy(): void {
    this.#breakOff(new Error('the body was cut'));
  }

  #breakOff(error: unknown): void {
    if (this.#over) return;
    this.finish(error);
    this.#controller?.abort(asError(error));
  }

  #tellEnd(reader: BodyReader): void {
    if (this.#error === undefined) reader.onEnd();
    else reader.onBroken(asError(this.#error));
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
