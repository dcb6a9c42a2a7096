// What a replica says of itself in Redis, signed: whoever can write there alone cannot send messages elsewhere.
import { isJsonObject } from '../protocol/json-text.ts';
import type { Announcement } from './live-replicas.ts';
import { openText, signText } from './signed-text.ts';

export function sealAnnouncement({ id, url, since, leaving }: Announcement, key: Buffer): string {
  return signText({ id, url, since, leaving }, key);
}

/** Undefined for what no replica of this secret has said. */
export function openAnnouncement(text: string, key: Buffer): Announcement | undefined {
  const value = openText(text, key);
  if (!isJsonObject(value)) return undefined;
  const { id, url, since, leaving } = value;
  if (typeof id !== 'string' || typeof url !== 'string' || !URL.canParse(url)) return undefined;
  if (typeof since !== 'number' || typeof leaving !== 'boolean') return undefined;
  return { id, url, since, leaving };
}
