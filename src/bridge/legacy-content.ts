// Content that a legacy client's revision does not know yet, in a form that it does (BRIDGE.md, "Content follows the
// client's revision").
import { isAtLeast } from '../protocol/era.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../protocol/json-text.ts';

/** Each kind of content block, and the revision that brought it. */
const KNOWN_SINCE: Readonly<Record<string, string>> = {
  text: '2024-11-05',
  image: '2024-11-05',
  resource: '2024-11-05',
  audio: '2025-03-26',
  resource_link: '2025-06-18',
};
const TITLED_ENUMS_SINCE = '2025-11-25';

/** A result of `tools/call` or `prompts/get` in terms of the client's revision. */
export function legacyContent(method: string, result: JsonObject, version: string): JsonObject {
  if (method === 'tools/call' && Array.isArray(result.content)) {
    return { ...result, content: result.content.map((block) => legacyBlock(block, version)) };
  }
  if (method !== 'prompts/get' || !Array.isArray(result.messages)) return result;
  const messages = result.messages.map((message) =>
    isJsonObject(message) && message.content !== undefined
      ? { ...message, content: legacyBlock(message.content, version) }
      : message,
  );
  return { ...result, messages };
}

/** The params of an elicitation: enums with titles were spelt `enum` and `enumNames` before 2025-11-25. */
export function legacyElicitation(params: JsonObject | undefined, version: string): JsonObject | undefined {
  const schema = params?.requestedSchema;
  if (isAtLeast(version, TITLED_ENUMS_SINCE) || !isJsonObject(schema) || !isJsonObject(schema.properties))
    return params;
  const properties = Object.entries(schema.properties).map(([name, property]) => [
    name,
    legacyEnum(property),
  ]);
  return { ...params, requestedSchema: { ...schema, properties: Object.fromEntries(properties) } };
}

function legacyBlock(block: JsonValue, version: string): JsonValue {
  const kind = isJsonObject(block) && typeof block.type === 'string' ? block.type : '';
  const since = Object.hasOwn(KNOWN_SINCE, kind) ? KNOWN_SINCE[kind] : undefined;
  if (since !== undefined && isAtLeast(version, since)) return block;
  return { type: 'text', text: JSON.stringify(block) };
}

function legacyEnum(property: JsonValue | undefined): JsonValue | undefined {
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
