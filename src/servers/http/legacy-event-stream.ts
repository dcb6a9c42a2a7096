// The stream on which a legacy server says what belongs to no call (2025-11-25, transports, "Listening for Messages
// from the Server"): one GET, taken up again for as long as its session lasts.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../telemetry/logger.ts';
import { mediaTypeOf, type ReadLimits, readEvents } from './http-body.ts';
import { discard, type HttpEndpoint } from './http-endpoint.ts';
import { ResumePoint } from './resume-point.ts';
import type { HeaderMap } from './upstream-headers.ts';
import { UpstreamHttpError, wireReasonOf } from './upstream-http-error.ts';
import type { HttpAnswer } from './wire-request.ts';

export interface LegacyEventStreamOptions {
  readonly endpoint: HttpEndpoint;
  readonly limits: ReadLimits;
  readonly logger: Logger;
  /** Aborting ends the stream. */
  readonly signal: AbortSignal;
  headers(lastEventId: string | undefined): HeaderMap;
  onMessageData(data: string): void;
  /** Asks the server for its session, and ends the link where there is none. */
  checkSession(): Promise<SessionCheck>;
}

/** `unknown` where the server did not answer. */
export type SessionCheck = 'alive' | 'lost' | 'unknown';

/** Besides a 5xx, what may be otherwise the next time; every other status means that there is no such stream. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
/** A session that is gone is told with one of these, and so is a server that has no route for GET. */
const DOUBTFUL_STATUSES: ReadonlySet<number> = new Set([400, 404]);
/** What the specification has a server say that offers no stream. */
const METHOD_NOT_ALLOWED = 405;
const NOT_IMPLEMENTED = 501;
/** Nobody waits for this stream: one that ends at once, again and again, is asked for seldom. */
const MAX_POLL_MS = 30_000;

/** Resolves when the server offers no stream, or the signal aborts; never rejects. */
export async function followLegacyEventStream(options: LegacyEventStreamOptions): Promise<void> {
  const { endpoint, signal, logger } = options;
  const point = new ResumePoint();
  while (!signal.aborted) {
    try {
      const headers = options.headers(point.lastEventId);
      const answer = await endpoint.send({ method: 'GET', headers, use: 'streams', signal });
      if (isStream(answer)) await readStream(answer, point, options);
      else if (await isWithoutStream(answer, options)) return;
      else throw new UpstreamHttpError(answer.status);
    } catch (thrown) {
      if (signal.aborted) return;
      logger.debug({ err: thrown }, 'the event stream of the server broke');
    }
    // Servers that restart lose all of their streams at once: spread their return.
    const waitMs = point.nextDelayMs(MAX_POLL_MS) * (1 + Math.random() / 4);
    await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function readStream(
  answer: HttpAnswer,
  point: ResumePoint,
  { signal, limits, onMessageData }: LegacyEventStreamOptions,
): Promise<void> {
  const openedAt = performance.now();
  try {
    await readEvents(answer, signal, {
      ...limits,
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

/** False where another attempt makes sense. */
async function isWithoutStream(answer: HttpAnswer, options: LegacyEventStreamOptions): Promise<boolean> {
  const { status } = answer;
  discard(answer);
  if (maySucceedLater(status)) return false;
  if (DOUBTFUL_STATUSES.has(status)) {
    const session = await options.checkSession();
    if (session !== 'alive') return session === 'lost';
  }
  if (status !== METHOD_NOT_ALLOWED) {
    options.logger.info(
      { status },
      'the server has no event stream of its own; its messages come with calls',
    );
  }
  return true;
}

function isStream(answer: HttpAnswer): boolean {
  return answer.status === 200 && mediaTypeOf(answer) === 'events';
}

function maySucceedLater(status: number): boolean {
  return (status >= 500 && status !== NOT_IMPLEMENTED) || PASSING_STATUSES.has(status);
}
