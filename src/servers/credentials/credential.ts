// What Portico shows to a server in order to be let in, and where it comes from: one source for each server, one file
// for each kind of source.
import type { Caller } from './caller.ts';

export interface Credential {
  /** A bearer token. */
  readonly token: string;
  /** By `Date.now()`; undefined for what has no end that we know of. */
  readonly expiresAtMs: number | undefined;
}

export interface CredentialSource {
  /** Whether it depends on who calls. */
  readonly personal: boolean;
  /**
   * One that is good now.
   *
   * @param caller undefined for what Portico does by itself, which a personal source has nothing for
   * @throws CredentialFailure
   */
  credentialFor(caller: Caller | undefined): Promise<Credential>;
  /**
   * The server refused it.
   *
   * @returns whether another one can be had, and is worth a try
   */
  forget(credential: Credential, caller: Caller | undefined): boolean;
}

/** Why a credential cannot be had; the closed set of the metric's label `reason`. */
export type CredentialReason =
  /** The token endpoint did not answer, or not as one does. */
  | 'endpoint-unavailable'
  /** The token endpoint said no. */
  | 'endpoint-refused'
  /** What it issued is no bearer token. */
  | 'endpoint-answer'
  /** There is no caller, or none whose token could be exchanged, or none that the server could know. */
  | 'no-caller'
  /** The caller's own sign-in is over. */
  | 'caller-expired'
  /** A variable of the caller cannot be made. */
  | 'variable'
  /** The server answered 401 or 403. */
  | 'server-refused';

export class CredentialFailure extends Error {
  readonly reason: CredentialReason;
  /** Milliseconds after which another try makes sense. */
  readonly retryAfterMs: number | undefined;

  /** @param words for the operator: never a token, a secret or a body */
  constructor(reason: CredentialReason, words: string, { retryAfterMs }: { retryAfterMs?: number } = {}) {
    super(words);
    this.name = 'CredentialFailure';
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}
