// What `gateway.access` says wrong, found before it decides anything: targets, conditions, names of servers.
import { type Fault, fault } from '../../config/fault.ts';
import { Ledger, type RuleFindings, type RuleInput } from '../../config/ledger.ts';
import type { ConfigFile } from '../../config/schema.ts';
import { slugOf } from '../../config/slug.ts';
import type { Path } from '../../config/source-tree.ts';
import { isScope } from '../scopes.ts';
import { Condition, ConditionFault } from './condition.ts';
import { kindDoubt, targetFault } from './target-fault.ts';

type AccessSection = NonNullable<ConfigFile['gateway']['access']>;
type RuleSection = AccessSection['rules'][number];

const ACCESS: Path = ['gateway', 'access'];
const AUTH: Path = ['gateway', 'auth'];

export function judgeAccess(input: RuleInput): RuleFindings {
  const ledger = new Ledger(input);
  const { auth, access } = input.file.gateway;
  const rules: Path = [...ACCESS, 'rules'];
  if (auth !== undefined && (access?.rules ?? []).length === 0)
    ledger.warn(NOBODY_MAY, AUTH, [ACCESS, rules]);
  if (access === undefined) return ledger;
  if (auth === undefined) ledger.warn(WITHOUT_SIGN_IN, ACCESS, [AUTH]);
  const servers = Object.keys(input.file.mcpServers).map(slugOf);
  const checkTarget = (target: string, at: Path, on: 'key' | 'value') => {
    ledger.refuse(targetFault(target, servers), at, { on, reads: [['mcpServers']] });
    ledger.warn(kindDoubt(target), at);
  };
  const names = access.rules.map(({ name }) => name);
  const issuers = (auth?.issuers.length ?? 0) + ((auth?.apiKeys.length ?? 0) > 0 ? 1 : 0);
  for (const [index, rule] of access.rules.entries()) {
    const at = (...steps: (string | number)[]): Path => [...rules, index, ...steps];
    if (names.indexOf(rule.name) < index) ledger.refuse(SAME_NAME, at('name'));
    for (const list of ['allow', 'deny'] as const) {
      for (const [place, target] of rule[list].entries()) checkTarget(target, at(list, place), 'value');
    }
    ledger.refuse(conditionFault(rule.if), at('if'));
    if (rule.allow.length + rule.deny.length === 0) ledger.warn(SAYS_NOTHING, at());
    if (issuers > 1 && namesWithoutIssuer(rule)) ledger.warn(WHOSE_NAME, at('when'));
  }
  for (const target of Object.keys(access.scopes)) checkTarget(target, [...ACCESS, 'scopes', target], 'key');
  for (const scope of Object.keys(access.scopeImplies)) {
    if (!isScope(scope)) ledger.refuse(NO_SCOPE, [...ACCESS, 'scopeImplies', scope], { on: 'key' });
  }
  return ledger;
}

const NOBODY_MAY: Fault = {
  message: 'nobody may use anything: gateway.access has no rule',
  hint: 'Add one; `{ name: everyone, allow: ["*"] }` grants everything to everyone who signs in.',
};

const WITHOUT_SIGN_IN: Fault = {
  message: 'without gateway.auth nobody is known, so everybody may use everything',
  hint: 'Set gateway.auth.',
};

const SAME_NAME: Fault = { message: 'a rule above has the same name', hint: 'Rename one.' };

const SAYS_NOTHING: Fault = {
  message: 'this rule neither allows nor denies anything',
  hint: 'Give it allow or deny.',
};

const WHOSE_NAME: Fault = {
  message: 'subjects and clients have their names from their issuer, and there are several',
  hint: 'Name the issuer in when.issuers too.',
};

const NO_SCOPE: Fault = { message: 'expected a scope, without spaces', hint: '' };

function conditionFault(source: string | undefined): Fault | undefined {
  if (source === undefined) return undefined;
  try {
    new Condition(source);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof ConditionFault) return fault(`this is no condition: ${thrown.message}`, '');
    throw thrown;
  }
}

function namesWithoutIssuer({ when }: RuleSection): boolean {
  if (when === undefined || when.issuers.length > 0) return false;
  return when.subjects.length + when.clients.length > 0;
}
