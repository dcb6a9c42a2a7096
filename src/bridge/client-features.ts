// What a server may ask of callers (`client:` of its config): a denied feature is never declared to it.
import type { ClientFeaturePolicy } from '../config/config.ts';
import type { JsonObject } from '../protocol/json-text.ts';

/**
 * The capabilities to declare upstream: the client's own, less what the server's policy denies. A fixed list of roots
 * is answered by Portico, on links where a server can ask it: there it exists whether the client has roots or not.
 */
export function declaredCapabilities(
  capabilities: JsonObject,
  policy: ClientFeaturePolicy,
  { fixedRoots }: { fixedRoots: boolean },
): JsonObject {
  const { roots, sampling, elicitation, ...rest } = capabilities;
  const declared: JsonObject = rest;
  if (Array.isArray(policy.roots)) {
    if (fixedRoots) declared.roots = {};
  } else if (policy.roots === 'allow' && roots !== undefined) declared.roots = roots;
  if (policy.sampling === 'allow' && sampling !== undefined) declared.sampling = sampling;
  if (policy.elicitation === 'allow' && elicitation !== undefined) declared.elicitation = elicitation;
  return declared;
}
