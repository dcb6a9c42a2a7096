// What a replica says of itself in Redis, signed: whoever can write there alone cannot send messages elsewhere.
import { isJsonObject, readJson, writeJson } from '../protocol/json-text.ts';
import type { Announcement } from './live-replicas.ts';
import { isMacOf, macOf } from './replica-keys.ts';

/** `<MAC> <JSON>` */
export function sealAnnouncement({ id, url, since, leaving }: Announcement, key: Buffer): string {
  const json = writeJson({ id, url, since, leaving });
  return `${macOf(key, json)} ${json}`;
}

/** Undefined for what no replica of this secret has said. */
export function openAnnouncement(text: string, key: Buffer): Announcement | undefined {
  const value = openSigned(text, key);
  if (!isJsonObject(value)) return undefined;
  const { id, url, since, leaving } = value;
  if (typeof id !== 'string' || typeof url !== 'string' || !URL.canParse(url)) return undefined;
  if (typeof since !== 'number' || typeof leaving !== 'boolean') return undefined;
  return { id, url, since, leaving };
}

/** The value behind a right MAC. */
export function openSigned(text: string, key: Buffer): unknown {
  const at = text.indexOf(' ');
  const json = text.slice(at + 1);
  if (at === -1 || !isMacOf(key, json, text.slice(0, at))) return undefined;
  try {
    return readJson(json);
  } catch {
    return undefined;
  }
}
