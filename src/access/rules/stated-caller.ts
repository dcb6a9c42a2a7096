// Who a token says that it is about, taken at its word: for explanations alone, never to let anybody in.
import { createHash } from 'node:crypto';
import type { AuthConfig, IssuerConfig } from '../../config/auth-config.ts';
import { GatewayError } from '../../errors.ts';
import { ANONYMOUS, type Principal } from '../principal.ts';
import { decodeAccessToken } from '../sign-in/access-token.ts';
import { ApiKeys } from '../sign-in/api-keys.ts';
import { resourceIdentifiers } from '../sign-in/resource-identifiers.ts';
import { readIdentity, readTokenClaims, type TokenClaims } from '../sign-in/token-claims.ts';

export interface StatedCaller {
  readonly principal: Principal;
  /** Why Portico would refuse it as it stands, as the log line would say; the signature is not looked at. */
  readonly refusedFor: string | undefined;
}

export interface StatedCallerContext {
  readonly auth: AuthConfig;
  readonly publicUrl: string;
  /** `Date.now()` */
  readonly nowMs: number;
}

/** What was given says nothing of a caller; the message says why. */
export class NoCaller extends Error {}

/** @throws NoCaller */
export function callerOfToken(token: string, context: StatedCallerContext): StatedCaller {
  const digest = createHash('sha256').update(token).digest();
  const machine = new ApiKeys(context.auth.apiKeys).find(digest);
  if (machine !== undefined) return { principal: machine, refusedFor: undefined };
  let claims: TokenClaims | undefined;
  try {
    claims = decodeAccessToken(token)?.claims;
  } catch {
    throw new NoCaller('this is no token that could be read');
  }
  if (claims === undefined) {
    throw new NoCaller(
      'this is neither an API key of the config nor a JWT; what its issuer says of it goes with --claims',
    );
  }
  return callerOfClaims(claims, context);
}

/** @throws NoCaller */
export function callerOfClaims(
  claims: TokenClaims,
  { auth, publicUrl, nowMs }: StatedCallerContext,
): StatedCaller {
  const issuer = issuerOf(claims, auth.issuers);
  try {
    const identity = readIdentity(claims, issuer.claims);
    const principal: Principal = { ...ANONYMOUS, ...identity, issuer: issuer.issuer, claims };
    return { principal, refusedFor: refusal(claims, { issuer, publicUrl, nowMs }) };
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw new NoCaller('its claims name no subject (sub)');
    throw thrown;
  }
}

/** Claims written by hand may leave the issuer out where there is but one. */
function issuerOf({ iss }: TokenClaims, issuers: readonly IssuerConfig[]): IssuerConfig {
  const [only, ...others] = issuers;
  const found =
    iss === undefined && others.length === 0 ? only : issuers.find(({ issuer }) => issuer === iss);
  if (found !== undefined) return found;
  throw new NoCaller(
    iss === undefined
      ? 'it has no issuer (iss)'
      : `the issuer ${String(iss)} is not one of gateway.auth.issuers`,
  );
}

function refusal(
  claims: TokenClaims,
  { issuer, publicUrl, nowMs }: { issuer: IssuerConfig; publicUrl: string; nowMs: number },
): string | undefined {
  try {
    readTokenClaims(claims, { issuer, resources: resourceIdentifiers(publicUrl), nowMs });
    return undefined;
  } catch (thrown) {
    return thrown instanceof GatewayError ? thrown.details.reason : String(thrown);
  }
}
