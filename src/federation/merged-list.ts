// Lists of several servers as one: in the servers' order, under public names, without the names and addresses that two
// of them claim. What does not change from call to call is worked out once.
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { publishResult, type ViewNames } from './public-messages.ts';
import { buildPublicNames, type NameClash, type NameOwner, type PublicNames } from './public-names.ts';
import { type CatalogueKind, LISTS } from './server-catalogue.ts';

export interface MemberList {
  /** The server's slug. */
  readonly server: string;
  readonly prefix: string;
  /** All that the server lists, as it lists it. */
  readonly whole: readonly JsonObject[];
  /** What of it the caller is to see, in the terms of its revision. The same array for the same content. */
  readonly entries: readonly JsonObject[];
}

export interface MergedList {
  readonly entries: readonly JsonObject[];
  readonly clashes: readonly NameClash[];
}

type PublishedEntry = { readonly publicName: string; readonly entry: JsonObject };

const NONE: PublicNames = {
  publicOf: () => undefined,
  ownerOf: () => undefined,
  clashes: [],
  unnamed: [],
};

export function mergeLists(kind: CatalogueKind, members: readonly MemberList[]): MergedList {
  const claims = new Map<string, NameOwner[]>();
  const published = members.map((member) => publishedEntries(kind, member));
  for (const [index, entries] of published.entries()) {
    const server = members[index]?.server ?? '';
    for (const { publicName } of entries) {
      const owners = claims.get(publicName);
      if (owners === undefined) claims.set(publicName, [{ server, name: publicName }]);
      else owners.push({ server, name: publicName });
    }
  }
  const clashes = [...claims]
    .filter(([, owners]) => owners.length > 1)
    .map(([publicName, owners]): NameClash => ({ publicName, owners }));
  const withheld = new Set(clashes.map(({ publicName }) => publicName));
  const entries = published.flatMap((list) =>
    list.filter(({ publicName }) => !withheld.has(publicName)).map(({ entry }) => entry),
  );
  return { entries, clashes };
}

const NAMES = new WeakMap<readonly JsonObject[], Map<string, PublicNames>>();

/** The public names of one server's tools or prompts; it has none of its own for what two of them would be called. */
export function publicNamesOf(server: string, prefix: string, whole: readonly JsonObject[]): PublicNames {
  return remembered(NAMES, whole, `${server} ${prefix}`, () =>
    buildPublicNames(whole.map(({ name }) => ({ server, prefix, name }))),
  );
}

/** For messages about things of one server: of its tools or prompts, where they are known, it knows the names. */
export function viewNames(server: string, kind?: CatalogueKind, names: PublicNames = NONE): ViewNames {
  return {
    server,
    tools: kind === 'tools' ? names : NONE,
    prompts: kind === 'prompts' ? names : NONE,
  };
}

const PUBLISHED = new WeakMap<readonly JsonObject[], Map<string, readonly PublishedEntry[]>>();

function publishedEntries(kind: CatalogueKind, { server, prefix, whole, entries }: MemberList) {
  return remembered(PUBLISHED, entries, `${kind} ${server} ${prefix}`, () => {
    const { method, member, name } = LISTS[kind];
    const isNamed = kind === 'tools' || kind === 'prompts';
    const names = viewNames(server, kind, isNamed ? publicNamesOf(server, prefix, whole) : NONE);
    const listed = publishResult(method, { [member]: [...entries] }, names)[member];
    return (Array.isArray(listed) ? listed : [])
      .filter(isJsonObject)
      .map((entry): PublishedEntry => ({ publicName: String(entry[name]), entry }));
  });
}

function remembered<T>(
  memory: WeakMap<readonly JsonObject[], Map<string, T>>,
  about: readonly JsonObject[],
  key: string,
  make: () => T,
): T {
  const known = memory.get(about) ?? new Map<string, T>();
  memory.set(about, known);
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}
