// The `if` of a rule: a CEL expression, compiled once, judged at each call. What it reads is bounded, its regular
// expressions take linear time, and whatever goes wrong is told apart from yes and no.
import type { CelInput } from '@bufbuild/cel';
import type { RE2JS } from '@bufbuild/re2';
import type { JsonObject } from '../../protocol/json-text.ts';
import type { Principal } from '../principal.ts';
import { celLibrary } from './cel.ts';
import { type CheckedCondition, ConditionFault, checkCondition } from './condition-syntax.ts';
import { toCelMap, toCelValue, ValueBudget } from './condition-values.ts';
import type { TargetKind } from './target-pattern.ts';

export { ConditionFault };

/** What a condition can ask about. */
export interface ConditionFacts {
  readonly principal: Principal;
  /** Those that it has, and those that they imply. */
  readonly scopes: ReadonlySet<string>;
  readonly server: string;
  readonly kind: TargetKind;
  /** The tool's or prompt's name, or the URI. */
  readonly name: string;
  readonly arguments: JsonObject;
  /** Of the tool, as the operator has them: never the server's word. */
  readonly annotations: JsonObject;
}

export type Verdict = 'yes' | 'no' | 'error';

/** How much text all regular expressions of one judgement may read. */
const MAX_MATCHED_CHARACTERS = 65_536;

/** Each variable's members. `tool`, `prompt` and `resource` are there only where the call is about one. */
const VARIABLES: Readonly<Record<string, (facts: ConditionFacts) => Record<string, unknown> | undefined>> = {
  arguments: (facts) => facts.arguments,
  tool: ({ kind, name, annotations }) => (kind === 'tools' ? { name, annotations } : undefined),
  prompt: ({ kind, name }) => (kind === 'prompts' ? { name } : undefined),
  resource: ({ kind, name }) => (kind === 'resources' ? { uri: name } : undefined),
  principal: ({ principal, scopes }) => ({
    issuer: principal.issuer,
    subject: principal.subject,
    client: principal.clientId,
    groups: principal.groups,
    scopes: [...scopes],
    claims: principal.claims,
  }),
};
const SERVER = 'server';

export class Condition {
  readonly source: string;
  readonly #checked: CheckedCondition;
  readonly #judge: (bindings: Record<string, CelInput>) => unknown;
  /** Of the judgement at hand; none runs while another does. */
  #matchedCharacters = 0;

  /** @throws ConditionFault */
  constructor(source: string) {
    this.source = source;
    const { CelScalar, celEnv, celMethod, plan } = celLibrary().cel;
    const { BOOL, STRING } = CelScalar;
    const matches = matcher((text, pattern) => this.#matches(text, pattern));
    const env = celEnv({ funcs: [celMethod('matches', STRING, [STRING], BOOL, matches)] });
    this.#checked = checkCondition(source, env, [...Object.keys(VARIABLES), SERVER]);
    this.#judge = plan(env, this.#checked.expression);
  }

  /** Never throws. */
  judge(facts: ConditionFacts): Verdict {
    this.#matchedCharacters = 0;
    try {
      const verdict = this.#judge(this.#bindings(facts));
      if (typeof verdict !== 'boolean') return 'error';
      return verdict ? 'yes' : 'no';
    } catch {
      return 'error';
    }
  }

  #bindings(facts: ConditionFacts): Record<string, CelInput> {
    // Without a prototype, or a name such as `constructor` would be found there.
    const bindings: Record<string, CelInput> = Object.create(null);
    const budget = new ValueBudget();
    for (const [variable, read] of this.#checked.reads) {
      if (variable === SERVER) bindings[variable] = toCelValue(facts.server, budget);
      const members = VARIABLES[variable]?.(facts);
      if (members === undefined) continue;
      const wanted = Object.entries(members).filter(([member]) => read === 'all' || read.has(member));
      bindings[variable] = toCelMap(wanted, budget);
    }
    return bindings;
  }

  #matches(text: string, pattern: string): boolean {
    const compiled: RE2JS | undefined = this.#checked.patterns.get(pattern);
    this.#matchedCharacters += text.length;
    if (compiled === undefined || this.#matchedCharacters > MAX_MATCHED_CHARACTERS) {
      throw new RangeError('too much to be matched by a condition');
    }
    return compiled.test(text);
  }
}

/** CEL hands a method its target as `this`. */
function matcher(test: (text: string, pattern: string) => boolean) {
  return function (this: string, pattern: string): boolean {
    return test(String(this), pattern);
  };
}
