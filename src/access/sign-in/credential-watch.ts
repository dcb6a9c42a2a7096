// What ends an open stream though nobody closes it: the credential that it was opened with is over.
import { Stop, type StopSignal } from '../../runtime/stop.ts';

/** Node fires longer timers at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface WatchedCredential {
  /** By `Date.now()`; undefined for one that ends only when it is withdrawn. */
  readonly expiresAtMs: number | undefined;
  /** False once the issuer has taken the key back that vouches for it. */
  isVouchedFor(): boolean;
}

export class CredentialWatch {
  readonly #now: () => number;
  readonly #watched = new Set<{ readonly credential: WatchedCredential; end(): void }>();
  #ended = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#watched.size;
  }

  /** @returns a signal that aborts when the credential ends; watched until `done` aborts */
  watch(credential: WatchedCredential, done: StopSignal): StopSignal {
    const over = new Stop();
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      clearTimeout(timer);
      done.removeEventListener('abort', stop);
      this.#watched.delete(entry);
    };
    const end = () => {
      stop();
      over.abort();
    };
    const wait = () => {
      if (credential.expiresAtMs === undefined) return;
      const leftMs = credential.expiresAtMs - this.#now();
      if (leftMs <= 0) end();
      else timer = setTimeout(wait, Math.min(leftMs, MAX_TIMER_MS));
    };
    const entry = { credential, end };
    if (done.aborted) return over;
    if (this.#ended) {
      over.abort();
      return over;
    }
    this.#watched.add(entry);
    done.addEventListener('abort', stop, { once: true });
    wait();
    return over;
  }

  /** Ends what is vouched for no more. */
  review(): void {
    for (const { credential, end } of this.#watched) {
      if (!credential.isVouchedFor()) end();
    }
  }

  /** Ends everything that is watched, and whatever is to be watched later. */
  endAll(): void {
    this.#ended = true;
    for (const { end } of this.#watched) end();
  }
}
