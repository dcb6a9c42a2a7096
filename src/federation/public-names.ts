// Names of tools and prompts where several servers are served as one: `{prefix}__{name}`, in the characters and the
// length that every client takes. A public name depends on its own prefix and name alone, and leads back by table.
import { createHash } from 'node:crypto';

export interface NamedEntry {
  /** The server's slug. */
  readonly server: string;
  /** Empty: the name stands alone. Undefined: names are left as they are, whatever is in them. */
  readonly prefix: string | undefined;
  /** The server's word, so it may be anything. */
  readonly name: unknown;
}

export interface NameOwner {
  readonly server: string;
  readonly name: string;
}

export interface NameClash {
  readonly publicName: string;
  /** Two or more, in the order in which they came. None of them has the name. */
  readonly owners: readonly NameOwner[];
}

export interface PublicNames {
  /** Undefined for what is not among the entries, or is withheld. */
  publicOf(server: string, name: string): string | undefined;
  ownerOf(publicName: string): NameOwner | undefined;
  readonly clashes: readonly NameClash[];
  /** Entries that nobody could call. */
  readonly unnamed: readonly NamedEntry[];
}

/** Clients and models take names of [A-Za-z0-9_-], at most this long. */
export const MAX_PUBLIC_NAME_CHARACTERS = 64;
/** Between prefix and name. */
export const SEPARATOR = '__';
const HASH_CHARACTERS = 8;

/**
 * Two entries that would have one public name are both withheld: whichever were served, callers of the other would
 * reach a tool that they did not mean. An entry that comes twice is one entry.
 */
export function buildPublicNames(entries: Iterable<NamedEntry>): PublicNames {
  const candidates = new Map<string, NameOwner[]>();
  const unnamed: NamedEntry[] = [];
  for (const entry of entries) {
    const { server, prefix, name } = entry;
    if (!isName(name)) {
      unnamed.push(entry);
      continue;
    }
    const publicName = publicNameOf(prefix, name);
    const claimants = candidates.get(publicName) ?? [];
    candidates.set(publicName, claimants);
    const isKnown = claimants.some((known) => known.server === server && known.name === name);
    if (!isKnown) claimants.push({ server, name });
  }
  const byOwner = new Map<string, Map<string, string>>();
  const owners = new Map<string, NameOwner>();
  const clashes: NameClash[] = [];
  for (const [publicName, claimants] of candidates) {
    const [owner, ...others] = claimants;
    if (owner === undefined || others.length > 0) {
      clashes.push({ publicName, owners: claimants });
      continue;
    }
    owners.set(publicName, owner);
    const names = byOwner.get(owner.server) ?? new Map<string, string>();
    byOwner.set(owner.server, names.set(owner.name, publicName));
  }
  return {
    publicOf: (server, name) => byOwner.get(server)?.get(name),
    ownerOf: (publicName) => owners.get(publicName),
    clashes,
    unnamed,
  };
}

/** A name that had to be changed ends in a hash, so that two that are changed alike stay two. */
export function publicNameOf(prefix: string | undefined, name: string): string {
  if (prefix === undefined) return name;
  const whole = prefix === '' ? name : prefix + SEPARATOR + name;
  const plain = whole.replace(/[^A-Za-z0-9_-]/gu, '_');
  if (plain === whole && whole.length <= MAX_PUBLIC_NAME_CHARACTERS) return whole;
  const kept = plain.slice(0, MAX_PUBLIC_NAME_CHARACTERS - HASH_CHARACTERS - 1);
  return `${kept}_${hashOf(prefix, name)}`;
}

/** Half of a character is not text: it would be another name once it has been written as UTF-8. */
function isName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name.isWellFormed();
}

function hashOf(prefix: string, name: string): string {
  return createHash('sha256').update(`${prefix}\0${name}`).digest('hex').slice(0, HASH_CHARACTERS);
}
