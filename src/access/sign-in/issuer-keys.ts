// One issuer's keys: fetched once for everyone who waits, again when a token names a key that is not among them, but
// never more often than a cooldown allows; the last good ones serve while the issuer is away, for a bounded time.
import type { IssuerConfig } from '../../config/auth-config.ts';
import { GatewayError } from '../../errors.ts';
import type { FetchJson } from '../../servers/http/fetch-json.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { discoverJwksUri } from './issuer-metadata.ts';
import { type KeySet, readKeySet } from './key-set.ts';
import { OutageLog } from './outage-log.ts';

export interface KeyTiming {
  /** Older keys are used, and fetched anew meanwhile: this is how a withdrawn key is noticed. */
  readonly freshMs: number;
  /** Keys that could not be fetched anew for this long are used no more. */
  readonly lastGoodMs: number;
  /**
   * At most one fetch in this time for keys that tokens name and the set lacks, however many tokens do; and as many
   * for what other replicas say, however often they do.
   */
  readonly missCooldownMs: number;
  /** At most one attempt in this time while the issuer cannot be asked. */
  readonly failureCooldownMs: number;
  /** One attempt, discovery included, takes no longer. */
  readonly timeoutMs: number;
}

export const DEFAULT_KEY_TIMING: KeyTiming = {
  freshMs: 5 * 60_000,
  lastGoodMs: 6 * 3_600_000,
  missCooldownMs: 10_000,
  failureCooldownMs: 2_000,
  timeoutMs: 10_000,
};

export type KeyFetchOutcome = 'ok' | 'failed';

export interface IssuerKeysOptions {
  readonly config: Pick<IssuerConfig, 'issuer' | 'jwksUri'>;
  readonly fetchJson: FetchJson;
  readonly logger: Logger;
  now(): number;
  /** Called after keys have left the set. */
  onWithdrawn(): void;
  /** Called after a set has taken the place of another, but not where others had said so. */
  onChanged?(): void;
  /** Called after each attempt. */
  onFetched?(outcome: KeyFetchOutcome): void;
  readonly timing?: Partial<KeyTiming>;
}

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #timing: KeyTiming;
  readonly #outage: OutageLog;
  readonly #closing = new AbortController();
  #jwksUri: string | undefined;
  #set: KeySet | undefined;
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #missedAtMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<KeySet> | undefined;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  /** Until what others have said is looked into. */
  #untilLook: NodeJS.Timeout | undefined;
  /** Whether the fetch under way is for what others have said. */
  #isTold = false;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#timing = { ...DEFAULT_KEY_TIMING, ...options.timing };
    const { logger, now, config } = options;
    const words = {
      failing: 'the keys of an issuer cannot be fetched',
      back: 'the keys of an issuer are back',
    };
    this.#outage = new OutageLog(logger.child({ issuer: config.issuer }), words, now);
    this.#jwksUri = config.jwksUri;
  }

  /** Whether a key is published, as far as we know; false too where we have not known for too long. */
  vouchFor(fingerprint: string): boolean {
    return this.#usableSet()?.fingerprints.has(fingerprint) ?? false;
  }

  /**
   * The keys to verify with.
   *
   * @throws GatewayError issuer-unavailable
   */
  async current(): Promise<KeySet> {
    return this.#usableSet() ?? this.#fetch();
  }

  /**
   * For a token that none of `seen` verifies: it may be signed with a newer key, also under an old `kid`.
   *
   * @returns a newer set, or undefined where `seen` is as new as the cooldown allows
   * @throws GatewayError issuer-unavailable, where nobody can tell
   */
  async newerThan(seen: KeySet): Promise<KeySet | undefined> {
    const now = this.#options.now();
    if (this.#set === seen && this.#fetching === undefined) {
      if (now - this.#missedAtMs < this.#timing.missCooldownMs) {
        if (this.#failedAtMs > this.#fetchedAtMs) throw this.#unavailable();
        return undefined;
      }
      this.#missedAtMs = now;
    }
    const set = this.#set === seen ? await this.#fetch() : this.#set;
    return set === seen ? undefined : set;
  }

  /** The set that serves now; an ageing one is fetched anew meanwhile. */
  #usableSet(): KeySet | undefined {
    const ageMs = this.#options.now() - this.#fetchedAtMs;
    if (this.#set === undefined || ageMs >= this.#timing.lastGoodMs) return undefined;
    if (ageMs >= this.#timing.freshMs) this.refresh();
    return this.#set;
  }

  /** Fetches anew without anybody waiting; a failure is logged, and leaves the last good keys. */
  refresh(): void {
    this.#fetch().catch(() => {});
  }

  /**
   * Another replica has met other keys. None of such news is lost: what may not be fetched yet is fetched as soon as it
   * may, and again until it can be.
   */
  noteChanged(): void {
    // Where nothing is known yet nothing is outdated.
    if (this.#set === undefined || this.#untilLook !== undefined || this.#closing.signal.aborted) return;
    const waitMs = this.#toldAtMs + this.#timing.missCooldownMs - this.#options.now();
    if (waitMs <= 0) void this.#look();
    else this.#lookAfter(Math.min(waitMs, this.#timing.missCooldownMs));
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#untilLook);
  }

  #lookAfter(ms: number): void {
    const onTime = () => {
      this.#untilLook = undefined;
      void this.#look();
    };
    this.#untilLook = setTimeout(onTime, ms).unref();
  }

  async #look(): Promise<void> {
    this.#toldAtMs = this.#options.now();
    // What is being fetched may have been read before the keys changed.
    await this.#fetching?.catch(() => {});
    if (this.#closing.signal.aborted) return;
    try {
      this.#isTold = this.#fetching === undefined;
      await this.#fetch();
    } catch {
      if (!this.#closing.signal.aborted && this.#untilLook === undefined)
        this.#lookAfter(this.#timing.missCooldownMs);
    } finally {
      this.#isTold = false;
    }
  }

  #fetch(): Promise<KeySet> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (this.#options.now() - this.#failedAtMs < this.#timing.failureCooldownMs) {
      return Promise.reject(this.#unavailable());
    }
    this.#fetching = this.#attempt().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #attempt(): Promise<KeySet> {
    const { config, now } = this.#options;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#timing.timeoutMs)]);
    try {
      const fetched = await this.#load(signal);
      this.#outage.worked();
      this.#options.onFetched?.('ok');
      this.#fetchedAtMs = now();
      return this.#take(fetched);
    } catch (thrown) {
      if (!this.#closing.signal.aborted) {
        this.#outage.failed(thrown);
        this.#options.onFetched?.('failed');
      }
      this.#failedAtMs = now();
      // It may have moved.
      this.#jwksUri = config.jwksUri;
      throw this.#unavailable(thrown);
    }
  }

  async #load(signal: AbortSignal): Promise<KeySet> {
    const { config, fetchJson } = this.#options;
    this.#jwksUri ??= await discoverJwksUri(config.issuer, fetchJson, signal);
    const { status, body } = await fetchJson({ url: this.#jwksUri, signal });
    if (status !== 200) throw new Error(`its key set answered ${status}`);
    return readKeySet(body);
  }

  /** Keeps the set that is there where nothing changed, so that `newerThan` can tell. */
  #take(fetched: KeySet): KeySet {
    const known = this.#set;
    const withdrawn = [...(known?.fingerprints ?? [])].some((key) => !fetched.fingerprints.has(key));
    if (known !== undefined && !withdrawn && known.fingerprints.size === fetched.fingerprints.size)
      return known;
    this.#set = fetched;
    if (withdrawn) this.#options.onWithdrawn();
    if (known !== undefined && !this.#isTold) this.#options.onChanged?.();
    return fetched;
  }

  #unavailable(cause?: unknown): GatewayError {
    return new GatewayError('issuer-unavailable', {
      retryAfterMs: this.#timing.failureCooldownMs,
      reason: 'issuer_keys',
      cause,
    });
  }
}
