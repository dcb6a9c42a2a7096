// Waits that a signal or a clock cuts short. What is waited for goes on: others may wait for it too, as for a link's start.
import { GatewayError } from '../errors.ts';
import type { StopSignal } from '../runtime/stop.ts';

/** @throws GatewayError deadline-passed, or the signal's reason */
export async function withinTime<T>(shared: Promise<T>, timeoutMs: number, signal: StopSignal): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new GatewayError('deadline-passed', { reason: 'start' })), timeoutMs);
  // Whoever has given up, be it before this began, does not hear of its failure; nobody else may be there to.
  shared.catch(() => {});
  try {
    return await unlessAborted(Promise.race([shared, late]), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws the signal's reason */
export async function unlessAborted<T>(shared: Promise<T>, signal: StopSignal): Promise<T> {
  shared.catch(() => {});
  signal.throwIfAborted();
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([shared, interrupted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** @throws the signal's reason */
export function delayUnlessAborted(durationMs: number, signal: StopSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    signal.removeEventListener('abort', onAbort);
    resolve();
  }, durationMs);
  const onAbort = () => {
    clearTimeout(timer);
    reject(signal.reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  return promise;
}

/** @throws the signal's reason, once it aborts */
export function untilAborted(signal: StopSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
}
