// Whether a request that failed can safely be made again.
import { GatewayError } from '../errors.ts';

/** The server's session was gone (F03), or its process, before the request had been handed to it. */
const NEVER_ACCEPTED: ReadonlySet<string | undefined> = new Set(['session-lost', 'never-sent']);

/** True where another try is safe, because the server cannot have begun with the request. */
export function wasNeverAccepted(thrown: unknown): boolean {
  return thrown instanceof GatewayError && NEVER_ACCEPTED.has(thrown.details.reason);
}
