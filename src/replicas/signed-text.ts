// What replicas say to each other by way of Redis: a MAC, a space, and JSON. Whoever can write there, and knows no more,
// is not believed.
import { readJson, writeJson } from '../protocol/json-text.ts';
import { isMacOf, macOf } from './replica-keys.ts';

export function signText(value: unknown, key: Buffer): string {
  const json = writeJson(value);
  return `${macOf(key, json)} ${json}`;
}

/** The value behind a right MAC; undefined where there is none. */
export function openText(text: string, key: Buffer): unknown {
  const at = text.indexOf(' ');
  const json = text.slice(at + 1);
  if (at === -1 || !isMacOf(key, json, text.slice(0, at))) return undefined;
  try {
    return readJson(json);
  } catch {
    return undefined;
  }
}
