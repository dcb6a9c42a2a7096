// How much each caller may use. A request takes from every limit that concerns it, or from none. Counters are in the
// store; while it does not answer they are in this process, at this replica's share of what the limit allows.
import type { LimitConfig } from '../../config/limits-config.ts';
import { GatewayError } from '../../errors.ts';
import { MemoryStore } from '../../state/memory-store.ts';
import { type Store, StoreUnavailable, type Take, type TakeOutcome } from '../../state/store.ts';
import { InFlight } from './in-flight.ts';
import { Leases } from './leases.ts';
import { type Arrival, Limit, type LimitedRequest } from './limit.ts';

/** What was admitted, for as long as it runs. */
export interface Admission {
  /** Makes room for others. Idempotent. */
  leave(): void;
}

export interface LimitsOptions {
  readonly limits: readonly LimitConfig[];
  readonly store: Store;
  /** Called for each request whose limits were counted in this process because the store did not answer. */
  onFallback?(): void;
  /** Called for each limit that a request took from, and for the one that refused it. */
  onDecision?(limit: string, decision: LimitDecision): void;
}

export type LimitDecision = 'taken' | 'refused';

const UNLIMITED: Admission = { leave() {} };
/** When a place will be free again, nobody knows. */
const BUSY_RETRY_AFTER_MS = 1_000;

/** A take, and the limit that it is for. */
interface Charge {
  readonly limit: Limit;
  readonly take: Take;
}

/** What has been counted so far, outside the store. */
interface Counts {
  readonly leases: Leases;
  readonly insurance: MemoryStore;
  readonly inFlight: InFlight;
}

function newCounts(store: Store): Counts {
  return { leases: new Leases({ store }), insurance: new MemoryStore(), inFlight: new InFlight() };
}

export class Limits {
  /** Those that hold at the edge, before sign-in. */
  readonly guards: readonly LimitConfig[];
  readonly #guards: readonly Limit[];
  readonly #rates: readonly Limit[];
  readonly #concurrencies: readonly Limit[];
  readonly #store: Store;
  readonly #counts: Counts;
  readonly #onFallback: () => void;
  readonly #onDecision: (limit: string, decision: LimitDecision) => void;

  /** @param counted goes on counting where these did: by the name, key and window of each limit */
  constructor(
    { limits, store, onFallback = () => {}, onDecision = () => {} }: LimitsOptions,
    counted?: Limits,
  ) {
    const all = limits.map((config) => new Limit(config));
    this.#guards = all.filter(({ isGuard }) => isGuard);
    this.guards = this.#guards.map(({ config }) => config);
    this.#rates = all.filter(({ config, isGuard }) => config.max !== undefined && !isGuard);
    this.#concurrencies = all.filter(({ config }) => config.inFlight !== undefined);
    this.#store = store;
    this.#counts = counted === undefined ? newCounts(store) : counted.#counts;
    this.#onFallback = onFallback;
    this.#onDecision = onDecision;
  }

  /** Nothing is limited once a request has been read. */
  get none(): boolean {
    return this.#rates.length + this.#concurrencies.length === 0;
  }

  /**
   * Charges one request at the edge, of which nothing but the address is known.
   *
   * @throws GatewayError rate-limited
   */
  async admitAddress(arrival: Arrival): Promise<void> {
    const charges = this.#guards.map((limit) => chargeOf(limit, limit.counterOfAddress(arrival.address), 1));
    if (!this.#chargeNow(charges, arrival)) await this.#charge(charges, arrival);
  }

  /**
   * Charges a request that has been read and may be made. The admission has to be left when it is over.
   *
   * @throws GatewayError rate-limited; then nothing has been charged
   */
  async admit(request: LimitedRequest): Promise<Admission> {
    const admission = this.#enter(request);
    try {
      await this.#charge(this.#chargesOf(request), request.arrival);
      return admission;
    } catch (thrown) {
      admission.leave();
      throw thrown;
    }
  }

  /**
   * The same without waiting for anything; undefined, and nothing charged, where that takes its time.
   *
   * @throws GatewayError rate-limited; then nothing has been charged
   */
  admitNow(request: LimitedRequest): Admission | undefined {
    const admission = this.#enter(request);
    let isCharged = false;
    try {
      isCharged = this.#chargeNow(this.#chargesOf(request), request.arrival);
      return isCharged ? admission : undefined;
    } finally {
      if (!isCharged) admission.leave();
    }
  }

  /** Of a request that costs nothing: it counts among those that run, and is not refused. */
  admitFree(request: LimitedRequest): Admission {
    return this.#enter(request, { always: true });
  }

  #enter(request: LimitedRequest, { always = false } = {}): Admission {
    if (this.#concurrencies.length === 0 || request.isEndless) return UNLIMITED;
    const places = this.#concurrencies.flatMap((limit) =>
      limit.countersOf(request).map((counter) => ({ counter, config: limit.config })),
    );
    const full = places.find(
      ({ counter, config }) => !this.#counts.inFlight.hasRoom(counter, config.inFlight ?? 0),
    );
    if (full !== undefined && !always) {
      this.#onDecision(full.config.name, 'refused');
      throw rateLimited(full.config, BUSY_RETRY_AFTER_MS, 'in-flight');
    }
    for (const { counter } of places) this.#counts.inFlight.enter(counter);
    let inside = true;
    return {
      leave: () => {
        if (!inside) return;
        inside = false;
        for (const { counter } of places) this.#counts.inFlight.leave(counter);
      },
    };
  }

  #chargesOf(request: LimitedRequest): readonly Charge[] {
    const charges: Charge[] = [];
    for (const limit of this.#rates) {
      const cost = limit.costOf(request);
      if (cost === 0) continue;
      for (const counter of limit.countersOf(request)) charges.push(chargeOf(limit, counter, cost));
    }
    return charges;
  }

  async #charge(charges: readonly Charge[], arrival: Arrival): Promise<void> {
    if (charges.length === 0) return;
    await this.#take(charges, arrival);
    this.#noteTaken(charges);
  }

  /** False, and nothing charged, where it has to be waited for. */
  #chargeNow(charges: readonly Charge[], arrival: Arrival): boolean {
    if (charges.length === 0) return true;
    const isTaken = this.#takeNow(charges, arrival);
    if (isTaken) this.#noteTaken(charges);
    return isTaken;
  }

  #noteTaken(charges: readonly Charge[]): void {
    for (const { limit } of charges) this.#onDecision(limit.config.name, 'taken');
  }

  #takeNow(charges: readonly Charge[], arrival: Arrival): boolean {
    const store = this.#store;
    if (arrival.storeFailed || !store.available) {
      this.#chargeHere(charges);
      return true;
    }
    if (charges.every(isLeased)) return this.#takeLeasedNow(charges);
    if (store.takeNow === undefined || charges.some(isLeased)) return false;
    this.#requireTaken(store.takeNow(charges.map(({ take }) => take)), charges);
    return true;
  }

  #takeLeasedNow(charges: readonly Charge[]): boolean {
    const undo: (() => void)[] = [];
    for (const charge of charges) {
      const outcome = this.#counts.leases.takeNow(charge.take, charge.limit.config.lease ?? 0);
      if (outcome?.taken) {
        undo.push(outcome.undo);
        continue;
      }
      for (const give of undo) give();
      if (outcome === undefined) return false;
      throw this.#refused(charge, outcome.retryAfterMs);
    }
    return true;
  }

  async #take(charges: readonly Charge[], arrival: Arrival): Promise<void> {
    if (arrival.storeFailed || !this.#store.available) return this.#chargeHere(charges);
    const undo: (() => void)[] = [];
    try {
      await this.#chargeStore(charges, undo);
    } catch (thrown) {
      for (const give of undo) give();
      if (!(thrown instanceof StoreUnavailable)) throw thrown;
      arrival.storeFailed = true;
      this.#chargeHere(charges);
    }
  }

  async #chargeStore(charges: readonly Charge[], undo: (() => void)[]): Promise<void> {
    const exact: Charge[] = [];
    for (const charge of charges) {
      const { lease } = charge.limit.config;
      if (lease === undefined) {
        exact.push(charge);
        continue;
      }
      const outcome = await this.#counts.leases.take(charge.take, lease);
      if (!outcome.taken) throw this.#refused(charge, outcome.retryAfterMs);
      undo.push(outcome.undo);
    }
    if (exact.length > 0) this.#requireTaken(await this.#store.take(exact.map(({ take }) => take)), exact);
  }

  #chargeHere(charges: readonly Charge[]): void {
    this.#onFallback();
    const shares = charges.map(({ take }) => {
      const share = Math.floor(take.max / this.#store.replicas);
      return { ...take, max: Math.max(share, take.amount) };
    });
    this.#requireTaken(this.#counts.insurance.takeNow(shares), charges);
  }

  #requireTaken(outcome: TakeOutcome, charges: readonly Charge[]): void {
    if (outcome.taken) return;
    const refusing = charges[outcome.refused];
    if (refusing !== undefined) throw this.#refused(refusing, outcome.retryAfterMs);
  }

  #refused({ limit }: Charge, retryAfterMs: number): GatewayError {
    this.#onDecision(limit.config.name, 'refused');
    return rateLimited(limit.config, retryAfterMs);
  }
}

function isLeased({ limit }: Charge): boolean {
  return limit.config.lease !== undefined;
}

function chargeOf(limit: Limit, key: string, amount: number): Charge {
  const { max = 0, windowMs } = limit.config;
  return { limit, take: { key, amount, max, windowMs } };
}

function rateLimited({ name }: LimitConfig, retryAfterMs: number, kind = 'rate'): GatewayError {
  return new GatewayError('rate-limited', {
    reason: `${kind}:${name}`,
    retryAfterMs: Math.ceil(retryAfterMs),
  });
}
