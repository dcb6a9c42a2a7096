// JSON Schemas as values that have a type, which is TypeBox's. Of that library only the types are used: its 370 files
// took a sixth of the time to start, for what these few lines do.
import type {
  Static,
  TArray,
  TBoolean,
  TEnum,
  TInteger,
  TLiteral,
  TObject,
  TOptional,
  TSchema,
  TString,
  TUnion,
  TUnsafe,
} from 'typebox';

export type { Static, TArray, TEnum, TObject, TSchema };

type Keywords = Readonly<Record<string, unknown>>;

const OPTIONAL = new WeakSet<TSchema>();

export const Type = {
  String: (keywords: Keywords) => ({ type: 'string', ...keywords }) as TString,
  Integer: (keywords: Keywords) => ({ type: 'integer', ...keywords }) as TInteger,
  Boolean: (keywords: Keywords) => ({ type: 'boolean', ...keywords }) as TBoolean,
  Literal: <Value extends string | boolean>(value: Value, keywords: Keywords) =>
    ({ type: typeof value, const: value, ...keywords }) as unknown as TLiteral<Value>,
  Enum: <const Values extends string[]>(values: readonly [...Values], keywords: Keywords) =>
    ({ type: 'string', enum: values, ...keywords }) as unknown as TEnum<Values>,
  Array: <Item extends TSchema>(items: Item, keywords: Keywords) =>
    ({ type: 'array', items, ...keywords }) as unknown as TArray<Item>,
  Union: <Schemas extends TSchema[]>(anyOf: [...Schemas], keywords: Keywords) =>
    ({ anyOf, ...keywords }) as unknown as TUnion<Schemas>,
  /** Any names, values of one kind. */
  Map: <Value extends TSchema>(additionalProperties: Value, keywords: Keywords) =>
    ({ type: 'object', ...keywords, additionalProperties }) as unknown as TUnsafe<
      Record<string, Static<Value>>
    >,
  /** A fixed set of keys; those that have a default, or are {@link Type.Optional}, may be left out. */
  Object<Keys extends Record<string, TSchema>>(properties: Keys, keywords: Keywords): TObject<Keys> {
    const required = Object.entries<TSchema>(properties)
      .filter(([, schema]) => !OPTIONAL.has(schema) && !Object.hasOwn(schema, 'default'))
      .map(([key]) => key);
    const schema = { type: 'object', required, properties, ...keywords, additionalProperties: false };
    return schema as unknown as TObject<Keys>;
  },
  Optional<Schema extends TSchema>(schema: Schema): TOptional<Schema> {
    const optional = { ...schema };
    OPTIONAL.add(optional);
    return optional as unknown as TOptional<Schema>;
  },
};
