// What one caller may do at one server, by the rules that concern the caller. Pure: rules and principal in, decision
// out; the same for lists, calls and events.
import type { ConditionFacts, Verdict } from './condition.ts';
import type { Principal } from './principal.ts';
import type { Rule, StepUp } from './rules.ts';
import { hasScopes } from './scopes.ts';
import type {
  AccessDescription,
  CallFacts,
  DecidedBy,
  Decision,
  DescribedClause,
  NamedThing,
  ServerAccess,
} from './server-access.ts';
import {
  type AccessTarget,
  readTarget,
  readTemplate,
  TARGET_KINDS,
  type TargetKind,
  type TargetPattern,
} from './target-pattern.ts';

export interface Caller {
  readonly principal: Principal;
  /** Scopes, and those that they imply. */
  readonly scopes: ReadonlySet<string>;
  /** The rules that concern the caller. */
  readonly rules: readonly Rule[];
  readonly stepUps: readonly StepUp[];
  readonly heldScopes: readonly string[];
  /** Names the policy, the rules that concern the caller, and the scopes. */
  readonly rights: string;
}

/** A target of a rule, with the rule. */
interface Clause {
  readonly rule: Rule;
  readonly pattern: TargetPattern;
}

export class RuledAccess implements ServerAccess {
  readonly enforced = true;
  readonly whole: boolean;
  readonly rights: string;
  readonly heldScopes: readonly string[];
  readonly #server: string;
  readonly #caller: Caller;
  readonly #allows: readonly Clause[];
  readonly #denies: readonly Clause[];
  readonly #stepUps: readonly StepUp[];

  constructor(server: string, caller: Caller) {
    this.#server = server;
    this.#caller = caller;
    this.heldScopes = caller.heldScopes;
    const here = ({ pattern }: { pattern: TargetPattern }) => pattern.concerns(server);
    this.#allows = caller.rules.flatMap((rule) => clauses(rule, rule.allow)).filter(here);
    this.#denies = caller.rules.flatMap((rule) => clauses(rule, rule.deny)).filter(here);
    this.#stepUps = caller.stepUps.filter(here).filter(({ scopes }) => !this.#holds(scopes));
    this.whole =
      this.#denies.length === 0 &&
      this.#stepUps.length === 0 &&
      this.#allows.some(({ rule, pattern }) => rule.condition === undefined && pattern.kind === undefined);
    this.rights = caller.rights;
  }

  sees(kind?: TargetKind): boolean {
    const kinds = kind === undefined ? TARGET_KINDS : [kind];
    return kinds.some((each) => this.#allows.some(({ pattern }) => this.#leavesSomething(pattern, each)));
  }

  decide(kind: TargetKind, name: string, call?: CallFacts): Decision {
    const target = readTarget(kind, name);
    if (target === undefined) return { verdict: 'absent' };
    const refusing = this.#refusing(target);
    const certain = refusing.find(({ rule }) => rule.condition === undefined);
    if (certain !== undefined) return { verdict: 'absent', ...by(certain) };
    const granting = this.#allows.filter(
      ({ pattern }) => pattern.concerns(this.#server, kind) && pattern.grants(target),
    );
    const granted = granting.find(({ rule }) => rule.condition === undefined) ?? granting[0];
    if (granted === undefined) return { verdict: 'absent' };
    if (call === undefined) return { verdict: 'allowed', ...by(granted) };
    return this.#decideCall({ target, refusing, granting }, this.#facts(kind, name, call));
  }

  listsTemplate(template: string): boolean {
    const target = readTemplate(template);
    if (target === undefined) return false;
    const hidden = this.#denies.some(
      ({ rule, pattern }) =>
        rule.condition === undefined &&
        pattern.concerns(this.#server, 'resources') &&
        pattern.refusesAll(target),
    );
    if (hidden) return false;
    return this.#allows.some(
      ({ pattern }) => pattern.concerns(this.#server, 'resources') && pattern.couldGrant(target),
    );
  }

  describe(about?: NamedThing): AccessDescription {
    const target = about && readTarget(about.kind, about.name);
    if (about !== undefined && target === undefined) return { allows: [], denies: [], missing: [] };
    const isAbout = ({ pattern }: { pattern: TargetPattern }, meets: 'grants' | 'refuses') =>
      target === undefined || (pattern.concerns(this.#server, target.kind) && pattern[meets](target));
    return {
      allows: this.#allows.filter((clause) => isAbout(clause, 'grants')).map(described),
      denies: this.#denies.filter((clause) => isAbout(clause, 'refuses')).map(described),
      missing: this.#stepUps
        .filter((stepUp) => isAbout(stepUp, 'refuses'))
        .map(({ pattern, scopes }) => ({ target: pattern.text, scopes })),
    };
  }

  /** Conditions before scopes: nobody should ask for more scopes only to be refused. */
  #decideCall(
    {
      target,
      refusing,
      granting,
    }: { target: AccessTarget; refusing: readonly Clause[]; granting: readonly Clause[] },
    facts: ConditionFacts,
  ): Decision {
    const verdicts = new Map<Rule, Verdict>();
    const judge = (rule: Rule): Verdict => {
      const verdict = verdicts.get(rule) ?? rule.condition?.judge(facts) ?? 'yes';
      verdicts.set(rule, verdict);
      return verdict;
    };
    const refused = refusing.find(({ rule }) => judge(rule) !== 'no');
    if (refused !== undefined) {
      return { verdict: 'refused', failed: judge(refused.rule) === 'error', ...by(refused) };
    }
    const granted = granting.find(({ rule }) => judge(rule) === 'yes');
    if (granted === undefined) {
      const failed = granting.find(({ rule }) => judge(rule) === 'error');
      return { verdict: 'refused', failed: failed !== undefined, ...by(failed ?? granting[0]) };
    }
    const scopes = this.#missingScopesOf(target);
    if (scopes.length > 0) return { verdict: 'needs-scope', scopes, ...by(granted) };
    return { verdict: 'allowed', ...by(granted) };
  }

  /** All that the operation needs, where one of it is missing: one challenge has to be enough (F50). */
  #missingScopesOf(target: AccessTarget): readonly string[] {
    const isNeeded = ({ pattern }: StepUp) =>
      pattern.concerns(this.#server, target.kind) && pattern.refuses(target);
    if (!this.#stepUps.some(isNeeded)) return [];
    const all = this.#caller.stepUps.filter(({ pattern }) => pattern.concerns(this.#server)).filter(isNeeded);
    return [...new Set(all.flatMap(({ scopes }) => scopes))];
  }

  #refusing(target: AccessTarget): Clause[] {
    return this.#denies.filter(
      ({ pattern }) => pattern.concerns(this.#server, target.kind) && pattern.refuses(target),
    );
  }

  #leavesSomething(allow: TargetPattern, kind: TargetKind): boolean {
    if (!allow.concerns(this.#server, kind)) return false;
    return !this.#denies.some(
      ({ rule, pattern }) =>
        rule.condition === undefined && pattern.concerns(this.#server, kind) && pattern.outweighs(allow),
    );
  }

  #holds(scopes: readonly string[]): boolean {
    return hasScopes([...this.#caller.scopes], scopes);
  }

  #facts(kind: TargetKind, name: string, call: CallFacts): ConditionFacts {
    const { principal, scopes } = this.#caller;
    // Annotations are the operator's to give; a server that calls its own tools harmless proves nothing.
    return {
      principal,
      scopes,
      server: this.#server,
      kind,
      name,
      arguments: call.arguments,
      annotations: {},
    };
  }
}

function clauses(rule: Rule, patterns: readonly TargetPattern[]): Clause[] {
  return patterns.map((pattern) => ({ rule, pattern }));
}

function described({ rule, pattern }: Clause): DescribedClause {
  return { rule: rule.name, target: pattern.text, condition: rule.condition?.source };
}

function by(clause: Clause | undefined): DecidedBy {
  return clause === undefined ? {} : { rule: clause.rule.name, target: clause.pattern.text };
}
