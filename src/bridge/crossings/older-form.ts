// A form in the words of revisions before 2025-11-25, whose fields are single strings, numbers, booleans and enums.
// Several choices in one field become a yes or no for each, and one field again in the answer.
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json-text.ts';

export interface OlderForm {
  readonly params: JsonObject;
  /** What the client filled in, in the terms of the form as the server meant it. */
  contentFor(content: JsonObject): JsonObject;
}

interface Choice {
  readonly value: string;
  readonly title: string;
}

/** One field of several choices: the name of each choice's own field, and what it stands for. */
interface Spread {
  readonly name: string;
  readonly choices: ReadonlyMap<string, string>;
  readonly required: boolean;
}

const SINGLE_TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', undefined]);
/** As many as a person may be shown one by one. */
const MAX_CHOICES = 32;

/** Undefined where the form has a field that older revisions have no words for. */
export function olderForm(params: JsonObject): OlderForm | undefined {
  const schema = params.requestedSchema;
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return { params, contentFor: same };
  const properties: JsonObject = {};
  const spreads: Spread[] = [];
  const required = Array.isArray(schema.required) ? schema.required : undefined;
  for (const [name, property] of Object.entries(schema.properties)) {
    const choices = isJsonObject(property) ? choicesOf(property) : undefined;
    if (isJsonObject(property) && choices !== undefined) {
      const fields = fieldsOf(name, property, choices);
      if (fields.some(([field]) => Object.hasOwn(schema.properties as JsonObject, field))) return undefined;
      for (const [field, yesOrNo] of fields) properties[field] = yesOrNo;
      const values = fields.map(([field], index) => [field, choices[index]?.value ?? ''] as const);
      spreads.push({ name, choices: new Map(values), required: required?.includes(name) ?? false });
    } else if (isJsonObject(property) && !SINGLE_TYPES.has(property.type)) {
      return undefined;
    } else {
      properties[name] = singleEnum(property);
    }
  }
  const stillRequired = required?.filter((name) => !spreads.some((spread) => spread.name === name));
  const requestedSchema = {
    ...schema,
    properties,
    ...(stillRequired === undefined ? {} : { required: stillRequired }),
  };
  return {
    params: { ...params, requestedSchema },
    contentFor: spreads.length === 0 ? same : (content) => gathered(content, spreads),
  };
}

function same(content: JsonObject): JsonObject {
  return content;
}

/** The choices of a field that takes several; undefined for any other field, and for one of too many. */
function choicesOf({ type, items }: JsonObject): Choice[] | undefined {
  if (type !== 'array' || !isJsonObject(items)) return undefined;
  const titled = items.anyOf ?? items.oneOf;
  const choices = Array.isArray(items.enum)
    ? items.enum.map((value) => ({ value, title: value }))
    : Array.isArray(titled)
      ? titled.map((choice) =>
          isJsonObject(choice) ? { value: choice.const, title: choice.title ?? choice.const } : {},
        )
      : [];
  const known = choices.filter(isChoice);
  return known.length === choices.length && known.length > 0 && known.length <= MAX_CHOICES
    ? known
    : undefined;
}

function isChoice(choice: {
  value?: JsonValue | undefined;
  title?: JsonValue | undefined;
}): choice is Choice {
  return typeof choice.value === 'string' && typeof choice.title === 'string';
}

/** A yes or no for each choice, which says what it is part of. */
function fieldsOf(name: string, property: JsonObject, choices: readonly Choice[]): [string, JsonObject][] {
  const { title, description, minItems, maxItems } = property;
  const preset: unknown[] = Array.isArray(property.default) ? property.default : [];
  const bounds = [
    ...(typeof minItems === 'number' ? [`at least ${minItems}`] : []),
    ...(typeof maxItems === 'number' ? [`at most ${maxItems}`] : []),
  ];
  const words = [
    ...(typeof description === 'string' ? [description] : []),
    ...(bounds.length > 0 ? [`(${bounds.join(', ')})`] : []),
  ].join(' ');
  const heading = typeof title === 'string' ? title : name;
  return choices.map((choice, index) => [
    `${name}.${index + 1}`,
    {
      type: 'boolean',
      title: `${heading}: ${choice.title}`,
      ...(words === '' ? {} : { description: words }),
      ...(preset.includes(choice.value) ? { default: true } : {}),
    },
  ]);
}

/** Yes and no, back in the one field. Who said neither to anything left it out. */
function gathered(content: JsonObject, spreads: readonly Spread[]): JsonObject {
  const whole: JsonObject = { ...content };
  for (const { name, choices, required } of spreads) {
    const answered = [...choices.keys()].filter((field) => Object.hasOwn(content, field));
    for (const field of choices.keys()) delete whole[field];
    if (answered.length === 0 && !required) continue;
    whole[name] = [...choices].filter(([field]) => content[field] === true).map(([, value]) => value);
  }
  return whole;
}

/** Enums with titles were spelt `enum` and `enumNames`. */
function singleEnum(property: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(property) || !Array.isArray(property.oneOf)) return property;
  const { oneOf, ...rest } = property;
  const choices = oneOf.filter(isJsonObject);
  const values = choices.map((choice) => choice.const).filter((value) => value !== undefined);
  if (values.length !== oneOf.length) return property;
  return {
    ...rest,
    enum: values,
    enumNames: choices.map(({ title, const: value }) => title ?? String(value)),
  };
}
