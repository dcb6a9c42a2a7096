// Scopes of tokens: how they are written (RFC 6749, section 3.3), and which ones a broader one includes.

/** Scopes by the scope that implies them (`gateway.access.scopeImplies`). */
export type ScopeHierarchy = Readonly<Record<string, readonly string[]>>;

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export function isScope(text: string): boolean {
  return SCOPE.test(text);
}

/** One text with spaces, or a list: issuers do both. What is no scope is left out. */
export function readScopes(value: unknown): readonly string[] {
  const parts = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : [];
  return [...new Set(parts.filter((part) => typeof part === 'string' && isScope(part)))];
}

/** The scopes that are held together with all that they imply, however many steps away. */
export function withImpliedScopes(held: readonly string[], hierarchy: ScopeHierarchy): ReadonlySet<string> {
  const all = new Set(held);
  // A set grows under its own iteration, so this also visits what has just been added.
  for (const scope of all) {
    const implied = Object.hasOwn(hierarchy, scope) ? (hierarchy[scope] ?? []) : [];
    for (const narrower of implied) all.add(narrower);
  }
  return all;
}

/** Whether a token with these scopes may do what needs those. */
export function hasScopes(
  held: readonly string[],
  needed: readonly string[],
  hierarchy: ScopeHierarchy = {},
): boolean {
  if (needed.every((scope) => held.includes(scope))) return true;
  const all = withImpliedScopes(held, hierarchy);
  return needed.every((scope) => all.has(scope));
}
