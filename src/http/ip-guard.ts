// The guard at the edge: how many requests an address may make, whoever is behind it, before anything of it is read. It
// counts in this process first, so that a flood costs no round trip; then, where there are several replicas, for all.
import type { Arrival } from '../access/limits/limit.ts';
import type { LimitConfig } from '../config/limits-config.ts';
import { GatewayError } from '../errors.ts';
import { type Window, WindowCounters } from '../state/window-counters.ts';

export interface IpGuardOptions {
  readonly guards: readonly LimitConfig[];
  /**
   * Counts for all replicas; undefined where there is one.
   *
   * @throws GatewayError rate-limited
   */
  admitAddress?: ((arrival: Arrival) => Promise<void>) | undefined;
}

/**
 * A promise where replicas have to be asked; in this process it counts without one, since most requests pass here.
 *
 * @throws GatewayError rate-limited, at once or later
 */
export type GuardAddress = (arrival: Arrival) => Promise<void> | undefined;

export class IpGuards {
  #counts = new Map<string, AddressCount>();

  /**
   * Guards by these limits. One of the same name and window goes on counting from where another guard of it is.
   * Undefined where nothing is to be guarded.
   */
  guard({ guards, admitAddress }: IpGuardOptions): GuardAddress | undefined {
    this.#counts = new Map(guards.map((limit) => [keyOf(limit), this.#countOf(limit)]));
    if (guards.length === 0) return undefined;
    const held = [...this.#counts.values()];
    return (arrival) => {
      for (const count of held) count.admit(arrival.address);
      return admitAddress?.(arrival);
    };
  }

  #countOf(limit: LimitConfig): AddressCount {
    const count = this.#counts.get(keyOf(limit)) ?? new AddressCount(limit);
    count.max = limit.max ?? 0;
    return count;
  }
}

function keyOf({ name, windowMs }: LimitConfig): string {
  return `${name} ${windowMs}`;
}

/** Addresses that a guard remembers; beyond them it forgets who has asked least. */
const MAX_ADDRESSES = 50_000;

class AddressCount {
  max = 0;
  readonly #name: string;
  readonly #counters: WindowCounters;

  constructor({ name, windowMs }: LimitConfig) {
    this.#name = name;
    this.#counters = new WindowCounters(windowMs);
  }

  /** What is refused counts as well. @throws GatewayError rate-limited */
  admit(address: string): void {
    const now = performance.now();
    const window = this.#counters.find(address, now) ?? this.#begin(address, now);
    window.used += 1;
    if (window.used <= this.max) return;
    throw new GatewayError('rate-limited', {
      reason: `rate:${this.#name}`,
      retryAfterMs: Math.ceil(window.endsAt - now),
    });
  }

  #begin(address: string, now: number): Window {
    const counters = this.#counters;
    counters.dropEnded(now);
    if (counters.size >= MAX_ADDRESSES) counters.dropOne();
    return counters.begin(address, 0, now);
  }
}
