// From any server name to the slug that paths and prefixes use: [a-z]([a-z0-9.-]*[a-z0-9])?, at most 32 characters.
import { createHash } from 'node:crypto';

const MAX_SLUG_CHARACTERS = 32;
const SLUG = /^[a-z](?:[a-z0-9.-]{0,30}[a-z0-9])?$/;

/** Whether a server, or a toolset, could be called so in a path. */
export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/** The same name always gives the same slug; different names may give the same one, which the loader refuses. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[.-]+/, '');
  const named = words === '' ? fingerprint(name) : words;
  const slug = /^[a-z]/.test(named) ? named : `server-${named}`;
  return slug.slice(0, MAX_SLUG_CHARACTERS).replace(/[.-]+$/, '');
}

/** For names without a single Latin letter or digit. */
function fingerprint(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 8);
}
