// Places for child processes: how many may be alive at a time of one server, of one principal and in all. A process
// holds its place until nothing of it is left; whoever comes before that waits for it, or is told to come back.
import { GatewayError } from '../errors.ts';

export interface ProcessCaps {
  readonly max: number;
  readonly maxPerPrincipal: number;
  /** How long a held process has to have been idle before it is asked for: a client between two calls is not gone. */
  readonly idleEnoughMs?: number;
}

/** Whoever has a process, or wants one. */
export interface PlaceHolder {
  /** Told apart by identity: one that a reload has replaced fills no place of its successor. */
  readonly server: unknown;
  readonly maxOfServer: number;
  /** The principal it is for; undefined where it is everyone's. */
  readonly owner: string | undefined;
  /** Kept although unused: it gives way only if `letGo` agrees. */
  readonly pinned: boolean;
  /** Nobody's yet: nothing gives way to it, and it is the first to give way. */
  readonly spare?: boolean;
  /** Since when it is unused; undefined while it is in use, or starts. */
  idleSince(): number | undefined;
  /** Asked of one that is idle when another needs the place; true when it is being stopped. */
  letGo(): boolean;
}

interface Cap {
  readonly max: number;
  readonly text: string;
  includes(place: ProcessPlace): boolean;
}

const IDLE_ENOUGH_MS = 10_000;
const RETRY_AFTER_MS = 5_000;

export class ProcessPlaces {
  #caps: ProcessCaps;
  readonly #places = new Set<ProcessPlace>();

  constructor(caps: ProcessCaps) {
    this.#caps = caps;
  }

  /** Lower caps stop nothing that runs. */
  applyCaps(caps: ProcessCaps): void {
    this.#caps = { ...this.#caps, ...caps };
    this.#admit();
  }

  /** Processes that are alive, those being stopped among them. */
  get occupied(): number {
    return count(this.#places, ({ occupied }) => occupied);
  }

  /**
   * Claims a place; where all are taken, the process that has been idle longest gives way.
   *
   * @throws GatewayError no-capacity when every process that could give way is in use
   */
  take(holder: PlaceHolder): ProcessPlace {
    this.#makeWayFor(holder);
    const place = new ProcessPlace(holder, () => {
      this.#places.delete(place);
      this.#admit();
    });
    this.#places.add(place);
    this.#admit();
    return place;
  }

  /**
   * Hands a place on to whom its process is for from now on.
   *
   * @throws GatewayError no-capacity when the new holder has too many already
   */
  handOver(place: ProcessPlace, holder: PlaceHolder): void {
    const cap = this.#ownerCap(holder);
    if (cap !== undefined) this.#makeWayUnder(cap, holder);
    place.holder = holder;
  }

  #makeWayFor(holder: PlaceHolder): void {
    for (const cap of this.#capsOf(holder)) this.#makeWayUnder(cap, holder);
  }

  #makeWayUnder(cap: Cap, { spare = false }: PlaceHolder): void {
    const claimed = [...this.#places].filter((place) => place.claimed && cap.includes(place));
    if (claimed.length < cap.max || (!spare && this.#letOneGo(claimed))) return;
    throw new GatewayError('no-capacity', { text: cap.text, retryAfterMs: RETRY_AFTER_MS });
  }

  /** The one that has been idle longest: first of those nobody has used, then of those nobody holds, then of those whose holder lets go. */
  #letOneGo(places: readonly ProcessPlace[]): boolean {
    const idle = places
      .map((place) => ({ place, since: place.holder.idleSince() ?? Number.POSITIVE_INFINITY }))
      .filter(({ since }) => since !== Number.POSITIVE_INFINITY)
      .sort((one, other) => one.since - other.since);
    const idleEnough = performance.now() - (this.#caps.idleEnoughMs ?? IDLE_ENOUGH_MS);
    return (
      idle.some(({ place: { holder } }) => holder.spare && holder.letGo()) ||
      idle.some(({ place: { holder } }) => !holder.pinned && holder.letGo()) ||
      idle.some(({ place: { holder }, since }) => holder.pinned && since < idleEnough && holder.letGo())
    );
  }

  /** In order of arrival; one that waits for its own server holds up no other. */
  #admit(): void {
    for (const place of this.#places) {
      if (!place.waiting) continue;
      const fits = this.#capsOf(place.holder).every(
        (cap) => count(this.#places, (other) => other.occupied && cap.includes(other)) < cap.max,
      );
      if (fits) place.admit();
    }
  }

  /** The narrowest first: one that gives way under it may serve the wider ones too. */
  #capsOf(holder: PlaceHolder): Cap[] {
    const ofServer: Cap = {
      max: holder.maxOfServer,
      text: 'Every connection to this server belongs to a session or a call; try again later',
      includes: (place) => place.holder.server === holder.server,
    };
    const ofAll: Cap = {
      max: this.#caps.max,
      text: 'Every process of this gateway is in use; try again later',
      includes: () => true,
    };
    const ofOwner = this.#ownerCap(holder);
    return ofOwner === undefined ? [ofServer, ofAll] : [ofOwner, ofServer, ofAll];
  }

  #ownerCap({ owner }: PlaceHolder): Cap | undefined {
    if (owner === undefined) return undefined;
    return {
      max: this.#caps.maxPerPrincipal,
      text: 'You have as many server processes as one caller may have; end a session or try again later',
      includes: (place) => place.holder.owner === owner,
    };
  }
}

export class ProcessPlace {
  holder: PlaceHolder;
  #state: 'waiting' | 'taken' | 'leaving' | 'free' = 'waiting';
  readonly #admitted = Promise.withResolvers<void>();
  readonly #onFree: () => void;

  constructor(holder: PlaceHolder, onFree: () => void) {
    this.holder = holder;
    this.#onFree = onFree;
    this.#admitted.promise.catch(() => {});
  }

  get waiting(): boolean {
    return this.#state === 'waiting';
  }

  /** Someone counts on it; false once its process is on its way out. */
  get claimed(): boolean {
    return this.#state === 'waiting' || this.#state === 'taken';
  }

  /** There may be a process. */
  get occupied(): boolean {
    return this.#state === 'taken' || this.#state === 'leaving';
  }

  admit(): void {
    this.#state = 'taken';
    this.#admitted.resolve();
  }

  /**
   * Waits until the process that it replaces is gone, which its stop ladder bounds.
   *
   * @throws the signal's reason
   */
  async ready(signal: AbortSignal): Promise<void> {
    const onAbort = () => this.#admitted.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await this.#admitted.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Its process is being stopped: another may count on the place, and has to wait for it. */
  leave(): void {
    if (this.#state === 'taken') this.#state = 'leaving';
    else if (this.#state === 'waiting') this.free();
  }

  /** Nothing of the process is left. Idempotent. */
  free(): void {
    if (this.#state === 'free') return;
    this.#state = 'free';
    this.#onFree();
  }
}

function count(places: Iterable<ProcessPlace>, isCounted: (place: ProcessPlace) => boolean): number {
  let counted = 0;
  for (const place of places) if (isCounted(place)) counted += 1;
  return counted;
}
