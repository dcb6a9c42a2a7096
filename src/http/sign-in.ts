// What the HTTP edge needs of authentication: who is calling, and how to say that nobody is.
import type { Principal } from '../access/principal.ts';
import type { Challenge } from '../access/sign-in/bearer-challenge.ts';
import type { SignInAttempt } from '../access/sign-in/bearer-token.ts';
import type { ResourceMetadata } from '../access/sign-in/resource-metadata.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { ChallengeFor } from './error-response.ts';

export interface SignIn {
  /** @throws GatewayError token-missing, token-invalid, scope-insufficient, issuer-unavailable */
  authenticate(attempt: SignInAttempt): Promise<Principal>;
  /**
   * What `authenticate` would give where the credential has been looked at before; undefined where that takes its time.
   *
   * @throws GatewayError as `authenticate`
   */
  recognize(attempt: SignInAttempt): Principal | undefined;
  /** The value of `WWW-Authenticate`. */
  challenge(challenge: Challenge): string;
  /** The metadata document of a view; undefined where there is nowhere to sign in. */
  metadata(view: string | undefined): ResourceMetadata | undefined;
  /** A signal that aborts when what the caller signed in with is over; watched until `done` aborts. */
  watch(principal: Principal, done: StopSignal): StopSignal;
}

/** The challenges of one view. */
export function challengeFor(signIn: SignIn | undefined, view: string | undefined): ChallengeFor | undefined {
  if (signIn === undefined) return undefined;
  return (kind, { details }) => signIn.challenge({ kind, view, scopes: details.scopes });
}
