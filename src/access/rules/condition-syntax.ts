// What a condition may say, checked before any call is judged by it: CEL as it is parsed, without what could fail or
// run long at a call though it could be told at load.
import type { CelEnv, parse } from '@bufbuild/cel';
import type { RE2JS } from '@bufbuild/re2';
import { nearest } from '../../config/suggestion.ts';
import { celLibrary } from './cel.ts';

export type Expression = ReturnType<typeof parse>['expr'];

/** What a condition reads of a variable: these members of it, or all. */
export type ReadMembers = Set<string> | 'all';

export interface CheckedCondition {
  readonly expression: Expression;
  /** By variable; others need not be made. */
  readonly reads: ReadonlyMap<string, ReadMembers>;
  /** Its regular expressions, compiled. */
  readonly patterns: ReadonlyMap<string, RE2JS>;
}

const MAX_CHARACTERS = 1_000;
const MAX_PATTERN_CHARACTERS = 200;
/** Each goes over a whole list or map. */
const MAX_COMPREHENSIONS = 8;
const TYPE_NAMES = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'];
/** Functions to the parser, but no function that could be looked up. */
const OPERATORS = new Set(['_&&_', '_||_', '_?_:_', '_[_]', '@not_strictly_false']);

/** Something is wrong with the condition itself; the message says what. */
export class ConditionFault extends Error {}

/**
 * @param variables what a condition may name
 * @throws ConditionFault
 */
export function checkCondition(source: string, env: CelEnv, variables: readonly string[]): CheckedCondition {
  if (source.length > MAX_CHARACTERS) {
    throw new ConditionFault(`a condition has at most ${MAX_CHARACTERS} characters`);
  }
  const expression = parsed(source);
  const check = new Check(env, variables);
  check.visit(expression, new Set());
  return { expression, reads: check.reads, patterns: check.patterns };
}

function parsed(source: string): Expression {
  try {
    return celLibrary().cel.parse(source).expr;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    if (thrown instanceof RangeError) throw new ConditionFault('it nests too deeply');
    const [, line, column, problem] = /^<input>:(\d+):(\d+): (.*)$/s.exec(message) ?? [];
    const where = line === '1' ? `character ${column}` : `line ${line}, character ${column}`;
    throw new ConditionFault(problem === undefined ? message : `at ${where}: ${problem}`);
  }
}

class Check {
  readonly reads = new Map<string, ReadMembers>();
  readonly patterns = new Map<string, RE2JS>();
  readonly #env: CelEnv;
  readonly #variables: readonly string[];
  #comprehensions = 0;

  constructor(env: CelEnv, variables: readonly string[]) {
    this.#env = env;
    this.#variables = variables;
  }

  /** @param bound variables of the comprehension that it stands in */
  visit(expression: Expression | undefined, bound: ReadonlySet<string>): void {
    const { exprKind } = expression ?? {};
    if (exprKind?.case === 'identExpr') this.#name(exprKind.value.name, bound);
    if (exprKind?.case === 'selectExpr') this.#select(exprKind.value, bound);
    if (exprKind?.case === 'callExpr') this.#call(exprKind.value, bound);
    if (exprKind?.case === 'listExpr') this.#all(exprKind.value.elements, bound);
    if (exprKind?.case === 'structExpr') this.#struct(exprKind.value, bound);
    if (exprKind?.case === 'comprehensionExpr') this.#comprehension(exprKind.value, bound);
  }

  #all(expressions: readonly Expression[], bound: ReadonlySet<string>): void {
    for (const expression of expressions) this.visit(expression, bound);
  }

  #name(name: string, bound: ReadonlySet<string>): void {
    if (bound.has(name) || TYPE_NAMES.includes(name)) return;
    if (!this.#variables.includes(name)) {
      throw new ConditionFault(`there is no ${name} here${meant(name, this.#variables)}`);
    }
    this.reads.set(name, 'all');
  }

  #select({ operand, field }: SelectExpression, bound: ReadonlySet<string>): void {
    const variable = operand?.exprKind.case === 'identExpr' ? operand.exprKind.value.name : undefined;
    if (variable === undefined || bound.has(variable) || !this.#variables.includes(variable)) {
      this.visit(operand, bound);
      return;
    }
    const read = this.reads.get(variable) ?? new Set();
    if (read !== 'all') this.reads.set(variable, read.add(field));
  }

  #call({ target, function: name, args }: CallExpression, bound: ReadonlySet<string>): void {
    if (name === 'matches') this.#pattern(target === undefined ? undefined : args[0]);
    if (!OPERATORS.has(name) && this.#env.funcs.find(name) === undefined) {
      const known = [...this.#env.funcs].map((known) => known.name).filter((known) => /^\w+$/.test(known));
      throw new ConditionFault(`there is no function ${name}${meant(name, [...new Set(known)])}`);
    }
    this.visit(target, bound);
    this.#all(args, bound);
  }

  /** Known before any call, so that none can bring one of its own, and each is compiled once. */
  #pattern(pattern: Expression | undefined): void {
    const constant = pattern?.exprKind.case === 'constExpr' ? pattern.exprKind.value.constantKind : undefined;
    if (constant?.case !== 'stringValue') {
      throw new ConditionFault('matches takes one pattern, as a text in quotes: x.matches("^a")');
    }
    const text = constant.value;
    if (text.length > MAX_PATTERN_CHARACTERS) {
      throw new ConditionFault(`a regular expression has at most ${MAX_PATTERN_CHARACTERS} characters`);
    }
    try {
      this.patterns.set(text, celLibrary().re2.RE2JS.compile(text));
    } catch (thrown) {
      throw new ConditionFault(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }

  #struct({ messageName, entries }: StructExpression, bound: ReadonlySet<string>): void {
    if (messageName !== '') throw new ConditionFault(`there is no type ${messageName} here`);
    for (const { keyKind, value } of entries) {
      if (keyKind.case === 'mapKey') this.visit(keyKind.value, bound);
      this.visit(value, bound);
    }
  }

  /** One within another would take as long as their lengths multiplied, and callers choose the lengths. */
  #comprehension(comprehension: ComprehensionExpression, bound: ReadonlySet<string>): void {
    const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopCondition, loopStep, result } =
      comprehension;
    if (bound.size > 0)
      throw new ConditionFault('all, exists, map and filter may not stand within each other');
    this.#comprehensions += 1;
    if (this.#comprehensions > MAX_COMPREHENSIONS) {
      throw new ConditionFault(`at most ${MAX_COMPREHENSIONS} of all, exists, map and filter`);
    }
    this.visit(iterRange, bound);
    this.visit(accuInit, bound);
    const within = new Set([iterVar, iterVar2, accuVar].filter((name) => name !== ''));
    for (const part of [loopCondition, loopStep, result]) this.visit(part, within);
  }
}

type Kind<Case> = Extract<Expression['exprKind'], { case: Case }>;
type SelectExpression = Kind<'selectExpr'>['value'];
type CallExpression = Kind<'callExpr'>['value'];
type StructExpression = Kind<'structExpr'>['value'];
type ComprehensionExpression = Kind<'comprehensionExpr'>['value'];

function meant(word: string, known: readonly string[]): string {
  const close = nearest(word, known);
  return close === undefined ? '' : `; did you mean ${close}?`;
}
