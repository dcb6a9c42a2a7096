// Who is calling. Sessions, isolation and sealed state bind to it; never to the bytes of a token.

export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string;
  /** As granted; what they imply is for the rules to say. */
  readonly scopes: readonly string[];
  readonly groups: readonly string[];
  /** Everything that the token, or its introspection, says. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** SHA-256 of the token, base64url: names it in caches without telling it. Undefined for the anonymous. */
  readonly tokenId: string | undefined;
  /** When the token ends, by `Date.now()`; undefined for what has no end of its own. */
  readonly expiresAtMs: number | undefined;
}

export const ANONYMOUS: Principal = {
  issuer: '',
  subject: 'anonymous',
  clientId: '',
  scopes: [],
  groups: [],
  claims: {},
  tokenId: undefined,
  expiresAtMs: undefined,
};

/** One text for one principal, unambiguous whatever the parts contain. A refreshed token changes nothing of it. */
export function principalKey(principal: Principal): string {
  // Asked several times a request, and the same object for as long as its token is remembered.
  const known = KEYS.get(principal);
  if (known !== undefined) return known;
  const { issuer, subject, clientId } = principal;
  const key = JSON.stringify([issuer, subject, clientId]);
  KEYS.set(principal, key);
  return key;
}

const KEYS = new WeakMap<Principal, string>();
