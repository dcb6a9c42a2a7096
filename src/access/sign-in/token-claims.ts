// What an access token must say, whether it says so itself or its issuer does in an introspection. Pure.
import type { IssuerConfig } from '../../config/auth-config.ts';
import { readScopes } from '../scopes.ts';
import { claimAt } from './claim-path.ts';
import type { OpenedViews, ResourceIdentifiers } from './resource-identifiers.ts';
import { tokenRefused } from './token-refusal.ts';

export type TokenClaims = Readonly<Record<string, unknown>>;

export interface ClaimsContext {
  readonly issuer: Pick<IssuerConfig, 'audiences' | 'claims'>;
  readonly resources: ResourceIdentifiers;
  /** `Date.now()`. */
  readonly nowMs: number;
}

export interface TokenIdentity {
  readonly subject: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly groups: readonly string[];
}

export interface TokenFacts extends TokenIdentity {
  /** Undefined where the token does not say. */
  readonly expiresAtMs: number | undefined;
  readonly opens: OpenedViews;
}

/** By how much the clocks of an issuer and of this machine may differ. */
const CLOCK_SKEW_MS = 30_000;
const MAX_NAME_CHARACTERS = 1_024;
/** By issuers in the field, the standard one first (RFC 9068, section 2.2). */
const CLIENT_CLAIMS = ['client_id', 'azp', 'cid', 'appid'];

/**
 * Checks everything but the signature, the issuer and the kind.
 *
 * @throws GatewayError token-invalid
 */
export function readTokenClaims(claims: TokenClaims, context: ClaimsContext): TokenFacts {
  // Bound to a key that its sender would have to prove: taken as a plain bearer, a stolen one would do (RFC 7800).
  if (claims.cnf !== undefined) throw tokenRefused('token_bound');
  const expiresAtMs = checkTimes(claims, context.nowMs);
  const opens = openedViews(claims.aud, context);
  return { ...readIdentity(claims, context.issuer.claims), expiresAtMs, opens };
}

/**
 * Who the token is about, whether or not it holds.
 *
 * @throws GatewayError token-invalid
 */
export function readIdentity(claims: TokenClaims, places: IssuerConfig['claims']): TokenIdentity {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_NAME_CHARACTERS) {
    throw tokenRefused('token_subject');
  }
  return {
    subject: sub,
    clientId: clientOf(claims),
    scopes: scopesOf(claims, places.scopes),
    groups: groupsOf(claimAt(claims, places.groups)),
  };
}

function checkTimes({ exp, nbf, iat }: TokenClaims, nowMs: number): number | undefined {
  for (const time of [exp, nbf, iat]) {
    if (time !== undefined && !Number.isFinite(time)) throw tokenRefused('token_times');
  }
  if (exp !== undefined && milliseconds(exp) + CLOCK_SKEW_MS <= nowMs) throw tokenRefused('token_expired');
  if (nbf !== undefined && milliseconds(nbf) - CLOCK_SKEW_MS > nowMs) throw tokenRefused('token_not_yet');
  return exp === undefined ? undefined : milliseconds(exp);
}

function openedViews(aud: unknown, { issuer, resources }: ClaimsContext): OpenedViews {
  const audiences = typeof aud === 'string' ? [aud] : aud;
  if (!Array.isArray(audiences) || !audiences.every((audience) => typeof audience === 'string')) {
    throw tokenRefused('token_audience');
  }
  if (issuer.audiences.some((accepted) => audiences.includes(accepted))) return 'every';
  const opens = resources.viewsOpenedBy(audiences);
  if (opens !== 'every' && opens.size === 0) throw tokenRefused('token_audience');
  return opens;
}

function clientOf(claims: TokenClaims): string {
  const name = CLIENT_CLAIMS.find((claim) => claims[claim] !== undefined);
  const client = name === undefined ? '' : claims[name];
  if (typeof client !== 'string' || client.length > MAX_NAME_CHARACTERS) throw tokenRefused('token_subject');
  return client;
}

/** Where nothing else is configured, `scp` is as good as `scope`: Entra ID and Okta write it so. */
function scopesOf(claims: TokenClaims, place: string): readonly string[] {
  return readScopes(claimAt(claims, place) ?? (place === 'scope' ? claims.scp : undefined));
}

function groupsOf(value: unknown): readonly string[] {
  const groups = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  return [...new Set(groups.filter((group) => typeof group === 'string' && group !== ''))];
}

function milliseconds(seconds: unknown): number {
  return Number(seconds) * 1_000;
}
