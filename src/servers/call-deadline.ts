// One clock for a whole call, from dispatch to its last byte: progress extends it, a hard maximum does not move
// (2026-07-28, basic/patterns/cancellation, "Timeouts").
import { GatewayError } from '../errors.ts';

export interface CallDeadline {
  /** Aborts when the parent does, or with GatewayError deadline-passed. */
  readonly signal: AbortSignal;
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

export function startDeadline(limits: DeadlineLimits, parent: AbortSignal): CallDeadline {
  const controller = new AbortController();
  const expire = () => controller.abort(new GatewayError('deadline-passed'));
  const follow = () => controller.abort(parent.reason);
  let latestAt = performance.now() + limits.maxCallTimeMs;
  let dueAt = Math.min(performance.now() + limits.callTimeoutMs, latestAt);
  let pausedAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  schedule();
  parent.addEventListener('abort', follow, { once: true });
  if (parent.aborted) follow();

  // Extending moves a number, not the timer: a server that reports progress a thousand times costs nothing.
  function schedule(): void {
    const remainingMs = dueAt - performance.now();
    if (remainingMs <= 0) expire();
    else if (remainingMs < Number.POSITIVE_INFINITY)
      timer = setTimeout(schedule, Math.min(remainingMs, MAX_TIMER_MS));
  }

  return {
    signal: controller.signal,
    extend() {
      if (pausedAt === undefined) dueAt = Math.min(performance.now() + limits.callTimeoutMs, latestAt);
    },
    pause() {
      pausedAt ??= performance.now();
      clearTimeout(timer);
    },
    resume() {
      if (pausedAt === undefined || stopped) return;
      const pausedMs = performance.now() - pausedAt;
      pausedAt = undefined;
      latestAt += pausedMs;
      dueAt += pausedMs;
      schedule();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      parent.removeEventListener('abort', follow);
    },
  };
}
