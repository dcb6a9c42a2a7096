// One clock for a whole call, from dispatch to its last byte: progress extends it, a hard maximum does not move
// (2026-07-28, basic/patterns/cancellation, "Timeouts").
import { GatewayError } from '../errors.ts';
import { Stop, type StopSignal } from '../runtime/stop.ts';

export interface CallDeadline {
  /** Aborts when the parent does, or with GatewayError deadline-passed. */
  readonly signal: StopSignal;
  /** The server showed that it is at work: the call gets its full `callTimeoutMs` again, within the maximum. */
  extend(): void;
  /** The call waits for a person: no time passes until `resume`. */
  pause(): void;
  resume(): void;
  /** Stops the clock and lets go of the parent; must be called. */
  stop(): void;
}

export interface DeadlineLimits {
  readonly callTimeoutMs: number;
  readonly maxCallTimeMs: number;
}

/** What a timer can hold; a longer time is waited for in pieces. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function startDeadline(limits: DeadlineLimits, parent: StopSignal): CallDeadline {
  return new RunningDeadline(limits, parent);
}

/** A class that is its own listener, and no closures: each call has one. */
class RunningDeadline extends Stop implements CallDeadline {
  readonly #parent: StopSignal;
  readonly #callTimeoutMs: number;
  #latestAt: number;
  #dueAt: number;
  #pausedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor({ callTimeoutMs, maxCallTimeMs }: DeadlineLimits, parent: StopSignal) {
    super();
    const now = performance.now();
    this.#parent = parent;
    this.#callTimeoutMs = callTimeoutMs;
    this.#latestAt = now + maxCallTimeMs;
    this.#dueAt = Math.min(now + callTimeoutMs, this.#latestAt);
    this.#schedule(now);
    parent.addEventListener('abort', this);
    if (parent.aborted) this.handleEvent();
  }

  get signal(): StopSignal {
    return this;
  }

  /** The parent aborts. */
  handleEvent(): void {
    this.abort(this.#parent.reason);
  }

  extend(): void {
    if (this.#pausedAt !== undefined) return;
    this.#dueAt = Math.min(performance.now() + this.#callTimeoutMs, this.#latestAt);
  }

  pause(): void {
    this.#pausedAt ??= performance.now();
    clearTimeout(this.#timer);
  }

  resume(): void {
    if (this.#pausedAt === undefined || this.#stopped) return;
    const now = performance.now();
    const pausedMs = now - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#latestAt += pausedMs;
    this.#dueAt += pausedMs;
    this.#schedule(now);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#parent.removeEventListener('abort', this);
  }

  // Extending moves a number, not the timer: a server that reports progress a thousand times costs nothing.
  #schedule(now: number): void {
    const remainingMs = this.#dueAt - now;
    if (remainingMs <= 0) this.abort(new GatewayError('deadline-passed'));
    else if (remainingMs < Number.POSITIVE_INFINITY) {
      // Whole milliseconds: one fraction is enough for V8 to keep a number of all timers apart, and to compile anew
      // whatever handles one.
      this.#timer = setTimeout(wake, Math.ceil(Math.min(remainingMs, MAX_TIMER_MS)), this);
    }
  }

  /** The timer has run out, and the call perhaps not. */
  wake(): void {
    this.#schedule(performance.now());
  }
}

function wake(deadline: RunningDeadline): void {
  deadline.wake();
}
