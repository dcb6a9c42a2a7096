// The Protected Resource Metadata of a view (RFC 9728, section 2): how a client learns where to sign in.
import type { AuthConfig } from '../../config/auth-config.ts';
import { askableScopes } from './bearer-challenge.ts';
import type { ResourceIdentifiers } from './resource-identifiers.ts';

export interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported?: readonly string[];
  readonly bearer_methods_supported: readonly ['header'];
}

/** Undefined without issuers: a document must name at least one. */
export function resourceMetadata(
  auth: AuthConfig,
  resources: ResourceIdentifiers,
  view: string | undefined,
): ResourceMetadata | undefined {
  if (auth.issuers.length === 0) return undefined;
  const scopes = askableScopes([...auth.scopesSupported, ...auth.requiredScopes]);
  return {
    resource: resources.identifierOf(view),
    authorization_servers: auth.issuers.map(({ issuer }) => issuer),
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
  };
}
