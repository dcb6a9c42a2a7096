// Reads the body of an answer, as one bounded piece or as the messages of an event stream. Always as fast as it
// comes: a body that is paused and resumed only on drain would hold its connection for ever once its reader is gone.
import type { StopSignal } from '../../runtime/stop.ts';
import type { BufferBudget } from '../../state/buffer-budget.ts';
import { SseReader } from './sse-reader.ts';
import { unavailable, wireFailure } from './upstream-http-error.ts';
import type { HttpAnswer } from './wire-request.ts';

export type MediaType = 'json' | 'events' | 'other';

/** What kind of answer it is; parameters such as a charset do not matter. A body without a type is taken for JSON. */
export function mediaTypeOf({ headers }: HttpAnswer): MediaType {
  const type = (headers['content-type'] ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase();
  if (isEncoded(headers['content-encoding'])) return 'other';
  if (type === 'text/event-stream') return 'events';
  return type === 'application/json' ? 'json' : 'other';
}

/**
 * Hands over chunks until the body ends. `onChunk` returns false to stop: the connection is then broken off.
 *
 * @throws GatewayError server-unavailable when the connection breaks, or the signal's reason when it was aborted
 */
function readChunks(
  { body }: HttpAnswer,
  signal: StopSignal,
  onChunk: (chunk: Buffer) => boolean,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let over = false;
  const fail = (error: unknown) => {
    over = true;
    reject(signal.aborted ? signal.reason : error);
  };
  const finish = () => {
    over = true;
    resolve();
  };
  body.read({
    onChunk(chunk) {
      if (over) return;
      try {
        if (onChunk(chunk)) return;
        finish();
      } catch (thrown) {
        fail(thrown);
      }
      body.destroy();
    },
    onEnd: finish,
    onBroken(error) {
      if (!over) fail(wireFailure(error));
    },
  });
  return promise;
}

export interface ReadLimits {
  /** Of the whole body, or of one event. */
  readonly maxBytes: number;
  /** What has been read of it counts here; undefined for what is small by its limit. */
  readonly budget?: BufferBudget;
}

/**
 * The body in the pieces that it came in.
 *
 * @throws GatewayError server-unavailable when the body is over the limit
 */
export function readPieces(
  answer: HttpAnswer,
  signal: StopSignal,
  limits: ReadLimits,
): readonly Buffer[] | Promise<readonly Buffer[]> {
  const { whole } = answer.body;
  return whole === undefined || whole.length > limits.maxBytes ? collect(answer, signal, limits) : [whole];
}

async function collect(
  answer: HttpAnswer,
  signal: StopSignal,
  { maxBytes, budget }: ReadLimits,
): Promise<readonly Buffer[]> {
  const hold = budget?.open();
  const announced = Number(answer.headers['content-length'] ?? 0);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const fits = (more: number) => bytes + more <= maxBytes;
  if (fits(announced)) {
    await readChunks(answer, signal, (chunk) => {
      const taken = fits(chunk.length);
      bytes += chunk.length;
      if (!taken) return false;
      chunks.push(chunk);
      hold?.count(bytes);
      return true;
    }).finally(() => hold?.resize(0));
  } else {
    answer.body.destroy();
  }
  if (Math.max(announced, bytes) > maxBytes) throw tooLarge(maxBytes);
  return chunks;
}

export interface EventBodyOptions extends ReadLimits {
  /** The data of an event that carries messages: of the type `message`, or without one. */
  onMessageData(data: string): void;
  /** An event of another type (`ping`, say). */
  onOther?(type: string, data: string): void;
  onId?(id: string): void;
  onRetry?(delayMs: number): void;
}

/**
 * Reads an event stream to its end.
 *
 * @throws GatewayError server-unavailable when it breaks or an event is over the limit
 */
export async function readEvents(
  answer: HttpAnswer,
  signal: StopSignal,
  { maxBytes, budget, ...handlers }: EventBodyOptions,
): Promise<void> {
  let oversized = false;
  const hold = budget?.open();
  const onEvent = (data: string, type: string | undefined) => {
    if (type === undefined || type === 'message') handlers.onMessageData(data);
    else handlers.onOther?.(type, data);
  };
  const reader = new SseReader({ ...handlers, onEvent }, maxBytes);
  await readChunks(answer, signal, (chunk) => {
    oversized = !reader.write(chunk);
    hold?.count(reader.heldBytes);
    return !oversized;
  }).finally(() => hold?.resize(0));
  if (oversized) throw tooLarge(maxBytes);
}

function isEncoded(encoding: string | undefined): boolean {
  return encoding !== undefined && encoding.trim().toLowerCase() !== 'identity';
}

function tooLarge(maxBytes: number) {
  return unavailable('message-too-large', `a message of the server is over maxMessage (${maxBytes} bytes)`);
}
