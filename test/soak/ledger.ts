// What all clients of a soak saw: answers as they should be, failures that the weather explains, and faults.

import { type Person, Residents } from './people.ts';

export const SESSION_UNKNOWN = 4040;
/**
 * Told to the client, by the rules: a child was killed, a connection broken, a place was taken; a session had been idle,
 * for which the gateway itself has to answer at the end.
 */
const EXPLAINED_CODES: ReadonlySet<number> = new Set([5020, 5030, 5040, SESSION_UNKNOWN]);
const SHOWN_FAULTS = 20;

export class Ledger {
  readonly residents = new Residents();
  answered = 0;
  /** The client itself let go. */
  cancelled = 0;
  resumed = 0;
  visits = 0;
  faultCount = 0;
  /** The first ones. */
  readonly faults: string[] = [];
  readonly #visitors = new Set<string>();
  readonly #failed = new Map<number, number>();

  /** How many people came at all. */
  get visitors(): number {
    return this.#visitors.size;
  }

  /** How often a client heard that its session is no more. */
  get sessionsUnknown(): number {
    return this.#failed.get(SESSION_UNKNOWN) ?? 0;
  }

  get failedAsTold(): number {
    return [...this.#failed.values()].reduce((sum, count) => sum + count, 0);
  }

  /** By the code that the client was told. */
  get failures(): string {
    return [...this.#failed].map(([code, count]) => `${code}: ${count}`).join(', ');
  }

  visited({ name }: Person): void {
    this.visits += 1;
    this.#visitors.add(name);
  }

  /** With a code that explains it. */
  failed(code: number): void {
    this.#failed.set(code, (this.#failed.get(code) ?? 0) + 1);
  }

  /** An answer was lost, doubled, someone else's, or no answer at all. */
  fault(words: string): void {
    this.faultCount += 1;
    if (this.faults.length < SHOWN_FAULTS) this.faults.push(words);
  }

  error(what: string, error: { readonly code: number; readonly message: string }): void {
    if (EXPLAINED_CODES.has(error.code)) this.failed(error.code);
    else this.fault(`${what}: an error that nothing explains: ${error.code} ${error.message}`);
  }
}
