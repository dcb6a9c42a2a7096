// Rules in few words, and what they decide.
import { ANONYMOUS, type Principal } from '../../../src/access/principal.ts';
import { createAccessPolicy } from '../../../src/access/rules/access-policy.ts';
import type { CallFacts, Decision, ServerAccess } from '../../../src/access/rules/server-access.ts';
import type { TargetKind } from '../../../src/access/rules/target-pattern.ts';
import type { AccessConfig, AccessRuleConfig, RuleAudience } from '../../../src/config/access-config.ts';

export const ALICE: Principal = {
  ...ANONYMOUS,
  issuer: 'https://idp.example.com',
  subject: 'alice',
  clientId: 'ide',
  scopes: ['mcp'],
  groups: ['eng', 'ops'],
};

export interface RuleText extends Partial<Omit<AccessRuleConfig, 'when'>> {
  readonly when?: Partial<RuleAudience>;
}

export function rule({ when = {}, ...rest }: RuleText, index = 0): AccessRuleConfig {
  const audience = { groups: [], scopes: [], subjects: [], clients: [], issuers: [], ...when };
  return { name: `rule${index}`, allow: [], deny: [], if: undefined, ...rest, when: audience };
}

export function accessOf(
  rules: readonly RuleText[],
  {
    principal = ALICE,
    server = 'gh',
    ...more
  }: { principal?: Principal; server?: string } & Partial<AccessConfig> = {},
): ServerAccess {
  const access = { scopes: {}, scopeImplies: {}, ...more, rules: rules.map(rule) };
  return createAccessPolicy({ hasAuth: true, access }).accessOf(principal, server);
}

export const NO_ARGUMENTS: CallFacts = { arguments: {} };

export function verdict(
  access: ServerAccess,
  name: string,
  call?: CallFacts,
  kind: TargetKind = 'tools',
): Decision['verdict'] {
  return access.decide(kind, name, call).verdict;
}
