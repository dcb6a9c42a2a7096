// One text for equal JSON: keys in order, no spaces, numbers as they were written.
import { isJsonObject, type JsonValue, writeJson } from './json-text.ts';

export function canonicalJson(value: JsonValue | undefined): string {
  if (value === undefined) return 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return writeJson(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${writeJson(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
