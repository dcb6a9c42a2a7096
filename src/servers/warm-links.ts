// Links that are open before anybody asks: started, shaken hands with, and nobody's yet. A legacy handshake says what
// the client can do, so they are opened on the terms that were asked for last, and handed to whoever comes with those.
import { setTimeout as delay } from 'node:timers/promises';
import { LATEST_LEGACY_VERSION } from '../protocol/era.ts';
import type { LinkTerms } from './connector.ts';
import type { LinkHold, LinkPool } from './link-pool.ts';
import type { ServerLink } from './server-link.ts';
import { type Backoff, StartBackoff } from './start-backoff.ts';
import type { ServerMessage } from './transport.ts';

type Listener = (message: ServerMessage, link: ServerLink) => void;

export interface WarmLinksOptions {
  /** How many to keep. */
  readonly count: number;
  readonly pool: LinkPool;
  /** Aborts when no more are wanted. */
  readonly retired: AbortSignal;
  open(
    terms: LinkTerms & { onUnsolicited: Listener },
    options: { signal: AbortSignal; backoff: Backoff },
  ): Promise<ServerLink>;
}

export interface WarmClaim extends LinkTerms, LinkHold {
  readonly key: string;
  readonly onUnsolicited?: Listener;
  /** Of whoever claims it: from then on its end counts there. */
  readonly backoff: Backoff;
}

interface Spare {
  readonly terms: string;
  hear: Listener;
  backoff: Backoff;
}

/** A server may ask something as soon as it is greeted; more than this has no sense before the first call. */
const MAX_EARLY_MESSAGES = 64;
const TRY_AGAIN_AFTER_MS = 5_000;

export class WarmLinks {
  readonly #options: WarmLinksOptions;
  readonly #spares = new Map<string, Spare>();
  readonly #backoff = new StartBackoff();
  #terms: LinkTerms = { clientCapabilities: {} };
  #lastKey = 0;
  #filling = false;

  constructor(options: WarmLinksOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#spares.size;
  }

  /** Starts what is missing, one after the other; idempotent. */
  fill(): void {
    if (this.#filling) return;
    this.#filling = true;
    void this.#fill().finally(() => {
      this.#filling = false;
    });
  }

  /**
   * Hands over a link that was opened on these terms, where there is one, and starts another in its place.
   *
   * @throws GatewayError no-capacity when the claimer may have no more
   */
  claim({
    key,
    backoff,
    onUnsolicited,
    clientCapabilities,
    offeredVersion,
    ...hold
  }: WarmClaim): Promise<ServerLink> | undefined {
    const { pool } = this.#options;
    this.#terms = { clientCapabilities, ...(offeredVersion === undefined ? {} : { offeredVersion }) };
    const wanted = nameOf(this.#terms);
    for (const [spareKey, spare] of this.#spares) {
      const isFit = pool.peek(spareKey)?.peer.era === 'modern' || spare.terms === wanted;
      const link = isFit ? pool.handOver(spareKey, key, hold) : undefined;
      if (link === undefined) continue;
      this.#spares.delete(spareKey);
      spare.backoff = backoff;
      if (onUnsolicited !== undefined) spare.hear = onUnsolicited;
      this.fill();
      return link;
    }
    const [unfit] = [...this.#spares].find(([, { terms }]) => terms !== wanted) ?? [];
    // What nobody wants any more makes way for what is wanted now.
    if (unfit !== undefined && this.#spares.size >= this.#options.count) void pool.release(unfit);
    this.fill();
    return undefined;
  }

  async #fill(): Promise<void> {
    const { count, retired } = this.#options;
    while (this.#spares.size < count && !retired.aborted) {
      const hasStarted = await this.#startOne().then(
        () => true,
        () => false,
      );
      if (hasStarted) continue;
      const pauseMs = Math.max(this.#backoff.remainingMs(performance.now()), TRY_AGAIN_AFTER_MS);
      await delay(pauseMs, undefined, { signal: retired, ref: false }).catch(() => {});
    }
  }

  async #startOne(): Promise<void> {
    const { pool } = this.#options;
    const terms = this.#terms;
    this.#lastKey += 1;
    const key = `warm ${this.#lastKey}`;
    const early: { message: ServerMessage; link: ServerLink }[] = [];
    const hold = (message: ServerMessage, link: ServerLink) => {
      if (early.length < MAX_EARLY_MESSAGES) early.push({ message, link });
    };
    let listener: Listener = hold;
    const spare: Spare = {
      terms: nameOf(terms),
      backoff: this.#backoff,
      get hear() {
        return listener;
      },
      set hear(claimer: Listener) {
        listener = claimer;
        for (const { message, link } of early.splice(0)) claimer(message, link);
      },
    };
    const onUnsolicited: Listener = (message, link) => listener(message, link);
    const backoff = followed(spare);
    this.#spares.set(key, spare);
    const forget = () => {
      if (this.#spares.delete(key)) this.fill();
    };
    try {
      const start = (signal: AbortSignal) =>
        this.#options.open({ ...terms, onUnsolicited }, { signal, backoff });
      const link = await pool.acquire(key, start, { pinned: false, spare: true });
      void link.closed.then(forget);
    } catch (thrown) {
      this.#spares.delete(key);
      throw thrown;
    }
  }
}

/** Whoever the spare belongs to by then is held up by its failures. */
function followed(spare: Spare): Backoff {
  return {
    remainingMs: (nowMs) => spare.backoff.remainingMs(nowMs),
    begin: () => spare.backoff.begin(),
    failed: (nowMs, circumstances) => spare.backoff.failed(nowMs, circumstances),
    endedWell: (uptimeMs) => spare.backoff.endedWell(uptimeMs),
  };
}

function nameOf({ clientCapabilities, offeredVersion = LATEST_LEGACY_VERSION }: LinkTerms): string {
  return JSON.stringify([offeredVersion, clientCapabilities]);
}
