// The sessions that live on this replica: how long each may go on, and what Redis has not heard of it yet.
import type { SessionLimits, SessionRecord, SessionState } from './session-store.ts';
import type { WrittenSession } from './session-texts.ts';

export interface OwnedSession {
  readonly record: SessionRecord;
  readonly createdAt: number;
  state: SessionState;
  /** As Redis has it, as far as is known. */
  writtenState: SessionState;
  /** On the clock of `performance.now()`. */
  usedAt: number;
  /** Of the last use that Redis knows of. */
  toldAt: number;
  /** Writes of one session go one after the other. */
  writing: Promise<unknown>;
}

type Age = Pick<OwnedSession, 'createdAt'>;

/** Its owner ends it on time; what Redis hears of its use may come this much late. */
export const LATE_WORD_MS = 1_000;

export class OwnedSessions {
  limits: SessionLimits;
  readonly #now: () => number;
  readonly #sessions = new Map<string, OwnedSession>();

  /** @param now milliseconds since 1970 */
  constructor(limits: SessionLimits, now: () => number) {
    this.limits = limits;
    this.#now = now;
  }

  get(key: string): OwnedSession | undefined {
    return this.#sessions.get(key);
  }

  /** From now on it lives here. `told`: Redis counts its time from now on, too. */
  add({ key, record, state, createdAt }: Omit<WrittenSession, 'stamp'>, { told }: { told: boolean }): void {
    const usedAt = performance.now();
    const toldAt = told ? usedAt : Number.NEGATIVE_INFINITY;
    const writing = Promise.resolve();
    this.#sessions.set(key, { record, createdAt, state, writtenState: state, usedAt, toldAt, writing });
  }

  /** @returns whether it lived here */
  delete(key: string): boolean {
    return this.#sessions.delete(key);
  }

  [Symbol.iterator](): Iterator<[key: string, session: OwnedSession]> {
    return this.#sessions.entries();
  }

  isOver(session: OwnedSession): boolean {
    return performance.now() - session.usedAt > this.limits.idleTimeoutMs || this.isTooOld(session);
  }

  isTooOld({ createdAt }: Age): boolean {
    return this.#now() - createdAt > this.limits.maxAgeMs;
  }

  /** How much longer its record is kept. A clock of another replica that goes ahead must not add to it. */
  livesMs({ createdAt }: Age, unusedMs: number): number {
    const ageMs = Math.max(0, this.#now() - createdAt);
    const { idleTimeoutMs, maxAgeMs } = this.limits;
    return Math.ceil(Math.min(idleTimeoutMs - unusedMs + LATE_WORD_MS, maxAgeMs - ageMs));
  }
}
