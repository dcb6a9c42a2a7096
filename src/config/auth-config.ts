// `gateway.auth` as the rest of the code sees it: who may sign in.

export interface AuthConfig {
  readonly issuers: readonly IssuerConfig[];
  readonly apiKeys: readonly ApiKeyConfig[];
  readonly scopesSupported: readonly string[];
  /** What every token must have. */
  readonly requiredScopes: readonly string[];
}

export type SignatureAlgorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519';

export interface IssuerConfig {
  /** The exact `iss`. */
  readonly issuer: string;
  /** What servers know it by. */
  readonly name?: string | undefined;
  /** Accepted besides our own resource identifiers; they open every view. */
  readonly audiences: readonly string[];
  /** From the issuer's metadata when undefined. */
  readonly jwksUri: string | undefined;
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Where a token says what: names of claims, or dotted paths. */
  readonly claims: { readonly groups: string; readonly scopes: string };
  readonly introspection: IntrospectionConfig | undefined;
}

export interface IntrospectionConfig {
  readonly endpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface ApiKeyConfig {
  readonly name: string;
  /** Of the key, hex. */
  readonly sha256: string;
  readonly scopes: readonly string[];
  readonly groups: readonly string[];
}
