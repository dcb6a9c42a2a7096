// JSON in and out without losing what a number said. JSON.parse turns 9007199254740993 into ...992; a gateway
// must hand on what it was given, so such numbers are kept as raw JSON and written back digit by digit.
import { randomBytes } from 'node:crypto';
import { scanJson } from './scan-json.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

/** JSON.stringify gives up at a few thousand levels; nothing that anybody means goes past a hundred. */
export const MAX_NESTING = 512;

interface RawJson {
  readonly rawJSON: string;
}
interface JsonWithRaw {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}
const jsonWithRaw = JSON as unknown as JsonWithRaw;

/** Starts the strings that stand in for fragile numbers while a text is parsed; nobody outside can know it. */
const STAND_IN = randomBytes(9).toString('base64');

/**
 * Parses one JSON text. A number whose text a double would not give back is kept as a raw-JSON object, which
 * {@link writeJson} writes verbatim; {@link rawNumber} tells such a value from an object.
 *
 * @throws SyntaxError when the text is not JSON
 * @throws RangeError when it nests deeper than {@link MAX_NESTING}: it could be read, but not written again
 */
export function readJson(text: string): unknown {
  const { fragile, tooDeep } = scanJson(text, MAX_NESTING);
  if (tooDeep) throw new RangeError(`The JSON text nests deeper than ${MAX_NESTING} levels`);
  const value: unknown = JSON.parse(text);
  // A reviver would do the same, several times slower: it is called for every value of the text.
  return fragile.length === 0 ? value : restoreNumbers(JSON.parse(withStandIns(text, fragile)) as JsonValue);
}

/** The text of a number that {@link readJson} kept raw, or undefined for every other value. */
export function rawNumber(value: unknown): string | undefined {
  return jsonWithRaw.isRawJSON(value) ? value.rawJSON : undefined;
}

export function writeJson(value: unknown): string {
  return JSON.stringify(value);
}

/** True for a JSON object: not null, not an array, not a raw number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !jsonWithRaw.isRawJSON(value)
  );
}

/** The text with each fragile number as a string. It is JSON already, so its numbers stand only where values do. */
function withStandIns(text: string, fragile: readonly number[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (let i = 0; i < fragile.length; i += 2) {
    const start = fragile[i] as number;
    const end = fragile[i + 1] as number;
    pieces.push(text.slice(from, start), STAND_IN + text.slice(start, end));
    from = end;
  }
  pieces.push(text.slice(from));
  return pieces.join('"');
}

function restoreNumbers(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'string') {
    // Typed as the number that it stands for, wherever it goes from here.
    return value.startsWith(STAND_IN)
      ? (jsonWithRaw.rawJSON(value.slice(STAND_IN.length)) as unknown as JsonValue)
      : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) value[i] = restoreNumbers(value[i]) as JsonValue;
  } else {
    for (const key of Object.keys(value)) value[key] = restoreNumbers(value[key]);
  }
  return value;
}
