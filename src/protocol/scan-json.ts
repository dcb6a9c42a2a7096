// One pass over a JSON text that looks for what JSON.parse does not tell: how deep it nests, and which of its numbers
// a double would give back otherwise. It hops over strings, so a payload in base64 costs next to nothing.

export interface JsonScan {
  /** Start and end of each fragile number in turn, in order of the text. */
  readonly fragile: readonly number[];
  readonly tooDeep: boolean;
  /** Indexes of the colon and of the end of each top-level member in turn, where the text is an object. */
  readonly members: readonly number[];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const LOWER_E = 0x65;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COLON = 0x3a;
const COMMA = 0x2c;

/** A double holds any fifteen digits; with the point, sixteen characters. */
const MAX_SAFE_CHARS = 15;
const NOTHING: readonly number[] = [];

/** Linear in the text, whether or not that is JSON: what is wrong with it is JSON.parse's to say. */
export function scanJson(text: string, maxNesting: number): JsonScan {
  let fragile: number[] | undefined;
  const members: number[] = [];
  let isObject = false;
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at);
    } else if (isDigit(char) || char === MINUS) {
      const start = at;
      at = endOfNumber(text, at);
      if (isFragile(text, start, at)) {
        fragile ??= [];
        fragile.push(start, at);
      }
    } else {
      if (char === OPEN_BRACE || char === OPEN_BRACKET) {
        isObject ||= depth === 0 && char === OPEN_BRACE;
        depth += 1;
      } else if (isObject && depth === 1 && (char === COLON || char === COMMA || char === CLOSE_BRACE)) {
        members.push(at);
      }
      if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth -= 1;
      if (depth > maxNesting) return { fragile: NOTHING, tooDeep: true, members: NOTHING };
      at += 1;
    }
  }
  return { fragile: fragile ?? NOTHING, tooDeep: false, members };
}

/** Where the value of the last top-level member of that name begins and ends; undefined where there is none. */
export function spanOfMember(
  text: string,
  { members }: Pick<JsonScan, 'members'>,
  name: string,
): readonly [start: number, end: number] | undefined {
  let found: readonly [number, number] | undefined;
  let keyAt = text.indexOf('{') + 1;
  for (let index = 0; index + 1 < members.length; index += 2) {
    const colon = members[index] as number;
    const end = members[index + 1] as number;
    if (JSON.parse(text.slice(keyAt, colon)) === name) found = [colon + 1, end];
    keyAt = end + 1;
  }
  return found;
}

/** The index after the quote that closes the string at `start`, or the text's end. */
export function endOfString(text: string, start: number): number {
  let quote = start;
  do {
    quote = text.indexOf('"', quote + 1);
    if (quote === -1) return text.length;
  } while (isEscaped(text, quote));
  return quote + 1;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

export function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (isNumberChar(text.charCodeAt(at))) at += 1;
  return at;
}

/** Asks the double itself, but only about numbers that could be printed otherwise. */
function isFragile(text: string, start: number, end: number): boolean {
  if (!isSuspect(text, start, end)) return false;
  if (isNeverPrinted(text, start, end)) return true;
  const source = text.slice(start, end);
  return String(Number(source)) !== source;
}

/** No double is printed with a zero at its fraction's end, nor with `1e9` for `1e+9`: a text may hold a million of those. */
function isNeverPrinted(text: string, start: number, end: number): boolean {
  const endsInZero = text.charCodeAt(end - 1) === ZERO;
  for (let at = end - 2; at > start; at -= 1) {
    const char = text.charCodeAt(at);
    if (char === POINT) return endsInZero;
    if (char === UPPER_E || (char === LOWER_E && isDigit(text.charCodeAt(at + 1)))) return true;
    if (!isDigit(char)) return false;
  }
  return false;
}

/** Long numbers, exponents, `-0`, zeros at a fraction's end, and fractions small enough to be printed as `1e-7`. */
function isSuspect(text: string, start: number, end: number): boolean {
  if (end - start > MAX_SAFE_CHARS) return true;
  const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
  const startsWithZero = text.charCodeAt(first) === ZERO;
  if (startsWithZero && first > start) return true;
  for (let at = first; at < end; at += 1) {
    const char = text.charCodeAt(at);
    if (char === LOWER_E || char === UPPER_E) return true;
    if (char === POINT && (startsWithZero || text.charCodeAt(end - 1) === ZERO)) return true;
  }
  return false;
}

function isNumberChar(char: number): boolean {
  return (
    isDigit(char) || char === POINT || char === LOWER_E || char === UPPER_E || char === MINUS || char === PLUS
  );
}

function isDigit(char: number): boolean {
  return char >= ZERO && char <= NINE;
}
