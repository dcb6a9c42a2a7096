// How long a server that fails is left alone. A handshake that succeeds resets nothing: a server that greets and then
// dies would otherwise be respawned for ever at full speed; only a link that stays up does (F12).

export interface BackoffLimits {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A link that lived this long proves the server well again. */
  readonly sustainedMs: number;
}

const DEFAULT_LIMITS: BackoffLimits = { firstDelayMs: 250, maxDelayMs: 30_000, sustainedMs: 60_000 };

/** While another start is tried. */
const LOOK_AGAIN_AFTER_MS = 100;

export class StartBackoff {
  readonly #limits: BackoffLimits;
  #failures = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #blockedUntil = 0;
  /** After failures one start at a time is tried, and the others wait for what comes of it. */
  #isTrying = false;

  constructor(limits: Partial<BackoffLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** Milliseconds until a start may be tried, 0 when it may be now. */
  remainingMs(nowMs: number): number {
    const blockedMs = Math.max(0, this.#blockedUntil - nowMs);
    return this.#isTrying ? Math.max(blockedMs, LOOK_AGAIN_AFTER_MS) : blockedMs;
  }

  /** A start is tried now; `over` tells when it has succeeded or failed. */
  begin(): { over(): void } {
    const isProbe = this.#failures > 1 && !this.#isTrying;
    if (isProbe) this.#isTrying = true;
    return {
      over: () => {
        if (isProbe) this.#isTrying = false;
      },
    };
  }

  /** A link that Portico ended, after `uptimeMs`, shows that the server is well if it was up for long. */
  endedWell(uptimeMs: number): void {
    if (uptimeMs >= this.#limits.sustainedMs) this.#failures = 0;
  }

  /**
   * A start failed, or a link ended by itself after `uptimeMs`. The first failure blocks nothing.
   *
   * @param begunAtMs when the start was tried; one that was under way at the last failure tells nothing new, or ten
   * callers at once would be ten failures
   */
  failed(nowMs: number, { begunAtMs = nowMs, uptimeMs = 0 } = {}): void {
    if (begunAtMs < this.#failedAt) return;
    this.#failedAt = nowMs;
    this.#failures = uptimeMs >= this.#limits.sustainedMs ? 1 : this.#failures + 1;
    if (this.#failures < 2) return;
    const delayMs = this.#limits.firstDelayMs * 2 ** (this.#failures - 2);
    this.#blockedUntil = nowMs + Math.min(delayMs, this.#limits.maxDelayMs);
  }

  get failures(): number {
    return this.#failures;
  }
}

export type Backoff = Pick<StartBackoff, 'remainingMs' | 'begin' | 'failed' | 'endedWell'>;

/** Beyond this many the one that failed longest ago is forgotten. */
const MAX_OWNERS = 1_000;

/** One backoff for each owner of links: whoever makes a server die again and again holds up nobody else. */
export class OwnerBackoffs {
  readonly #byOwner = new Map<string, StartBackoff>();

  /** The owner's backoff; one that has never failed is not kept. */
  of(owner: string): Backoff {
    return {
      remainingMs: (nowMs) => this.#byOwner.get(owner)?.remainingMs(nowMs) ?? 0,
      begin: () => this.#byOwner.get(owner)?.begin() ?? { over() {} },
      endedWell: (uptimeMs) => this.#byOwner.get(owner)?.endedWell(uptimeMs),
      failed: (nowMs, circumstances) => this.#keep(owner).failed(nowMs, circumstances),
    };
  }

  get size(): number {
    return this.#byOwner.size;
  }

  #keep(owner: string): StartBackoff {
    const backoff = this.#byOwner.get(owner) ?? new StartBackoff();
    this.#byOwner.delete(owner);
    this.#byOwner.set(owner, backoff);
    const [oldest] = this.#byOwner.keys();
    if (this.#byOwner.size > MAX_OWNERS && oldest !== undefined) this.#byOwner.delete(oldest);
    return backoff;
  }
}
