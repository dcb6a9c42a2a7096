// JSON in and out without losing what a number said. JSON.parse turns 9007199254740993 into ...992; a gateway
// must hand on what it was given, so such numbers are kept as raw JSON and written back digit by digit.

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** Numbers that a double may not hold: sixteen digits or more, an exponent, or a fraction that prints otherwise. */
const FRAGILE_NUMBER =
  /(?:^|[\s:,[])-?(?:\d[\d.]{15,}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)|0(?=\s*[,}\]])(?<=-0))/;

interface RawJson {
  readonly rawJSON: string;
}
interface JsonWithSource {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
}
const jsonWithSource = JSON as unknown as JsonWithSource;

/**
 * Parses one JSON text. A number whose text a double would not give back is kept as a raw-JSON object, which
 * {@link writeJson} writes verbatim; {@link rawNumber} tells such a value from an object.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function readJson(text: string): unknown {
  if (!FRAGILE_NUMBER.test(text)) return JSON.parse(text);
  return jsonWithSource.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? jsonWithSource.rawJSON(source)
      : value,
  );
}

/** The text of a number that {@link readJson} kept raw, or undefined for every other value. */
export function rawNumber(value: unknown): string | undefined {
  return jsonWithSource.isRawJSON(value) ? value.rawJSON : undefined;
}

export function writeJson(value: unknown): string {
  return JSON.stringify(value);
}

/** True for a JSON object: not null, not an array, not a raw number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !jsonWithSource.isRawJSON(value)
  );
}
