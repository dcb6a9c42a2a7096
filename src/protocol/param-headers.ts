// `Mcp-Param-*`: tool arguments that a schema asks to be mirrored into headers (2026-07-28,
// basic/transports/streamable-http, "Custom Headers from Tool Parameters").
import { isJsonObject, type JsonObject, type JsonValue, rawNumber } from './json-text.ts';
import { decodeHeaderValue, encodeHeaderValue, PARAM_HEADER_PREFIX } from './request-headers.ts';

type Primitive = 'string' | 'integer' | 'boolean';

export interface ParamHeader {
  /** The whole header name, lower case. */
  readonly header: string;
  /** The chain of `properties` keys from the root of the arguments. */
  readonly path: readonly string[];
  readonly type: Primitive;
}

export type ParamHeaders =
  | { readonly headers: readonly ParamHeader[] }
  /** The definition breaks the rules: the tool is to be left out of lists over HTTP. */
  | { readonly invalid: string };

const ANNOTATION = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Beyond these a definition is refused rather than obeyed (F35). */
const MAX_HEADERS = 64;
const MAX_NAME_CHARS = 128;
const MAX_DEPTH = 16;
const MAX_SEARCH_DEPTH = 256;
const MAX_VALUE_CHARS = 8_192;

/** Keywords whose values are data, where the annotation's name means nothing. */
const DATA_KEYWORDS = new Set(['default', 'const', 'enum', 'examples', ANNOTATION]);
/** Keywords whose values are schemas by name; a name may well be the annotation's. */
const NAMED_SCHEMAS = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);
/** An integer as a header may spell it; other spellings that JavaScript takes for numbers are none. */
const INTEGER = /^-?\d+(?:\.0+)?$/;

/** Definitions live as long as their list does, so each schema is read once, not once a call. */
const KNOWN = new WeakMap<JsonObject, ParamHeaders>();

/** Reads the annotations of an `inputSchema`; one anywhere but on a statically reachable primitive is invalid. */
export function readParamHeaders(inputSchema: unknown): ParamHeaders {
  if (!isJsonObject(inputSchema)) return { headers: [] };
  let known = KNOWN.get(inputSchema);
  if (known === undefined) {
    known = readAnnotations(inputSchema);
    KNOWN.set(inputSchema, known);
  }
  return known;
}

function readAnnotations(inputSchema: JsonObject): ParamHeaders {
  const headers: ParamHeader[] = [];
  const problem = collect(inputSchema, [], headers);
  if (problem !== undefined) return { invalid: problem };
  if (headers.length > MAX_HEADERS) return { invalid: `more than ${MAX_HEADERS} ${ANNOTATION} annotations` };
  const names = new Set(headers.map(({ header }) => header));
  return names.size === headers.length ? { headers } : { invalid: `${ANNOTATION} names repeat` };
}

/**
 * Compares the declared headers with the arguments of the body.
 *
 * @param read the value of a request header by its lower-case name
 * @returns what differs, in one sentence, or undefined
 */
export function paramHeaderMismatch(
  declared: readonly ParamHeader[],
  args: JsonObject | undefined,
  read: (name: string) => string | undefined,
): string | undefined {
  for (const { header, path, type } of declared) {
    const value = valueAt(args, path);
    const text = textOf(value);
    const sent = read(header);
    if (sent === undefined) {
      // An argument that no header can carry is for the server's own validation to refuse.
      if (text === undefined) continue;
      return `The ${header} header is missing`;
    }
    if (value === undefined || value === null) return `${header} is sent, but the argument is not`;
    const decoded = sent.length > MAX_VALUE_CHARS ? undefined : decodeHeaderValue(sent);
    if (decoded === undefined) return `The ${header} header is malformed`;
    if (decoded !== text && !(type === 'integer' && isSameInteger(decoded, value))) {
      return `${header} differs from the argument in the body`;
    }
  }
  return undefined;
}

/** The headers for a call as it is about to be sent: lower-case name to encoded value. */
export function buildParamHeaders(
  declared: readonly ParamHeader[],
  args: JsonObject | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    const text = textOf(valueAt(args, path));
    if (text !== undefined) headers[header] = encodeHeaderValue(text);
  }
  return headers;
}

function collect(
  schema: JsonValue | undefined,
  path: readonly string[],
  headers: ParamHeader[],
): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (path.length > MAX_DEPTH) return isAnnotated(schema, 0) ? `${ANNOTATION} nested too deep` : undefined;
  if (ANNOTATION in schema) {
    const problem = addHeader(schema, path, headers);
    if (problem !== undefined) return problem;
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties' && isJsonObject(value)) {
      for (const [name, property] of Object.entries(value)) {
        const problem = collect(property, [...path, name], headers);
        if (problem !== undefined) return problem;
      }
    } else if (isAnnotatedUnder(keyword, value, 0)) {
      return `${ANNOTATION} under "${keyword}" is not statically reachable`;
    }
  }
  return undefined;
}

function addHeader(schema: JsonObject, path: readonly string[], headers: ParamHeader[]): string | undefined {
  const name = schema[ANNOTATION];
  if (path.length === 0) return `${ANNOTATION} on the root`;
  if (typeof name !== 'string' || !TOKEN.test(name) || name.length > MAX_NAME_CHARS) {
    return `${ANNOTATION} is not a header name`;
  }
  const { type } = schema;
  if (type !== 'string' && type !== 'integer' && type !== 'boolean') {
    return `${ANNOTATION} on a parameter that is no string, integer or boolean`;
  }
  headers.push({ header: PARAM_HEADER_PREFIX + name.toLowerCase(), path, type });
  return undefined;
}

/** @param value a schema, or an array of them */
function isAnnotated(value: JsonValue | undefined, depth: number): boolean {
  // Deeper than any schema is meant to be: taken for annotated, so refused rather than trusted.
  if (depth > MAX_SEARCH_DEPTH) return true;
  if (Array.isArray(value)) return value.some((item) => isAnnotated(item, depth + 1));
  if (!isJsonObject(value)) return false;
  return (
    ANNOTATION in value ||
    Object.entries(value).some(([keyword, member]) => isAnnotatedUnder(keyword, member, depth + 1))
  );
}

function isAnnotatedUnder(keyword: string, value: JsonValue | undefined, depth: number): boolean {
  if (DATA_KEYWORDS.has(keyword)) return false;
  return NAMED_SCHEMAS.has(keyword) && isJsonObject(value)
    ? Object.values(value).some((schema) => isAnnotated(schema, depth + 1))
    : isAnnotated(value, depth);
}

function valueAt(args: JsonObject | undefined, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Integers are compared as numbers: `42.0` and `42` are equal ("Server Validation"). */
function isSameInteger(sent: string, value: JsonValue): boolean {
  if (typeof value === 'string' || !INTEGER.test(sent)) return false;
  const number = Number(sent);
  // Beyond the safe range different integers are one double.
  return Number.isSafeInteger(number) && number === Number(textOf(value));
}

/** What a header says for a value; undefined where none is sent for it. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  const raw = rawNumber(value);
  // `42.0` and `4.2e1` are integers, and headers carry those in decimal ("Type conversion").
  return raw !== undefined && Number.isSafeInteger(Number(raw)) ? String(Number(raw)) : raw;
}
