// All calls that may be, or are, parked: found by the id that their sealed state carries, bounded in number.
import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import { FleetingMap } from '../../runtime/fleeting-map.ts';
import { ParkedCall, type ParkedCallOptions } from './parked-call.ts';
import { isOver } from './parked-state.ts';
import type { ParkedTicket } from './parked-ticket.ts';

export interface ParkedLimits {
  readonly timeoutMs: number;
  readonly max: number;
  readonly maxPerPrincipal: number;
}

export class ParkedCalls {
  /** The id of the replica that they wait on; undefined where there is but one. */
  readonly replica: string | undefined;
  #limits: ParkedLimits;
  readonly #calls = new FleetingMap<string, ParkedCall>();

  constructor(limits: ParkedLimits, replica?: string) {
    this.#limits = limits;
    this.replica = replica;
  }

  /** For calls from now on; what is parked stays so for as long as it was told. */
  applyLimits(limits: ParkedLimits): void {
    this.#limits = limits;
  }

  open(options: Pick<ParkedCallOptions, 'fingerprint' | 'principal' | 'declared' | 'link'>): ParkedCall {
    const call = new ParkedCall({
      ...options,
      id: randomBytes(12).toString('base64url'),
      parkTimeoutMs: this.#limits.timeoutMs,
      mayPark: (candidate) => this.#mayPark(candidate),
      onStateChanged: (changed) => {
        if (isOver(changed.state)) this.#calls.delete(changed.id);
      },
    });
    this.#calls.set(call.id, call);
    return call;
  }

  /**
   * The parked call that a ticket belongs to. A ticket is good once: each parking starts a new round.
   *
   * @throws GatewayError state-invalid, with nothing said about why
   */
  claim({ replica, id, round }: ParkedTicket, fingerprint: string): ParkedCall {
    const call = replica === this.replica ? this.#calls.get(id) : undefined;
    const waits = call?.state === 'parked' || call?.state === 'withdrawn';
    if (call === undefined || !waits || call.round !== round || call.fingerprint !== fingerprint) {
      throw new GatewayError('state-invalid', { reason: 'parked' });
    }
    return call;
  }

  /** Calls that wait for their client now. */
  get parked(): number {
    return this.#waiting().length;
  }

  /** Calls of which anything is held. */
  get size(): number {
    return this.#calls.size;
  }

  close(): void {
    for (const call of this.#calls.values()) call.cancel(new GatewayError('draining'));
  }

  #mayPark({ principal }: ParkedCall): boolean {
    const waiting = this.#waiting();
    if (waiting.length >= this.#limits.max) return false;
    return waiting.filter((call) => call.principal === principal).length < this.#limits.maxPerPrincipal;
  }

  #waiting(): ParkedCall[] {
    return this.#calls.values().filter(({ state }) => state === 'parked' || state === 'withdrawn');
  }
}
