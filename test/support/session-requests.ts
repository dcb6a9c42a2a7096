// Requests of a legacy session, for tests of whose it is and whether it is there.
import type { RawRequest } from './raw-client.ts';
import { requestText } from './raw-session.ts';

/** Requests that need a session, by each HTTP method. */
export const BY_METHOD: readonly (readonly [string, RawRequest])[] = [
  ['POST', { body: requestText('7', 'tools/list', {}) }],
  ['GET', { method: 'GET' }],
  ['DELETE', { method: 'DELETE' }],
];

/** A session id of the right form, and of no session anywhere. */
export const NEVER_ISSUED = 'A'.repeat(43);
