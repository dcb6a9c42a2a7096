// The id of a session, for its client alone, and the key that stands for it everywhere else.
import { hash, randomBytes } from 'node:crypto';

/** base64url of 32 bytes: what cannot be an id is not even hashed. */
const SESSION_ID = /^[A-Za-z0-9_-]{43}$/;

export function newSessionId(): string {
  return randomBytes(32).toString('base64url');
}

/** Undefined for what cannot be an id. */
export function sessionKeyOf(id: string): string | undefined {
  return SESSION_ID.test(id) ? hashed(id) : undefined;
}

/** A name that gives nothing away, and that no character of the text can break out of. */
export function hashed(text: string): string {
  return hash('sha256', text, 'base64url');
}
