// What ends an open stream though nobody closes it: the credential that it was opened with is over.
import { Stop, type StopHearer, type StopSignal } from '../../runtime/stop.ts';

/** Node fires longer timers at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface WatchedCredential {
  /** By `Date.now()`; undefined for one that ends only when it is withdrawn. */
  readonly expiresAtMs: number | undefined;
  /** Undefined for what nobody can take back. */
  readonly signedIn: Vouched | undefined;
}

interface Vouched {
  /** False once the issuer has taken the key back that vouches for it. */
  isVouchedFor(): boolean;
}

export class CredentialWatch {
  readonly #now: () => number;
  readonly #watched = new Set<Watched>();
  #ended = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#watched.size;
  }

  /** @returns a signal that aborts when the credential ends; watched until `done` aborts */
  watch(credential: WatchedCredential, done: StopSignal): StopSignal {
    const watched = new Watched(this.#watched, credential, this.#now);
    if (this.#ended) watched.abort();
    else if (!done.aborted) watched.begin(done);
    return watched;
  }

  /** Ends what is vouched for no more. */
  review(): void {
    for (const watched of this.#watched) watched.review();
  }

  /** Ends everything that is watched, and whatever is to be watched later. */
  endAll(): void {
    this.#ended = true;
    for (const watched of this.#watched) watched.end();
  }
}

/** Signal, timer and place in the watch in one: thousands of streams may have one each. */
class Watched extends Stop implements StopHearer {
  readonly #all: Set<Watched>;
  readonly #signedIn: Vouched | undefined;
  readonly #expiresAtMs: number | undefined;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  #done: StopSignal | undefined;

  constructor(all: Set<Watched>, { expiresAtMs, signedIn }: WatchedCredential, now: () => number) {
    super();
    this.#all = all;
    this.#signedIn = signedIn;
    this.#expiresAtMs = expiresAtMs;
    this.#now = now;
  }

  begin(done: StopSignal): void {
    this.#all.add(this);
    this.#done = done;
    done.addEventListener('abort', this);
    this.wait();
  }

  /** Nobody has to be told any more. */
  handleEvent(): void {
    clearTimeout(this.#timer);
    this.#done?.removeEventListener('abort', this);
    this.#all.delete(this);
  }

  end(): void {
    this.handleEvent();
    this.abort();
  }

  review(): void {
    if (this.#signedIn?.isVouchedFor() === false) this.end();
  }

  wait(): void {
    if (this.#expiresAtMs === undefined) return;
    const leftMs = this.#expiresAtMs - this.#now();
    if (leftMs <= 0) this.end();
    else this.#timer = setTimeout(waitOn, Math.min(leftMs, MAX_TIMER_MS), this);
  }
}

function waitOn(watched: Watched): void {
  watched.wait();
}
