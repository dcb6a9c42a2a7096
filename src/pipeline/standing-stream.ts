// A subscription that has been acknowledged is left to itself: all that led to it is let go of, the functions that wait
// for one another included, which take 3.3 kB. There may be thousands, each for days (bench:streams).
import type { StandingListen } from '../bridge/listening/standing-listen.ts';
import { toGatewayError } from '../errors.ts';
import type { Place } from '../runtime/roster.ts';
import { Stop, type StopHearer } from '../runtime/stop.ts';
import type { Exchange } from './exchange.ts';
import type { OpenListen } from './open-listens.ts';

export interface StandingParts {
  /** Ends it. */
  readonly open: OpenListen;
  readonly listen: StandingListen;
  /** Among the streams of its caller; undefined where its client is on another replica. */
  readonly place: Place | undefined;
}

/** The exchange goes on by itself from here, as its `standing`. */
export function leaveStanding(exchange: Exchange, parts: StandingParts): void {
  const stream = new StandingStream(exchange, parts);
  exchange.standing = stream.over;
  exchange.settleIn?.();
  stream.begin();
}

class StandingStream implements StopHearer {
  readonly over = new Stop();
  readonly #exchange: Exchange;
  readonly #open: OpenListen;
  readonly #listen: StandingListen;
  readonly #place: Place | undefined;
  readonly #startedAt = performance.now();

  constructor(exchange: Exchange, { open, listen, place }: StandingParts) {
    this.#exchange = exchange;
    this.#open = open;
    this.#listen = listen;
    this.#place = place;
    // Of the beginning.
    exchange.record.outcome = undefined;
    exchange.record.upstreamMs = undefined;
  }

  begin(): void {
    const { linkGone } = this.#listen;
    if (linkGone?.aborted) this.#open.abort();
    else linkGone?.addEventListener('abort', this.#open);
    if (this.#open.aborted) this.handleEvent();
    else this.#open.addEventListener('abort', this);
  }

  /** It is over, whoever ended it. */
  handleEvent(): void {
    // A link may outlive the stream by days.
    this.#listen.linkGone?.removeEventListener('abort', this.#open);
    // At once: it is counted among what has no end of its own, and has one now.
    this.#open.close();
    this.#place?.leave();
    void this.#conclude();
  }

  /** Nobody waits for it: what goes wrong is told to the client, if it is there. */
  async #conclude(): Promise<void> {
    const { record, reply } = this.#exchange;
    try {
      const closing = this.#listen.close();
      if (closing !== undefined) await closing;
      record.upstreamMs = performance.now() - this.#startedAt;
      this.#sayLast();
    } catch (thrown) {
      reply.fail(toGatewayError(thrown), undefined, 'modern');
    } finally {
      this.over.abort();
    }
  }

  #sayLast(): void {
    const { clientGone, record, reply } = this.#exchange;
    if (clientGone.aborted) {
      record.outcome ??= 'cancelled';
      reply.end();
    } else {
      this.#open.complete();
      record.outcome = 'ok';
    }
  }
}
