// What one caller may do at one server, by the rules that concern the caller. Pure: rules and principal in, decision
// out; the same for lists, calls and events.
import type { JsonObject } from '../../protocol/json-text.ts';
import type { Principal } from '../principal.ts';
import type { ConditionFacts, Verdict } from './condition.ts';
import type { Rule, StepUp } from './rules.ts';
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

/** What callers with the same rights have in common. */
export interface Rights {
  /** Names the policy, the rules that concern the caller, and the scopes. */
  readonly name: string;
  /** Scopes, and those that they imply. */
  readonly scopes: ReadonlySet<string>;
  /** The rules that concern the caller. */
  readonly rules: readonly Rule[];
  readonly stepUps: readonly StepUp[];
  /** What they come to at each server, as far as it has been asked for. */
  readonly clauses: Map<string, ServerClauses>;
}

export interface Caller {
  readonly principal: Principal;
  readonly rights: Rights;
  readonly heldScopes: readonly string[];
}

/** A target of a rule, with the rule. */
interface Clause {
  readonly rule: Rule;
  readonly pattern: TargetPattern;
}

/** The clauses that concern one thing. */
interface Matched {
  readonly target: AccessTarget;
  readonly refusing: readonly Clause[];
  readonly granting: readonly Clause[];
  /** Of the refusing ones, one that needs no call to know. */
  readonly hiding: Clause | undefined;
  /** Of the granting ones, the one that asks for least. */
  readonly granted: Clause | undefined;
  /** Of every call, whatever its arguments: the clauses have no condition, and ask for no scope that is missing. */
  readonly always: Decision | undefined;
}

const MAX_KNOWN = 16;
const MAX_KNOWN_NAME = 128;

/** What rules say of one kind of thing at one server. */
interface Clauses {
  readonly allows: readonly Clause[];
  readonly denies: readonly Clause[];
  readonly stepUps: readonly StepUp[];
  /** Those that the caller lacks scopes for. */
  readonly missing: readonly StepUp[];
}

interface ServerClauses {
  readonly all: Clauses;
  readonly byKind: Readonly<Record<TargetKind, Clauses>>;
}

export class RuledAccess implements ServerAccess {
  readonly enforced = true;
  readonly whole: boolean;
  readonly rights: string;
  readonly heldScopes: readonly string[];
  readonly #server: string;
  readonly #caller: Caller;
  readonly #annotationsOf: (tool: string) => JsonObject;
  readonly #all: Clauses;
  readonly #byKind: Readonly<Record<TargetKind, Clauses>>;
  /** Which clauses match what is called over and over; bounded, since callers choose the names. */
  #called: Map<string, Matched> | undefined;

  /** @param annotationsOf annotations of a tool as the operator has them */
  constructor(server: string, caller: Caller, annotationsOf: (tool: string) => JsonObject) {
    this.#server = server;
    this.#caller = caller;
    this.#annotationsOf = annotationsOf;
    this.rights = caller.rights.name;
    this.heldScopes = caller.heldScopes;
    const { all, byKind } = serverClauses(caller.rights, server);
    this.#all = all;
    this.#byKind = byKind;
    const { allows, denies, missing } = all;
    this.whole =
      denies.length === 0 &&
      missing.length === 0 &&
      allows.some(({ rule, pattern }) => rule.condition === undefined && pattern.kind === undefined);
  }

  sees(kind?: TargetKind): boolean {
    const kinds = kind === undefined ? TARGET_KINDS : [kind];
    return kinds.some((each) => {
      const { allows, denies } = this.#byKind[each];
      return allows.some(
        (allow) => !denies.some((deny) => hides(deny) && deny.pattern.outweighs(allow.pattern)),
      );
    });
  }

  decide(kind: TargetKind, name: string, call?: CallFacts): Decision {
    const matched = call === undefined ? this.#match(kind, name) : this.#matchOfCall(kind, name);
    if (matched === undefined) return { verdict: 'absent' };
    const { hiding, granted } = matched;
    if (hiding !== undefined) return { verdict: 'absent', ...by(hiding) };
    if (granted === undefined) return { verdict: 'absent' };
    if (call === undefined) return { verdict: 'allowed', ...by(granted) };
    if (matched.always !== undefined) return matched.always;
    return this.#decideCall(matched, this.#facts(kind, name, call));
  }

  /** Lists ask about each name once, calls about the same few. */
  #matchOfCall(kind: TargetKind, name: string): Matched | undefined {
    const called = this.#called ?? new Map<string, Matched>();
    const key = `${kind} ${name}`;
    const known = called.get(key);
    if (known !== undefined) return known;
    const matched = this.#match(kind, name);
    if (matched === undefined || name.length > MAX_KNOWN_NAME) return matched;
    if (called.size >= MAX_KNOWN) called.clear();
    called.set(key, matched);
    this.#called = called;
    return matched;
  }

  /** Undefined for what is no target. */
  #match(kind: TargetKind, name: string): Matched | undefined {
    const target = readTarget(kind, name);
    if (target === undefined) return undefined;
    const { allows, denies } = this.#byKind[kind];
    const refusing = denies.filter(({ pattern }) => pattern.refuses(target));
    const granting = allows.filter(({ pattern }) => pattern.grants(target));
    const granted = granting.find(({ rule }) => rule.condition === undefined) ?? granting[0];
    // A clause with a condition before it could grant first, and be the one that is named.
    const isSettled =
      refusing.length === 0 &&
      granted !== undefined &&
      granted === granting[0] &&
      granted.rule.condition === undefined &&
      this.#missingScopesOf(target).length === 0;
    return {
      target,
      refusing,
      granting,
      hiding: refusing.find(hides),
      granted,
      always: isSettled ? { verdict: 'allowed', ...by(granted) } : undefined,
    };
  }

  listsTemplate(template: string): boolean {
    const target = readTemplate(template);
    if (target === undefined) return false;
    const { allows, denies } = this.#byKind.resources;
    if (denies.some((deny) => hides(deny) && deny.pattern.refusesAll(target))) return false;
    return allows.some(({ pattern }) => pattern.couldGrant(target));
  }

  describe(about?: NamedThing): AccessDescription {
    if (about === undefined) return description(this.#all);
    const { allows, denies, missing } = this.#byKind[about.kind];
    const target = readTarget(about.kind, about.name);
    return description({
      allows: allows.filter(({ pattern }) => target !== undefined && pattern.grants(target)),
      denies: denies.filter(({ pattern }) => target !== undefined && pattern.refuses(target)),
      missing: missing.filter(({ pattern }) => target !== undefined && pattern.refuses(target)),
    });
  }

  /** Conditions before scopes: nobody should ask for more scopes only to be refused. */
  #decideCall({ target, refusing, granting }: Matched, facts: ConditionFacts): Decision {
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
    const { stepUps, missing } = this.#byKind[target.kind];
    const isNeeded = ({ pattern }: StepUp) => pattern.refuses(target);
    if (!missing.some(isNeeded)) return [];
    return [...new Set(stepUps.filter(isNeeded).flatMap(({ scopes }) => scopes))];
  }

  #facts(kind: TargetKind, name: string, call: CallFacts): ConditionFacts {
    const { principal, rights } = this.#caller;
    return {
      principal,
      scopes: rights.scopes,
      server: this.#server,
      kind,
      name,
      arguments: call.arguments,
      // The operator's to give; a server that calls its own tools harmless proves nothing.
      annotations: kind === 'tools' ? this.#annotationsOf(name) : {},
    };
  }
}

/** The same for all with these rights: callers are many, and so are servers. */
function serverClauses(rights: Rights, server: string): ServerClauses {
  const known = rights.clauses.get(server);
  if (known !== undefined) return known;
  const clauses = {
    all: clausesOf(rights, server),
    byKind: {
      tools: clausesOf(rights, server, 'tools'),
      prompts: clausesOf(rights, server, 'prompts'),
      resources: clausesOf(rights, server, 'resources'),
    },
  };
  rights.clauses.set(server, clauses);
  return clauses;
}

function clausesOf(rights: Rights, server: string, kind?: TargetKind): Clauses {
  const here = ({ pattern }: { readonly pattern: TargetPattern }) => pattern.concerns(server, kind);
  const clauses = (list: 'allow' | 'deny') =>
    rights.rules.flatMap((rule) => rule[list].map((pattern) => ({ rule, pattern }))).filter(here);
  const stepUps = rights.stepUps.filter(here);
  const missing = stepUps.filter(({ scopes }) => !scopes.every((scope) => rights.scopes.has(scope)));
  return { allows: clauses('allow'), denies: clauses('deny'), stepUps, missing };
}

/** Whether it refuses by itself: with a condition it takes a call to know. */
function hides({ rule }: Clause): boolean {
  return rule.condition === undefined;
}

function description({ allows, denies, missing }: Omit<Clauses, 'stepUps'>): AccessDescription {
  return {
    allows: allows.map(described),
    denies: denies.map(described),
    missing: missing.map(({ pattern, scopes }) => ({ target: pattern.text, scopes })),
  };
}

function described({ rule, pattern }: Clause): DescribedClause {
  return { rule: rule.name, target: pattern.text, condition: rule.condition?.source };
}

function by(clause: Clause | undefined): DecidedBy {
  return clause === undefined ? {} : { rule: clause.rule.name, target: clause.pattern.text };
}
