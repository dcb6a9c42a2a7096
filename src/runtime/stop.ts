// What an AbortController and its signal say, for what each call and each open stream needs several of: theirs are event
// targets, which take 25 to 40 MB of a busy process and 0.6 kB each of an idle stream (bench: small; bench:streams).

/** All that is asked of an AbortSignal here, so one serves as well. An abort is told once, whatever is said of it. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  /** The listener runs once, at the abort; never where that was before. */
  addEventListener(type: 'abort', listener: StopListener): void;
  removeEventListener(type: 'abort', listener: StopListener): void;
}

export type StopListener = (() => void) | StopHearer;

/** Whoever listens with no function made for it. */
export interface StopHearer {
  handleEvent(): void;
}

/** Signal and controller in one: whoever is only to hear of the end is handed it as a StopSignal. */
export class Stop implements StopSignal {
  #aborted = false;
  #reason: unknown;
  /** The one that asked first; most have no other. */
  #listener: StopListener | undefined;
  #others: StopListener[] | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: StopListener): void {
    if (this.#aborted || this.#listener === listener || this.#others?.includes(listener)) return;
    if (this.#others === undefined && this.#listener === undefined) this.#listener = listener;
    // As long as it has to be: an array that is added to, or spread, is given room for many more.
    else this.#others = (this.#others ?? []).concat(listener);
  }

  removeEventListener(_type: 'abort', listener: StopListener): void {
    if (this.#listener === listener) {
      this.#listener = undefined;
      return;
    }
    const index = this.#others?.indexOf(listener) ?? -1;
    if (index >= 0) this.#others?.splice(index, 1);
  }

  /** Idempotent; the first reason counts. What a listener throws is an uncaught exception, and the others are told. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (let next = this.#takeListener(); next !== undefined; next = this.#takeListener()) runListener(next);
  }

  #takeListener(): StopListener | undefined {
    const first = this.#listener;
    this.#listener = undefined;
    return first ?? this.#others?.shift();
  }
}

/** What nothing ends. */
export const NEVER: StopSignal = {
  aborted: false,
  reason: undefined,
  throwIfAborted() {},
  addEventListener() {},
  removeEventListener() {},
};

/** Runs a listener as `abort` does. */
export function runListener(listener: StopListener): void {
  try {
    if (typeof listener === 'function') listener();
    else listener.handleEvent();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

/** For interfaces of Node that take nothing else. */
export function abortSignalOf(signal: StopSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  return controller.signal;
}

/** Aborts with the first that does. For signals that live no longer than whoever asks: nothing is taken back. */
export function eitherOf(...signals: readonly StopSignal[]): StopSignal {
  const either = new Stop();
  for (const signal of signals) {
    if (signal.aborted) either.abort(signal.reason);
    else signal.addEventListener('abort', () => either.abort(signal.reason));
  }
  return either;
}

/**
 * The same where an AbortSignal among them outlives whoever asks. It has the weight of AbortSignals, and a Stop keeps what
 * was made of it until it aborts.
 */
export function anySignal(signals: readonly StopSignal[]): AbortSignal {
  return AbortSignal.any(signals.map(abortSignalOf));
}
