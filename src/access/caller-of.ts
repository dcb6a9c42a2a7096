// A principal as servers may know it, with a way to the token that its request came with.
import { createHash } from 'node:crypto';
import type { Caller } from '../servers/credentials/caller.ts';
import { CallerToken } from '../servers/credentials/caller-token.ts';
import { ANONYMOUS, type Principal, principalKey } from './principal.ts';
import { API_KEY_ISSUER } from './sign-in/api-keys.ts';
import { readBearerToken } from './sign-in/bearer-token.ts';

/** @param authorization gives the Authorization headers of the principal's request, for as long as its exchange runs */
export function callerOf(principal: Principal, authorization: () => readonly string[] | undefined): Caller {
  const { issuer, subject, clientId, scopes, groups, expiresAtMs } = principal;
  return {
    key: principalKey(principal),
    issuer,
    subject,
    clientId,
    scopes,
    groups,
    expiresAtMs,
    token: () => issuedToken(principal, authorization()),
  };
}

/** A key of ours means nothing to any issuer, and must not be shown to one. */
function issuedToken(
  principal: Principal,
  authorization: readonly string[] | undefined,
): CallerToken | undefined {
  if (authorization === undefined || principal.issuer === ANONYMOUS.issuer) return undefined;
  if (principal.issuer === API_KEY_ISSUER) return undefined;
  const token = readBearerToken({ authorization, tokenInQuery: false, view: undefined });
  const tokenId = createHash('sha256').update(token).digest('base64url');
  return tokenId === principal.tokenId ? new CallerToken(token) : undefined;
}
