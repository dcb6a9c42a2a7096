// Waits for something that others wait for too, without ending it: a link's start goes on when one caller gives up.
import { GatewayError } from '../errors.ts';

/** @throws GatewayError deadline-passed, or the signal's reason */
export async function withinTime<T>(shared: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  // Whoever has given up, be it before this began, does not hear of its failure; nobody else may be there to.
  shared.catch(() => {});
  signal.throwIfAborted();
  const { promise: interrupted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  const timer = setTimeout(() => reject(new GatewayError('deadline-passed', { reason: 'start' })), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([shared, interrupted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
