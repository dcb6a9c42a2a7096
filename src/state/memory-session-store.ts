// Sessions in this process: one replica, forgotten at its end.
import { GatewayError } from '../errors.ts';
import { hashed, newSessionId, sessionKeyOf } from './session-id.ts';
import {
  NEW_STATE,
  type SessionLimits,
  type SessionLoss,
  type SessionRecord,
  type SessionStore,
  type StoredSession,
} from './session-store.ts';

interface Entry extends StoredSession {
  readonly createdAt: number;
  lastUsedAt: number;
}

const RETRY_AFTER_MS = 10_000;
/** There is but one replica. */
const OWNER = 'here';

export class MemorySessionStore implements SessionStore {
  #limits: SessionLimits;
  readonly #entries = new Map<string, Entry>();
  readonly #perPrincipal = new Map<string, number>();
  readonly #listeners: ((key: string, loss: SessionLoss) => void)[] = [];
  #sweeper: NodeJS.Timeout;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
    this.#sweeper = this.#startSweeper();
  }

  applyLimits(limits: SessionLimits): void {
    this.#limits = limits;
    clearInterval(this.#sweeper);
    this.#sweeper = this.#startSweeper();
  }

  get size(): number {
    return this.#entries.size;
  }

  async create(record: SessionRecord): Promise<StoredSession & { readonly id: string }> {
    const mine = this.#perPrincipal.get(record.principal) ?? 0;
    if (this.#entries.size >= this.#limits.max || mine >= this.#limits.maxPerPrincipal) {
      throw new GatewayError('no-capacity', { reason: 'sessions', retryAfterMs: RETRY_AFTER_MS });
    }
    const id = newSessionId();
    const key = hashed(id);
    const now = performance.now();
    const stored = { key, record, state: NEW_STATE, owner: OWNER, stamp: '' };
    this.#entries.set(key, { ...stored, createdAt: now, lastUsedAt: now });
    this.#perPrincipal.set(record.principal, mine + 1);
    return { id, ...stored };
  }

  async find(id: string): Promise<StoredSession | undefined> {
    const key = sessionKeyOf(id);
    const entry = key === undefined ? undefined : this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (!this.#isOver(entry, performance.now())) return entry;
    await this.end(entry.key);
    return undefined;
  }

  touch(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.lastUsedAt = performance.now();
  }

  async end(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    const { principal } = entry.record;
    const left = (this.#perPrincipal.get(principal) ?? 1) - 1;
    if (left > 0) this.#perPrincipal.set(principal, left);
    else this.#perPrincipal.delete(principal);
    for (const listener of this.#listeners) listener(key, 'over');
  }

  /** There is no successor to know of it. */
  async save(): Promise<void> {}

  async take({ key }: StoredSession): Promise<StoredSession | undefined> {
    return this.#entries.get(key);
  }

  leave(key: string): Promise<void> {
    return this.end(key);
  }

  async remove({ key }: StoredSession): Promise<boolean> {
    await this.end(key);
    return true;
  }

  async check(): Promise<void> {}

  onLost(listener: (key: string, loss: SessionLoss) => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
  }

  #startSweeper(): NodeJS.Timeout {
    const { idleTimeoutMs, maxAgeMs } = this.#limits;
    const everyMs = Math.max(50, Math.min(30_000, idleTimeoutMs / 4, maxAgeMs / 4));
    return setInterval(() => this.#expire(), everyMs).unref();
  }

  #isOver(entry: Entry, now: number): boolean {
    return (
      now - entry.lastUsedAt > this.#limits.idleTimeoutMs || now - entry.createdAt > this.#limits.maxAgeMs
    );
  }

  #expire(): void {
    const now = performance.now();
    for (const entry of this.#entries.values()) {
      if (this.#isOver(entry, now)) void this.end(entry.key);
    }
  }
}
