// JSON in and out without losing what a number said. JSON.parse turns 9007199254740993 into ...992; a gateway
// must hand on what it was given, so such numbers are kept as raw JSON and written back digit by digit.
import { buildJson } from './build-json.ts';
import { LongText } from './long-text.ts';
import { type JsonScan, scanJson } from './scan-json.ts';

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

/**
 * Parses one JSON text. A number whose text a double would not give back is kept as a raw-JSON object, which
 * {@link writeJson} writes verbatim; {@link rawNumber} tells such a value from an object.
 *
 * @throws SyntaxError when the text is not JSON
 * @throws RangeError when it nests deeper than {@link MAX_NESTING}: it could be read, but not written again
 */
export function readJson(text: string): unknown {
  return readScannedJson(text).value;
}

/**
 * The same, with what has been found out about the text meanwhile.
 *
 * @param leftOut by index in the text, what a fragile number there stands for
 */
export function readScannedJson(
  text: string,
  leftOut?: ReadonlyMap<number, LongText>,
): { readonly value: unknown; readonly scan: JsonScan } {
  const scan = scanJson(text, MAX_NESTING);
  if (scan.tooDeep) throw new RangeError(`The JSON text nests deeper than ${MAX_NESTING} levels`);
  const value: unknown = JSON.parse(text);
  const { fragile } = scan;
  // A reviver would do the same, several times slower: it is called for every value of the text.
  if (fragile.length === 0) return { value, scan };
  const rawNumber = rawNumbers();
  return {
    value: buildJson(text, fragile, (source, start) => leftOut?.get(start) ?? rawNumber(source)),
    scan,
  };
}

/** The text of a number that {@link readJson} kept raw, or undefined for every other value. */
export function rawNumber(value: unknown): string | undefined {
  return jsonWithRaw.isRawJSON(value) ? value.rawJSON : undefined;
}

export function writeJson(value: unknown): string {
  return JSON.stringify(value);
}

/** True for a JSON object: not null, not an array, neither a raw number nor a text that has not been read. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !jsonWithRaw.isRawJSON(value) &&
    !(value instanceof LongText)
  );
}

/** Raw numbers are frozen, so one may stand in many places; a text that holds many holds the same ones over and over. */
function rawNumbers(): (source: string) => RawJson {
  const recent: { readonly source: string; readonly raw: RawJson }[] = [];
  return (source) => {
    const { length } = source;
    const hash =
      source.charCodeAt(0) + 31 * source.charCodeAt(length >> 1) + 7 * source.charCodeAt(length - 3);
    const slot = (hash + length) & (RECENT_NUMBERS - 1);
    const known = recent[slot];
    if (known?.source === source) return known.raw;
    const raw = jsonWithRaw.rawJSON(source);
    recent[slot] = { source, raw };
    return raw;
  };
}

const RECENT_NUMBERS = 256;
