// Every `WWW-Authenticate` that Portico sends to clients is built here (RFC 6750, section 3; RFC 9728, section 5.1).
import type { ResourceIdentifiers } from './resource-identifiers.ts';

export type ChallengeKind = 'missing_token' | 'invalid_token' | 'insufficient_scope';

export interface ChallengeSource {
  readonly resources: ResourceIdentifiers;
  /** False without issuers: there is no metadata to point to. */
  readonly hasMetadata: boolean;
  /** What every token must have. */
  readonly requiredScopes: readonly string[];
}

export interface Challenge {
  readonly kind: ChallengeKind;
  /** The view addressed. */
  readonly view: string | undefined;
  /** What the operation needs besides, all of it at once: one challenge a scope would be one sign-in a scope. */
  readonly scopes?: readonly string[] | undefined;
}

export function bearerChallenge(source: ChallengeSource, { kind, view, scopes = [] }: Challenge): string {
  const parameters: string[] = [];
  if (source.hasMetadata) parameters.push(`resource_metadata="${source.resources.metadataUrlOf(view)}"`);
  const asked = askableScopes([...source.requiredScopes, ...scopes]);
  if (asked.length > 0) parameters.push(`scope="${asked.join(' ')}"`);
  if (kind !== 'missing_token') parameters.push(`error="${kind}"`);
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`;
}

/** Without `offline_access`: refresh tokens are the client's business, not a need of ours. */
export function askableScopes(scopes: readonly string[]): readonly string[] {
  return [...new Set(scopes)].filter((scope) => scope !== 'offline_access');
}
