// Access rules as they are applied: made once from the config, asked at every list and every call.
import type { AccessRuleConfig, RuleAudience, ScopesByName } from '../../config/access-config.ts';
import type { Principal } from '../principal.ts';
import { Condition } from './condition.ts';
import { parseTargetPattern, TargetPattern } from './target-pattern.ts';

export interface Rule {
  readonly name: string;
  readonly audience: RuleAudience;
  readonly allow: readonly TargetPattern[];
  readonly deny: readonly TargetPattern[];
  readonly condition: Condition | undefined;
}

/** Scopes that calls of some targets need besides what rules say. */
export interface StepUp {
  readonly pattern: TargetPattern;
  readonly scopes: readonly string[];
}

/** @throws Error where the config was not checked */
export function compileRule(rule: AccessRuleConfig): Rule {
  return {
    name: rule.name,
    audience: rule.when,
    allow: rule.allow.map(compileTarget),
    deny: rule.deny.map(compileTarget),
    condition: rule.if === undefined ? undefined : new Condition(rule.if),
  };
}

export function compileStepUps(scopes: ScopesByName): StepUp[] {
  return Object.entries(scopes).map(([target, needed]) => ({
    pattern: compileTarget(target),
    scopes: needed,
  }));
}

/** @param scopes those of the principal, and those that they imply */
export function concerns(
  { audience }: Rule,
  { groups, subject, clientId, issuer }: Principal,
  scopes: ReadonlySet<string>,
): boolean {
  return (
    meets(audience.groups, (group) => groups.includes(group)) &&
    meets(audience.scopes, (scope) => scopes.has(scope)) &&
    meets(audience.subjects, (wanted) => wanted === subject) &&
    meets(audience.clients, (client) => client === clientId) &&
    meets(audience.issuers, (wanted) => wanted === issuer)
  );
}

function meets(wanted: readonly string[], isHeld: (value: string) => boolean): boolean {
  return wanted.length === 0 || wanted.some(isHeld);
}

function compileTarget(text: string): TargetPattern {
  const pattern = parseTargetPattern(text);
  if (pattern instanceof TargetPattern) return pattern;
  throw new Error(`${text} is no target: ${pattern.message}`);
}
