// Whether a JWT is an access token at all. An issuer signs ID tokens, logout tokens and events with the same keys,
// and where a client's id is an accepted audience, `aud` alone does not keep them out (RFC 8725, section 3.11).
import { claimAt } from './claim-path.ts';

export interface KindEvidence {
  /** The `typ` of the header. */
  readonly typ: unknown;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Where this issuer puts scopes. */
  readonly scopesClaim: string;
}

const ACCESS_TOKEN_TYPE = 'at+jwt';
/** What only other kinds of token have: ID tokens the first four, logout tokens and security events the last two. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events', 'toe'];
/** Given to a client with a scope: what an ID token has no use for. `azp` is not among them, ID tokens have it too. */
const ACCESS_CLAIMS = ['scope', 'scp', 'client_id', 'cid', 'appid'];

/**
 * True for `typ: at+jwt` (RFC 9068, section 2.1). Issuers that write `JWT` or nothing pass if the claims say by
 * themselves that this is an access token: one that only access tokens have, and none that only others have.
 */
export function isAccessToken({ typ, claims, scopesClaim }: KindEvidence): boolean {
  const declared = mediaSubtype(typ);
  if (declared === ACCESS_TOKEN_TYPE) return true;
  if (declared !== 'jwt') return false;
  if (FOREIGN_CLAIMS.some((name) => claims[name] !== undefined)) return false;
  if (saysOtherKind(claims)) return false;
  return (
    ACCESS_CLAIMS.some((name) => claims[name] !== undefined) || claimAt(claims, scopesClaim) !== undefined
  );
}

/** Keycloak and Cognito name the kind in a claim, also when they are asked about a token. */
export function saysOtherKind(claims: Readonly<Record<string, unknown>>): boolean {
  return isOtherThan('bearer', claims.typ) || isOtherThan('access', claims.token_use);
}

/** RFC 7515, section 4.1.9: `application/` may be left out, and letter case does not matter. */
function mediaSubtype(typ: unknown): string | undefined {
  if (typ === undefined) return 'jwt';
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : undefined;
}

function isOtherThan(expected: string, claim: unknown): boolean {
  return claim !== undefined && (typeof claim !== 'string' || claim.toLowerCase() !== expected);
}
