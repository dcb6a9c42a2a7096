// A start waits for its turn where that is near, and is refused where it is not.
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../errors.ts';
import type { Backoff } from './start-backoff.ts';

/** A start that is due this soon is worth waiting for; one further off is refused at once. */
const WORTH_WAITING_MS = 1_000;

/**
 * @param refusal why the last start failed, if it was for a credential
 * @throws GatewayError server-unavailable or credential-refused, with when to come back; or the signal's reason
 */
export async function awaitBackoff(
  backoff: Backoff,
  signal: AbortSignal,
  refusal: GatewayError | undefined,
): Promise<void> {
  for (;;) {
    const remainingMs = backoff.remainingMs(performance.now());
    if (remainingMs === 0) return;
    if (remainingMs > WORTH_WAITING_MS) {
      if (refusal !== undefined) {
        const { reason } = refusal.details;
        const hint = { retryAfterMs: Math.ceil(remainingMs), ...(reason === undefined ? {} : { reason }) };
        throw new GatewayError('credential-refused', { ...hint, cause: refusal.cause });
      }
      throw new GatewayError('server-unavailable', {
        reason: 'backing-off',
        text: 'The server failed to start; it is tried again shortly',
        data: { retryAfterMs: Math.ceil(remainingMs) },
      });
    }
    await delay(remainingMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
