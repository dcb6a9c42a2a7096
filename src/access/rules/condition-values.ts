// JSON as CEL sees it, bounded: callers choose how much they send, and a condition may go over all that it reads.
import type { CelInput, CelValue } from '@bufbuild/cel';
import { rawNumber } from '../../protocol/json-text.ts';
import { celLibrary } from './cel.ts';

const MAX_VALUES = 1_000;
const MAX_CHARACTERS = 16_384;
const MAX_INT = 2n ** 63n;

/** One for all that a condition reads at one call. */
export class ValueBudget {
  #values = MAX_VALUES;
  #characters = MAX_CHARACTERS;

  /** @throws RangeError where the condition would read too much */
  take(characters: number): void {
    this.#values -= 1;
    this.#characters -= characters;
    if (this.#values < 0 || this.#characters < 0)
      throw new RangeError('too much to be judged by a condition');
  }
}

/** Numbers become doubles, as in every JSON that CEL reads; whole ones beyond a double's digits become ints. */
export function toCelValue(value: unknown, budget: ValueBudget): CelInput {
  if (typeof value === 'string') {
    budget.take(value.length);
    return value;
  }
  budget.take(0);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  const raw = rawNumber(value);
  if (raw !== undefined) return numberOf(raw);
  if (Array.isArray(value)) return celLibrary().cel.celList(value.map((item) => toCelValue(item, budget)));
  if (typeof value === 'object') return toCelMap(Object.entries(value), budget);
  throw new TypeError(`${typeof value} is no JSON`);
}

export function toCelMap(entries: readonly (readonly [string, unknown])[], budget: ValueBudget): CelInput {
  const members = new Map<CelValue, CelInput>();
  for (const [key, value] of entries) {
    if (value === undefined) continue;
    budget.take(key.length);
    members.set(key, toCelValue(value, budget));
  }
  const map = celLibrary().cel.celMap(members as ReadonlyMap<string, CelInput>);
  // The library's own takes a member that is null for none, which would let a caller pass `has` and `in` by.
  return Object.assign(map, { has: (key: CelValue) => members.has(key) });
}

function numberOf(text: string): bigint | number {
  if (!/^-?\d+$/.test(text)) return Number(text);
  const whole = BigInt(text);
  return whole >= -MAX_INT && whole < MAX_INT ? whole : Number(text);
}
