// Why sessions ended, of the last ones that did: whoever comes with the id of one hears 404 like anybody else, and the
// record of the exchange says what had become of it.

/**
 * deleted: by its client. expired: idle for too long, too old, or lost by Redis. gave_way: its idle process made room for
 * another. server_changed: its server is another one now.
 */
export type SessionEnd = 'deleted' | 'expired' | 'gave_way' | 'server_changed';

const REMEMBERED = 1_000;

export class SessionEnds {
  readonly #ends = new Map<string, SessionEnd>();

  /** The first word stands: what comes later is a consequence. */
  note(key: string, end: SessionEnd): void {
    if (this.#ends.has(key)) return;
    this.#ends.set(key, end);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > REMEMBERED && oldest !== undefined) this.#ends.delete(oldest);
  }

  of(key: string): SessionEnd | undefined {
    return this.#ends.get(key);
  }
}
