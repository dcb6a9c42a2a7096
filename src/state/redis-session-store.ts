// Sessions in the Redis that replicas share. What lives here is remembered here too, with its idle clock: how far that
// has got, and whether the session is still ours, Redis is asked in the background.
import type { Redis, Result } from 'ioredis';
import { GatewayError } from '../errors.ts';
import { type OwnedSession, OwnedSessions } from './owned-sessions.ts';
import type { RedisConnection } from './redis-connection.ts';
import { hashed, newSessionId, sessionKeyOf } from './session-id.ts';
import {
  NEW_STATE,
  type SessionLimits,
  type SessionLoss,
  type SessionRecord,
  type SessionState,
  type SessionStore,
  type StoredSession,
} from './session-store.ts';
import { SessionTexts, type WrittenSession } from './session-texts.ts';
import { ForeignValue, StoreUnavailable } from './store.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    createSession(...keysAndArguments: (string | number)[]): Result<0 | 1, Context>;
    touchSession(...keysAndArguments: (string | number)[]): Result<'gone' | 'moved' | 'kept', Context>;
    replaceSession(key: string, start: string, text: string): Result<string | null, Context>;
    removeSession(...keysAndArguments: (string | number)[]): Result<0 | 1, Context>;
  }
}

export interface RedisSessionStoreOptions {
  readonly connection: RedisConnection;
  /** The id of this replica: no other has it, and the next start has another one. */
  readonly replica: string;
  /** The same on every replica. */
  readonly macKey: Buffer;
  readonly limits: SessionLimits;
  /** A record was not what a replica has written; it is as absent. */
  onForged(): void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const ALL = 'sessions';
const RETRY_AFTER_MS = 10_000;
const MAX_TELL_EVERY_MS = 30_000;
const MIN_TELL_EVERY_MS = 50;
/** As many commands at once: each has its time to be answered in. */
const AT_ONCE = 50;
/** Each request in a session reads its record. */
const MAX_RECORD_BYTES = 64 * 1024;
const MAX_STATE_BYTES = 64 * 1024;
/** A session changes hands; who loses that race five times in a row has lost it. */
const MAX_TRIES = 5;

export class RedisSessionStore implements SessionStore {
  readonly #connection: RedisConnection;
  readonly #replica: string;
  readonly #texts: SessionTexts;
  readonly #onForged: () => void;
  readonly #now: () => number;
  readonly #owned: OwnedSessions;
  /** Ended here while Redis could not be told: the principal of each. */
  readonly #unremoved = new Map<string, string>();
  readonly #listeners: ((key: string, loss: SessionLoss) => void)[] = [];
  #timer: NodeJS.Timeout;
  #telling: Promise<void> | undefined;

  constructor({ connection, replica, macKey, limits, onForged, now = Date.now }: RedisSessionStoreOptions) {
    this.#connection = connection;
    this.#replica = replica;
    this.#texts = new SessionTexts(macKey);
    this.#owned = new OwnedSessions(limits, now);
    this.#onForged = onForged;
    this.#now = now;
    this.#timer = this.#startTimer();
  }

  applyLimits(limits: SessionLimits): void {
    this.#owned.limits = limits;
    clearInterval(this.#timer);
    this.#timer = this.#startTimer();
  }

  async create(record: SessionRecord): Promise<StoredSession & { readonly id: string }> {
    const id = newSessionId();
    const key = hashed(id);
    const session = { key, owner: this.#replica, record, state: NEW_STATE, createdAt: this.#now() };
    const text = this.#texts.write(session);
    if (Buffer.byteLength(text) > MAX_RECORD_BYTES) {
      throw new GatewayError('params-invalid', { text: 'clientInfo and capabilities are too large' });
    }
    const { max, maxPerPrincipal } = this.#owned.limits;
    const livesMs = this.#owned.livesMs(session, 0);
    const created = await this.#ask((client) =>
      client.createSession(...keysOf(key, record.principal), text, key, livesMs, max, maxPerPrincipal),
    );
    if (created === 0) {
      throw new GatewayError('no-capacity', { reason: 'sessions', retryAfterMs: RETRY_AFTER_MS });
    }
    this.#owned.add(session, { told: true });
    return { id, ...session, stamp: stampOf(text) };
  }

  async find(id: string): Promise<StoredSession | undefined> {
    const key = sessionKeyOf(id);
    if (key === undefined) return undefined;
    const found = this.#read(key, await this.#textAt(key));
    if (found === undefined || this.#unremoved.has(key) || this.#owned.isTooOld(found)) {
      this.#lose(key, 'over');
      return undefined;
    }
    if (found.owner !== this.#replica) this.#lose(key, 'moved');
    return found;
  }

  async end(key: string): Promise<void> {
    const owned = this.#owned.get(key);
    if (owned === undefined) return;
    this.#lose(key, 'over');
    const { principal } = owned.record;
    this.#unremoved.set(key, principal);
    await this.#removeOwn(key, principal).catch(() => {});
  }

  touch(key: string): void {
    const owned = this.#owned.get(key);
    if (owned !== undefined) owned.usedAt = performance.now();
  }

  async save(key: string, state: SessionState): Promise<void> {
    const owned = this.#owned.get(key);
    if (owned === undefined) return;
    owned.state = state;
    await this.#write(key, owned);
  }

  async take(found: StoredSession): Promise<StoredSession | undefined> {
    const { key } = found;
    let last: WrittenSession | undefined = found as WrittenSession;
    for (
      let attempt = 1;
      attempt <= MAX_TRIES && last !== undefined && last.owner === found.owner;
      attempt += 1
    ) {
      const start = `${last.owner ?? ''} ${last.stamp} `;
      const mine = { ...last, owner: this.#replica };
      const text = this.#texts.write(mine);
      const there = await this.#ask((client) => client.replaceSession(redisKeyOf(key), start, text));
      if (there === text) {
        // It has what was left of its time, and this is a use.
        this.#owned.add(mine, { told: false });
        return { ...mine, stamp: stampOf(text) };
      }
      last = this.#read(key, there);
    }
    return last;
  }

  async leave(key: string): Promise<void> {
    const owned = this.#owned.get(key);
    if (owned === undefined) return;
    const text = this.#texts.write({ key, owner: undefined, ...owned });
    try {
      await owned.writing.catch(() => {});
      await this.#tellUse(key, owned);
      await this.#ask((client) => client.replaceSession(redisKeyOf(key), this.#ours, text));
    } catch {
      // Then it is found with an owner that is gone.
    }
    this.#lose(key, 'moved');
  }

  async remove({ key, record, owner = '' }: StoredSession): Promise<boolean> {
    const keys = keysOf(key, record.principal);
    return (await this.#ask((client) => client.removeSession(...keys, `${owner} `, key))) === 1;
  }

  async check(key: string): Promise<void> {
    const owned = this.#owned.get(key);
    if (owned !== undefined) await this.#tellUse(key, owned).catch(() => {});
  }

  onLost(listener: (key: string, loss: SessionLoss) => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#telling;
  }

  /** How the text begins of what lives here. */
  get #ours(): string {
    return `${this.#replica} `;
  }

  #lose(key: string, loss: SessionLoss): void {
    if (!this.#owned.delete(key)) return;
    for (const listener of this.#listeners) listener(key, loss);
  }

  async #textAt(key: string): Promise<string | null> {
    try {
      return await this.#ask((client) => client.get(redisKeyOf(key)));
    } catch (thrown) {
      // Nobody has written an empty one either.
      if (thrown instanceof GatewayError && thrown.cause instanceof ForeignValue) return '';
      throw thrown;
    }
  }

  #read(key: string, text: string | null): WrittenSession | undefined {
    if (text === null) return undefined;
    const session = this.#texts.read(key, text);
    if (session === undefined) this.#onForged();
    return session;
  }

  /** The states that are written are those of the moment when their turn has come. */
  async #write(key: string, owned: OwnedSession): Promise<void> {
    const written = owned.writing
      .catch(() => {})
      .then(async () => {
        const { state } = owned;
        if (owned.writtenState === state || this.#owned.get(key) !== owned) return;
        const text = this.#texts.write({ key, owner: this.#replica, ...owned, state: bounded(state) });
        const there = await this.#ask((client) => client.replaceSession(redisKeyOf(key), this.#ours, text));
        owned.writtenState = state;
        if (there !== text) this.#lose(key, there === null ? 'over' : 'moved');
      });
    owned.writing = written;
    await written;
  }

  async #tellUse(key: string, owned: OwnedSession): Promise<void> {
    const { usedAt, record } = owned;
    const livesMs = this.#owned.livesMs(owned, performance.now() - usedAt);
    // Then it ends here.
    if (livesMs <= 0) return;
    const answer = await this.#ask((client) =>
      client.touchSession(...keysOf(key, record.principal), this.#ours, key, livesMs),
    );
    owned.toldAt = usedAt;
    if (answer !== 'kept' && this.#owned.get(key) === owned)
      this.#lose(key, answer === 'gone' ? 'over' : 'moved');
  }

  async #removeOwn(key: string, principal: string): Promise<void> {
    await this.#ask((client) => client.removeSession(...keysOf(key, principal), this.#ours, key));
    this.#unremoved.delete(key);
  }

  #startTimer(): NodeJS.Timeout {
    const { idleTimeoutMs, maxAgeMs } = this.#owned.limits;
    const everyMs = Math.max(MIN_TELL_EVERY_MS, Math.min(MAX_TELL_EVERY_MS, idleTimeoutMs / 5, maxAgeMs / 4));
    return setInterval(() => {
      this.#telling ??= this.#tellAll().finally(() => {
        this.#telling = undefined;
      });
    }, everyMs).unref();
  }

  /** What is over ends; of the rest Redis hears how it is used, and what it has missed. */
  async #tellAll(): Promise<void> {
    const work: (() => Promise<void>)[] = [];
    for (const [key, owned] of this.#owned) {
      if (this.#owned.isOver(owned)) {
        work.push(() => this.end(key));
        continue;
      }
      if (owned.usedAt > owned.toldAt) work.push(() => this.#tellUse(key, owned));
      if (owned.state !== owned.writtenState) work.push(() => this.#write(key, owned));
    }
    for (const [key, principal] of this.#unremoved) work.push(() => this.#removeOwn(key, principal));
    for (let from = 0; from < work.length; from += AT_ONCE) {
      await Promise.all(work.slice(from, from + AT_ONCE).map((one) => one().catch(() => {})));
    }
  }

  /** @throws GatewayError store-unavailable */
  async #ask<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    try {
      return await this.#connection.ask(command);
    } catch (thrown) {
      throw thrown instanceof StoreUnavailable
        ? new GatewayError('store-unavailable', { cause: thrown })
        : thrown;
    }
  }
}

function redisKeyOf(key: string): string {
  return `s:${key}`;
}

function keysOf(key: string, principal: string): [session: string, all: string, mine: string] {
  return [redisKeyOf(key), ALL, `sp:${hashed(principal)}`];
}

function stampOf(text: string): string {
  return text.split(' ', 2)[1] ?? '';
}

/** A successor that is not told of them will not hear of them; a record that cannot be kept would be worse. */
function bounded(state: SessionState): SessionState {
  const isLarge = Buffer.byteLength(JSON.stringify(state)) > MAX_STATE_BYTES;
  return isLarge ? { ...state, subscriptions: {}, upstreamSessions: {} } : state;
}
