// The text of one member of a JSON object, as it stands there. JSON.parse tells what a string says, not how it was
// written, and an id has to go back as it came.

import { endOfString } from './scan-json.ts';

const WHITE = /[\t\n\r ]*/y;
const NAME = /[\t\n\r ]*("(?:[^"\\]|\\.)*")[\t\n\r ]*:[\t\n\r ]*/y;
/** What a scalar other than a string is made of. */
const PLAIN = /[^\t\n\r ,\]}]+/y;

/**
 * The last top-level string member of that name, quotes included; undefined where there is none.
 *
 * @param text an object that JSON.parse takes
 */
export function rawStringMember(text: string, name: string): string | undefined {
  let found: string | undefined;
  let at = text.indexOf('{') + 1;
  for (;;) {
    NAME.lastIndex = at;
    const key = NAME.exec(text)?.[1];
    if (key === undefined) return found;
    const start = NAME.lastIndex;
    const end = endOfValue(text, start);
    if (JSON.parse(key) === name) found = text[start] === '"' ? text.slice(start, end) : undefined;
    WHITE.lastIndex = end;
    WHITE.exec(text);
    if (text[WHITE.lastIndex] !== ',') return found;
    at = WHITE.lastIndex + 1;
  }
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === '{' || first === '[') return endOfNested(text, start);
  PLAIN.lastIndex = start;
  PLAIN.exec(text);
  return PLAIN.lastIndex;
}

const STRUCTURE = /["[\]{}]/g;

function endOfNested(text: string, start: number): number {
  let depth = 0;
  STRUCTURE.lastIndex = start;
  for (let match = STRUCTURE.exec(text); match !== null; match = STRUCTURE.exec(text)) {
    const [char] = match;
    if (char === '"') STRUCTURE.lastIndex = endOfString(text, match.index);
    else depth += char === '{' || char === '[' ? 1 : -1;
    if (depth === 0) return STRUCTURE.lastIndex;
  }
  return text.length;
}
