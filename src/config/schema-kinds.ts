// The kinds of value that a configuration holds, each a JSON Schema that editors, `portico check` and the reference
// in docs/configuration.md read alike. Keys with a default are optional in the file and always present afterwards.
import { type Static, type TArray, type TEnum, type TObject, type TSchema, Type } from './schema-type.ts';

export interface KeyNotes {
  /** Effect, then danger; the default is added from `default`. */
  readonly description: string;
}

/** Marks a duration: no longer than Node's timers can wait. */
export const DURATION = 'x-portico-duration';
/** Marks text that a number or a truth value may stand for, by its spelling. */
export const SPELLING = 'x-portico-spelling';
/** Marks free text that may hold a credential: what a placeholder puts there is kept out of every log. */
export const SECRET = 'x-portico-secret';

const DURATION_WORDS = 'a duration such as 250ms, 30s, 5m or 1h';
const BYTE_SIZE_WORDS = 'a size such as 512kb, 4mb or 1gb';

export function duration(notes: KeyNotes & { default: string; zero?: boolean }) {
  const amount = String.raw`\d+(\.\d+)?(ms|s|m|h)$`;
  const pattern = notes.zero ? `^${amount}` : `^(?=.*[1-9])${amount}`;
  const words = notes.zero ? DURATION_WORDS : `${DURATION_WORDS}, above zero`;
  return Type.String({ ...described(notes), pattern, patternErrorMessage: words, [DURATION]: true });
}

export function byteSize(notes: KeyNotes & { default: string; zero?: boolean }) {
  const amount = String.raw`\d+(\.\d+)?([bB]|[kmgKMG][bB])$`;
  const pattern = notes.zero ? `^${amount}` : `^(?=.*[1-9])${amount}`;
  const words = notes.zero ? BYTE_SIZE_WORDS : `${BYTE_SIZE_WORDS}, above zero`;
  return Type.String({ ...described(notes), pattern, patternErrorMessage: words });
}

export function integer(notes: KeyNotes & { default?: number; minimum: number; maximum?: number }) {
  const { minimum, maximum } = notes;
  return Type.Integer({ ...described(notes), minimum, ...(maximum === undefined ? {} : { maximum }) });
}

export function flag(notes: KeyNotes & { default: boolean }) {
  return Type.Boolean(described(notes));
}

export interface TextNotes extends KeyNotes {
  readonly default?: string;
  /** With `words`, which complete "expected ...". */
  readonly pattern?: string;
  readonly words?: string;
  readonly secret?: true;
}

export function text(notes: TextNotes) {
  return Type.String({
    ...described(notes),
    ...(notes.pattern === undefined ? { minLength: 1 } : { pattern: notes.pattern }),
    ...(notes.words === undefined ? {} : { patternErrorMessage: notes.words }),
    ...(notes.secret ? { [SECRET]: true } : {}),
  });
}

/** RFC 6749, section 3.3. */
export function scopeName() {
  const pattern = '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$';
  return text({ description: 'A scope.', pattern, words: 'a scope, without spaces' });
}

/** An argument, a variable, a header: anything, a credential among it. */
export function freeText() {
  return Type.String({ [SECRET]: true, [SPELLING]: true });
}

export function choice<const Choices extends string[]>(
  choices: readonly [...Choices],
  notes: KeyNotes & { default?: Choices[number] },
): TEnum<Choices> {
  return Type.Enum(choices, described(notes));
}

export function list<Item extends TSchema>(
  item: Item,
  notes: KeyNotes & { default?: Static<Item>[]; minItems?: number },
): TArray<Item> {
  return Type.Array(item, {
    ...described(notes),
    ...(notes.minItems === undefined ? {} : { minItems: notes.minItems }),
  });
}

/** Any names, values of one kind. */
export function map<Value extends TSchema>(
  value: Value,
  notes: KeyNotes & { default?: Record<string, never> },
) {
  return Type.Map(value, described(notes));
}

/** A fixed set of keys; those that have a default, or are `Type.Optional`, may be left out. */
export function section<Keys extends Record<string, TSchema>>(
  keys: Keys,
  notes: KeyNotes & { optional?: true; default?: Static<TObject<Keys>> },
): TObject<Keys> {
  return Type.Object(keys, described(notes));
}

/** A section that is there even where the file leaves it out, made of its keys' defaults. */
export function standingSection<Keys extends Record<string, TSchema>>(
  keys: Keys,
  notes: KeyNotes,
): TObject<Keys> {
  return Object.assign(section(keys, notes), { default: {} });
}

function described(notes: KeyNotes & { default?: unknown }): { description: string; default?: unknown } {
  if (notes.default === undefined) return { description: notes.description };
  const shown = typeof notes.default === 'string' ? notes.default : JSON.stringify(notes.default);
  return { description: `${notes.description} Default: ${shown}.`, default: notes.default };
}
