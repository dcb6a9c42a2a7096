// Sends what has no answer of its own: notifications, and answers to a server's requests.
import { discard, type HttpEndpoint } from './http-endpoint.ts';
import { messageBody } from './message-body.ts';
import { readRefusal } from './refusal.ts';
import type { HeaderMap } from './upstream-headers.ts';
import { unavailable } from './upstream-http-error.ts';

export interface HandOver {
  readonly endpoint: HttpEndpoint;
  readonly headers: HeaderMap;
  readonly message: object;
  /** The server refuses with a 404 what names a session that it has forgotten. */
  readonly inSession: boolean;
  readonly signal: AbortSignal;
}

const HAND_OVER_TIMEOUT_MS = 30_000;

/**
 * Resolves once the server has taken the message: with whichever 2xx, and whatever body it thinks fit (F37).
 *
 * @throws GatewayError when it does not, `session-lost` where a new session would help
 */
export async function handOver(handing: HandOver): Promise<void> {
  const { endpoint, headers, message, inSession, signal } = handing;
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(HAND_OVER_TIMEOUT_MS)]);
  const body = messageBody(message);
  const answer = await endpoint.send({ method: 'POST', headers, body, use: 'notices', signal: bounded });
  if (answer.status < 300) return discard(answer);
  const { code } = await readRefusal(answer, { id: undefined, inSession }, bounded);
  throw unavailable('http-status', `the server refused a message with code ${code}`);
}
