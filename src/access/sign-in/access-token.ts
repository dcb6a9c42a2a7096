// A JWT as an access token (RFC 9068): decoded once, then held against its issuer's rules and keys. Every check that
// needs no key comes first, so that what could not pass anyway costs neither a signature nor a fetch.
import { decodeJwt, decodeProtectedHeader, type JWTHeaderParameters } from 'jose';
import type { IssuerConfig } from '../../config/auth-config.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { findSigner } from './key-set.ts';
import type { ResourceIdentifiers } from './resource-identifiers.ts';
import { readTokenClaims, type TokenClaims, type TokenFacts } from './token-claims.ts';
import { isAccessToken } from './token-kind.ts';
import { tokenRefused } from './token-refusal.ts';

/** Decoded, and not believed yet. */
export interface DecodedToken {
  readonly header: JWTHeaderParameters;
  readonly claims: TokenClaims;
}

export interface VerifiedToken {
  readonly facts: TokenFacts & { readonly expiresAtMs: number };
  /** Of the key that signed it. */
  readonly fingerprint: string;
}

export interface VerifyContext {
  readonly issuer: IssuerConfig;
  readonly keys: IssuerKeys;
  readonly resources: ResourceIdentifiers;
  readonly nowMs: number;
}

/**
 * Undefined for a token that is no JWT, and so only its issuer can read.
 *
 * @throws GatewayError token-invalid for a JWT without claims
 */
export function decodeAccessToken(token: string): DecodedToken | undefined {
  if (token.split('.', 4).length !== 3) return undefined;
  let header: JWTHeaderParameters;
  try {
    header = decodeProtectedHeader(token) as JWTHeaderParameters;
  } catch {
    return undefined;
  }
  try {
    return { header, claims: decodeJwt(token) };
  } catch (thrown) {
    throw tokenRefused('token_malformed', thrown);
  }
}

/** @throws GatewayError token-invalid, or issuer-unavailable where its keys cannot be had */
export async function verifyAccessToken(
  token: string,
  { header, claims }: DecodedToken,
  { issuer, keys, resources, nowMs }: VerifyContext,
): Promise<VerifiedToken> {
  if (!issuer.algorithms.some((algorithm) => algorithm === header.alg)) throw tokenRefused('token_algorithm');
  // Whoever marks an extension as critical wants it understood, and none is here (RFC 7515, section 4.1.11).
  if (header.crit !== undefined) throw tokenRefused('token_critical');
  if (header.kid !== undefined && typeof header.kid !== 'string') throw tokenRefused('token_malformed');
  if (!isAccessToken({ typ: header.typ, claims, scopesClaim: issuer.claims.scopes })) {
    throw tokenRefused('token_kind');
  }
  const facts = readTokenClaims(claims, { issuer, resources, nowMs });
  const { expiresAtMs } = facts;
  if (expiresAtMs === undefined) throw tokenRefused('token_times');
  return { facts: { ...facts, expiresAtMs }, fingerprint: await signerOf(token, header, keys) };
}

async function signerOf(token: string, header: JWTHeaderParameters, keys: IssuerKeys): Promise<string> {
  const set = await keys.current();
  const signer = await findSigner(set, token, header);
  if (signer !== undefined) return signer;
  const newer = await keys.newerThan(set);
  const newSigner = newer && (await findSigner(newer, token, header));
  if (newSigner !== undefined) return newSigner;
  const isKnown = (newer ?? set).keys.some(({ kid }) => kid === header.kid);
  throw tokenRefused(isKnown ? 'token_signature' : 'token_key_unknown');
}
