// `auth` of a server as the rest of the code sees it: how Portico signs in there.

export type ServerAuthConfig =
  | { readonly type: 'bearer'; readonly token: string }
  | ClientCredentialsConfig
  | TokenExchangeConfig
  | IdentityAuthConfig;

/** Where tokens for a server are issued, and for what. */
export interface TokenEndpointConfig {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** How the secret is sent (RFC 6749, section 2.3.1). */
  readonly clientAuth: 'basic' | 'post';
  readonly scopes: readonly string[];
  /** RFC 8707. */
  readonly resource: string | undefined;
  /** RFC 8693, and the vendors that know no `resource`. */
  readonly audience: string | undefined;
}

export interface ClientCredentialsConfig extends TokenEndpointConfig {
  readonly type: 'client_credentials';
}

export interface TokenExchangeConfig extends TokenEndpointConfig {
  readonly type: 'token_exchange';
}

export interface IdentityAuthConfig {
  readonly type: 'identity';
  readonly audience: string;
}

/** `gateway.identity`: PEM or JWK texts. */
export interface IdentityConfig {
  /** The private key that signs. */
  readonly key: string;
  /** Published before they sign. */
  readonly next: readonly string[];
  /** Published for as long as what they signed may be around. */
  readonly previous: readonly string[];
}

/** What the subjects of API keys go by at servers. */
export const API_KEYS_NAME = 'api-keys';

/** Whether what the server sees depends on who calls, so that nobody may share a link with anybody else. */
export function isPersonalAuth(auth: { readonly type: ServerAuthConfig['type'] } | undefined): boolean {
  return auth?.type === 'token_exchange' || auth?.type === 'identity';
}
