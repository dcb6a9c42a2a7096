// The clock of one step of a link's start.
import { GatewayError } from '../errors.ts';

export interface StartClock {
  /** Aborts when time is up, when the start is broken off, or by `abort`. */
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Stops the clock and lets go of the parent; must be called. */
  stop(): void;
}

export function startClock(timeoutMs: number, parent: AbortSignal): StartClock {
  const controller = new AbortController();
  const expire = () =>
    controller.abort(
      new GatewayError('server-unavailable', {
        reason: 'start-timeout',
        cause: new Error(`no answer within ${timeoutMs} ms`),
      }),
    );
  const follow = () => controller.abort(parent.reason);
  const timer = setTimeout(expire, timeoutMs);
  parent.addEventListener('abort', follow, { once: true });
  if (parent.aborted) follow();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    stop() {
      clearTimeout(timer);
      parent.removeEventListener('abort', follow);
    },
  };
}
