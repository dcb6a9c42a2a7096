// The stream on which a legacy server says what belongs to no call (2025-11-25, transports, "Listening for Messages
// from the Server"): one GET, taken up again for as long as its session lasts.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../telemetry/logger.ts';
import { mediaTypeOf, readEvents } from './http-body.ts';
import { discard, type HttpAnswer, type HttpEndpoint } from './http-endpoint.ts';
import { ResumePoint, reconnectDelayMs } from './resume-point.ts';
import type { HeaderMap } from './upstream-headers.ts';
import { UpstreamHttpError, wireReasonOf } from './upstream-http-error.ts';

export interface LegacyEventStreamOptions {
  readonly endpoint: HttpEndpoint;
  readonly maxMessageBytes: number;
  readonly logger: Logger;
  /** Aborting ends the stream. */
  readonly signal: AbortSignal;
  headers(lastEventId: string | undefined): HeaderMap;
  onMessageData(data: string): void;
  /** The server answered 404. */
  onNotFound(): void;
}

/** Besides a 5xx, what may be otherwise the next time; every other status means that there is no such stream. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
const NOT_IMPLEMENTED = 501;

/** Resolves when the server offers no stream, or the signal aborts; never rejects. */
export async function followLegacyEventStream(options: LegacyEventStreamOptions): Promise<void> {
  const { endpoint, signal, logger } = options;
  const point = new ResumePoint();
  let fruitless = 0;
  while (!signal.aborted) {
    try {
      const headers = options.headers(point.lastEventId);
      const answer = await endpoint.send({ method: 'GET', headers, use: 'streams', signal });
      if (!isStream(answer)) {
        discard(answer);
        if (answer.status === 404) options.onNotFound();
        if (!maySucceedLater(answer.status)) return;
        throw new UpstreamHttpError(answer.status);
      }
      await readStream(answer, point, options);
    } catch (thrown) {
      if (signal.aborted) return;
      logger.debug({ err: thrown }, 'the event stream of the server broke');
    }
    fruitless = point.takeProgress() ? 0 : fruitless + 1;
    // Servers that restart lose all of their streams at once: spread their return.
    const waitMs = reconnectDelayMs(point.retryMs, fruitless) * (1 + Math.random() / 4);
    await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function readStream(
  answer: HttpAnswer,
  point: ResumePoint,
  { signal, maxMessageBytes, onMessageData }: LegacyEventStreamOptions,
): Promise<void> {
  const openedAt = performance.now();
  try {
    await readEvents(answer, signal, maxMessageBytes, {
      onMessageData: (data) => {
        point.progressed();
        onMessageData(data);
      },
      onId: (id) => point.moveTo(id),
      onRetry: (delayMs) => point.retryAfter(delayMs),
    });
  } catch (thrown) {
    // A message that was too large would be replayed, and be too large again.
    if (wireReasonOf(thrown) === 'message-too-large') point.moveTo('');
    throw thrown;
  } finally {
    point.ended(performance.now() - openedAt);
  }
}

function isStream(answer: HttpAnswer): boolean {
  return answer.status === 200 && mediaTypeOf(answer) === 'events';
}

function maySucceedLater(status: number): boolean {
  return (status >= 500 && status !== NOT_IMPLEMENTED) || PASSING_STATUSES.has(status);
}
