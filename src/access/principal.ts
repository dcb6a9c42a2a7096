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
export function principalKey({ issuer, subject, clientId }: Principal): string {
  return JSON.stringify([issuer, subject, clientId]);
}
