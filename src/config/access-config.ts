// `gateway.access` as the rest of the code sees it: who may do what.

export interface AccessConfig {
  readonly rules: readonly AccessRuleConfig[];
  /** By target: scopes that a call of it needs besides. */
  readonly scopes: ScopesByName;
  /** By scope: scopes that it includes. */
  readonly scopeImplies: ScopesByName;
}

export type ScopesByName = Readonly<Record<string, readonly string[]>>;

export interface AccessRuleConfig {
  readonly name: string;
  readonly when: RuleAudience;
  /** Targets granted, and targets refused whatever other rules grant. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** A CEL expression. */
  readonly if: string | undefined;
}

/** Whom a rule concerns: each list that has members must have one of the caller's. */
export interface RuleAudience {
  readonly groups: readonly string[];
  readonly scopes: readonly string[];
  readonly subjects: readonly string[];
  readonly clients: readonly string[];
  readonly issuers: readonly string[];
}

/** What there is without `gateway.access`: nothing is granted. */
export const NO_ACCESS: AccessConfig = { rules: [], scopes: {}, scopeImplies: {} };
