// Credentials that have been obtained, by the hash of whose they are: each obtained once however many ask, renewed while
// the old one is still good, and left alone for a while where it could not be had.
import { createHash } from 'node:crypto';
import { type Credential, CredentialFailure } from './credential.ts';

export interface CacheTiming {
  /** How long before its end a credential is used no more: clocks differ, and calls take time. A tenth of its life at most. */
  readonly marginMs: number;
  /** How long before its end a new one is obtained, without anybody waiting for it. A third of its life at most. */
  readonly renewAheadMs: number;
  readonly firstCooldownMs: number;
  readonly maxCooldownMs: number;
  /** A server that refuses a credential of less than this age is not asked again with another one. */
  readonly freshMs: number;
  readonly maxEntries: number;
}

const DEFAULT_CACHE_TIMING: CacheTiming = {
  marginMs: 5_000,
  renewAheadMs: 30_000,
  firstCooldownMs: 1_000,
  maxCooldownMs: 30_000,
  freshMs: 2_000,
  maxEntries: 10_000,
};

export interface Obtaining {
  /** Whose it is, in any text. */
  readonly key: string;
  /** What it may not outlive. */
  readonly latestEndMs?: number | undefined;
  obtain(): Promise<Credential>;
}

interface Entry {
  credential: Credential | undefined;
  obtainedAtMs: number;
  obtaining: Promise<Credential> | undefined;
  readonly cooldown: Cooldown;
}

export class CredentialCache {
  readonly #now: () => number;
  readonly #timing: CacheTiming;
  /** In the order of last use. */
  readonly #entries = new Map<string, Entry>();
  /** Of the endpoint as such: when it is down, it is down for everyone. */
  readonly #outage: Cooldown;

  constructor(now: () => number, timing: Partial<CacheTiming> = {}) {
    this.#now = now;
    this.#timing = { ...DEFAULT_CACHE_TIMING, ...timing };
    this.#outage = new Cooldown(this.#timing);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @throws CredentialFailure */
  get(obtaining: Obtaining): Promise<Credential> {
    const entry = this.#entryOf(obtaining.key);
    const { credential } = entry;
    const age = this.#ageOf(entry);
    if (credential === undefined || age === 'over') return this.#obtain(entry, obtaining);
    const { latestEndMs = Number.POSITIVE_INFINITY } = obtaining;
    // One that ends with the caller's own sign-in cannot be had for longer.
    const isDue = age === 'ageing' && (credential.expiresAtMs ?? latestEndMs) < latestEndMs;
    if (isDue) this.#obtain(entry, obtaining).catch(() => {});
    return Promise.resolve(credential);
  }

  /**
   * The server refused it; where it is still the one that is kept, it is kept no more.
   *
   * @returns whether another one is worth a try
   */
  forget(key: string, refused: Credential): boolean {
    const entry = this.#entryOf(key);
    if (entry.credential?.token !== refused.token) return true;
    if (this.#now() - entry.obtainedAtMs < this.#timing.freshMs) return false;
    entry.credential = undefined;
    return true;
  }

  /** Whether it is good for use, and good for long. */
  #ageOf({ credential, obtainedAtMs }: Entry): 'good' | 'ageing' | 'over' {
    if (credential === undefined) return 'over';
    const { expiresAtMs = Number.POSITIVE_INFINITY } = credential;
    const lifetimeMs = expiresAtMs - obtainedAtMs;
    const leftMs = expiresAtMs - this.#now();
    if (leftMs <= Math.min(this.#timing.marginMs, lifetimeMs / 10)) return 'over';
    return leftMs <= Math.min(this.#timing.renewAheadMs, lifetimeMs / 3) ? 'ageing' : 'good';
  }

  #obtain(entry: Entry, { obtain, latestEndMs }: Obtaining): Promise<Credential> {
    if (entry.obtaining !== undefined) return entry.obtaining;
    const now = this.#now();
    const held = this.#outage.failureAt(now) ?? entry.cooldown.failureAt(now);
    if (held !== undefined) return Promise.reject(held);
    entry.obtaining = this.#attempt(entry, obtain, latestEndMs).finally(() => {
      entry.obtaining = undefined;
    });
    return entry.obtaining;
  }

  async #attempt(
    entry: Entry,
    obtain: () => Promise<Credential>,
    latestEndMs = Number.POSITIVE_INFINITY,
  ): Promise<Credential> {
    try {
      const { token, expiresAtMs = Number.POSITIVE_INFINITY } = await obtain();
      const endMs = Math.min(expiresAtMs, latestEndMs);
      const credential = { token, expiresAtMs: Number.isFinite(endMs) ? endMs : undefined };
      entry.credential = credential;
      entry.obtainedAtMs = this.#now();
      entry.cooldown.over();
      this.#outage.over();
      return credential;
    } catch (thrown) {
      if (!(thrown instanceof CredentialFailure)) throw thrown;
      const cooldown = thrown.reason === 'endpoint-unavailable' ? this.#outage : entry.cooldown;
      throw cooldown.begin(thrown, this.#now());
    }
  }

  #entryOf(key: string): Entry {
    const hash = createHash('sha256').update(key).digest('base64url');
    const entry = this.#entries.get(hash) ?? {
      credential: undefined,
      obtainedAtMs: 0,
      obtaining: undefined,
      cooldown: new Cooldown(this.#timing),
    };
    this.#entries.delete(hash);
    this.#entries.set(hash, entry);
    const [oldest] = this.#entries.size > this.#timing.maxEntries ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#entries.delete(oldest);
    return entry;
  }
}

/** The time after a failure in which the failure is the answer; longer each time in a row. */
class Cooldown {
  readonly #timing: CacheTiming;
  #failure: CredentialFailure | undefined;
  #untilMs = 0;
  #failures = 0;

  constructor(timing: CacheTiming) {
    this.#timing = timing;
  }

  failureAt(nowMs: number): CredentialFailure | undefined {
    if (this.#failure === undefined || nowMs >= this.#untilMs) return undefined;
    return withRetry(this.#failure, this.#untilMs - nowMs);
  }

  begin(failure: CredentialFailure, nowMs: number): CredentialFailure {
    const { firstCooldownMs, maxCooldownMs } = this.#timing;
    const pauseMs = Math.min(firstCooldownMs * 2 ** this.#failures, maxCooldownMs);
    this.#failures += 1;
    this.#failure = failure;
    this.#untilMs = nowMs + pauseMs;
    return withRetry(failure, pauseMs);
  }

  over(): void {
    this.#failure = undefined;
    this.#failures = 0;
  }
}

function withRetry({ reason, message }: CredentialFailure, retryAfterMs: number): CredentialFailure {
  return new CredentialFailure(reason, message, { retryAfterMs: Math.ceil(retryAfterMs) });
}
