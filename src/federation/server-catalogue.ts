// What a server has, by name: the tables that targets are looked up in. One table per link and set of client
// capabilities, since a legacy server may show each session other tools, and a modern one each request; loaded on first
// need, dropped when the server says that its list changed.
import { GatewayError } from '../errors.ts';
import { isJsonObject, type JsonObject, writeJson } from '../protocol/json-text.ts';
import { readParamHeaders } from '../protocol/param-headers.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { ListCut } from '../servers/list-findings.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import { withinTime } from '../servers/within-time.ts';

export type CatalogueKind = 'tools' | 'prompts' | 'resources' | 'templates';
export type TargetTable = ReadonlyMap<string, JsonObject>;

/** A server that pages for ever, or in a circle, must not keep us busy (F27). */
const MAX_PAGES = 1_000;
const MAX_READING_MS = 120_000;
/** Nor fill the memory that everyone shares: of JSON text, in all pages of one list. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** How often a call for an unknown name may make a server list again. */
const REFRESH_AFTER_MS = 5_000;
const LOAD_TIMEOUT_MS = 30_000;
/** Clients choose what they declare, so what is kept for their sake is bounded, on each link. */
const MAX_TABLES = 64;

/** How each kind is listed, where its entries stand, and what they are named by. */
export const LISTS = {
  tools: { method: 'tools/list', member: 'tools', name: 'name' },
  prompts: { method: 'prompts/list', member: 'prompts', name: 'name' },
  resources: { method: 'resources/list', member: 'resources', name: 'uri' },
  templates: { method: 'resources/templates/list', member: 'resourceTemplates', name: 'uriTemplate' },
} as const satisfies Record<CatalogueKind, object>;
/** What a `list_changed` notification speaks of. */
const CHANGED: Readonly<Record<string, readonly CatalogueKind[]>> = {
  'notifications/tools/list_changed': ['tools'],
  'notifications/prompts/list_changed': ['prompts'],
  'notifications/resources/list_changed': ['resources', 'templates'],
};

export interface TableOptions {
  readonly signal: StopSignal;
  /** What a modern server is told of the client; a legacy one was told in its handshake. */
  readonly clientCapabilities?: JsonObject;
}

export interface FindOptions extends TableOptions {
  /** Whether what the server lists by that name is there for clients; all of it is without this. */
  isThere?(table: TargetTable): boolean;
}

/** All that a server lists of one kind. */
export interface Listing {
  /** By name, in the server's order. */
  readonly table: TargetTable;
  readonly entries: readonly JsonObject[];
  /** How long the server says that it may be kept; the shortest of its pages. */
  readonly ttlMs: number | undefined;
}

/** Hears of changes that are true for everyone, or for one person; what was known of the list is forgotten by then. */
export type ListChangeListener = (server: Server, method: string, person: string | undefined) => void;

interface LoadedTable {
  readonly kind: CatalogueKind;
  readonly loadedAt: number;
  readonly listing: Promise<Listing>;
  /** Set once it is there. */
  settled: Listing | undefined;
}

export class ServerCatalogue {
  readonly #maxCharacters: number;
  readonly #tables = new WeakMap<ServerLink, Map<string, LoadedTable>>();
  readonly #listeners = new Set<ListChangeListener>();

  /** @param maxCharacters of one list: the pages after that are not read */
  constructor(maxCharacters: number = MAX_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  /**
   * The definition of a tool, prompt or template on that link, or undefined. A miss lists again, once for everyone who
   * misses, at most every 5 s.
   *
   * @param name undefined for what nobody can have: it is missed like any other
   * @throws GatewayError when the server cannot be asked
   */
  async find(
    link: ServerLink,
    kind: CatalogueKind,
    name: string | undefined,
    { signal, clientCapabilities = {}, isThere }: FindOptions,
  ): Promise<JsonObject | undefined> {
    const lookUp = (table: TargetTable) => lookedUp(table, name, isThere);
    const loaded = this.#load(link, kind, clientCapabilities);
    // What is known is waited for with no timer.
    const listing = loaded.settled ?? (await withinTime(loaded.listing, LOAD_TIMEOUT_MS, signal));
    const found = lookUp(listing.table);
    if (found !== undefined || performance.now() - loaded.loadedAt < REFRESH_AFTER_MS) return found;
    this.#forget(link, loaded);
    return lookUp(await this.table(link, kind, { signal, clientCapabilities }));
  }

  /** What `find` would give where it is known already, as it mostly is; undefined does not say that it is not there. */
  known(
    link: ServerLink,
    kind: CatalogueKind,
    name: string,
    { clientCapabilities = {}, isThere }: Omit<FindOptions, 'signal'>,
  ): JsonObject | undefined {
    const declared = link.peer.era === 'modern' ? clientCapabilities : {};
    const listing = this.current(link, kind, declared);
    return listing && lookedUp(listing.table, name, isThere);
  }

  /**
   * All of one kind on that link, asked for where it is not known.
   *
   * @throws GatewayError when the server cannot be asked
   */
  async list(link: ServerLink, kind: CatalogueKind, clientCapabilities: JsonObject): Promise<Listing> {
    const loaded = this.#load(link, kind, clientCapabilities);
    const never = new AbortController().signal;
    try {
      return await withinTime(loaded.listing, LOAD_TIMEOUT_MS, never);
    } catch (thrown) {
      // One that hangs is not what the next one should wait for.
      this.#forget(link, loaded);
      throw thrown;
    }
  }

  /** What is known, if nothing was heard of a change since. */
  current(link: ServerLink, kind: CatalogueKind, clientCapabilities: JsonObject): Listing | undefined {
    return this.#tables.get(link)?.get(tableKey(kind, clientCapabilities))?.settled;
  }

  /** Returns the way to stop. */
  onListChanged(listener: ListChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What a server lists is not what it was, for everyone or for one person. */
  tell(server: Server, method: string, person?: string): void {
    for (const listener of this.#listeners) listener(server, method, person);
  }

  /**
   * Everything of that kind on that link, by the server's own names and in its order.
   *
   * @throws GatewayError when the server cannot be asked
   */
  async table(
    link: ServerLink,
    kind: CatalogueKind,
    { signal, clientCapabilities = {} }: TableOptions,
  ): Promise<TargetTable> {
    const { listing } = this.#load(link, kind, clientCapabilities);
    return (await withinTime(listing, LOAD_TIMEOUT_MS, signal)).table;
  }

  /** Keeps the tables of a server's catalogue links in step with what it says. */
  follow(server: Server): void {
    server.onCatalogueMessage(({ method }, link, person) => {
      this.noteListChanged(link, method);
      if (Object.hasOwn(CHANGED, method)) this.tell(server, method, person);
    });
  }

  /** The server said that its list changed. */
  invalidate(link: ServerLink, kind: CatalogueKind): void {
    for (const loaded of this.#tables.get(link)?.values() ?? []) {
      if (loaded.kind === kind) this.#forget(link, loaded);
    }
  }

  /** Invalidates whatever a `list_changed` notification speaks of. */
  noteListChanged(link: ServerLink, method: string): void {
    const kinds = Object.hasOwn(CHANGED, method) ? CHANGED[method] : undefined;
    for (const kind of kinds ?? []) this.invalidate(link, kind);
  }

  #forget(link: ServerLink, loaded: LoadedTable): void {
    const tables = this.#tables.get(link);
    for (const [key, table] of tables ?? []) if (table === loaded) tables?.delete(key);
  }

  #load(link: ServerLink, kind: CatalogueKind, declared: JsonObject): LoadedTable {
    const clientCapabilities = link.peer.era === 'modern' ? declared : {};
    let tables = this.#tables.get(link);
    if (tables === undefined) {
      tables = new Map();
      this.#tables.set(link, tables);
    }
    const key = tableKey(kind, clientCapabilities);
    const known = tables.get(key);
    if (known !== undefined) return known;
    const listing = readListing(link, kind, { clientCapabilities, maxCharacters: this.#maxCharacters });
    const loaded: LoadedTable = { kind, loadedAt: performance.now(), listing, settled: undefined };
    const [oldest] = tables.size >= MAX_TABLES ? tables.keys() : [];
    if (oldest !== undefined) tables.delete(oldest);
    tables.set(key, loaded);
    listing.then(
      (settled) => {
        loaded.settled = settled;
      },
      () => this.#forget(link, loaded),
    );
    return loaded;
  }
}

function lookedUp(
  table: TargetTable,
  name: string | undefined,
  isThere: FindOptions['isThere'],
): JsonObject | undefined {
  const found = name === undefined ? undefined : table.get(name);
  return found === undefined || isThere?.(table) === false ? undefined : found;
}

function tableKey(kind: CatalogueKind, clientCapabilities: JsonObject): string {
  return `${kind} ${JSON.stringify(clientCapabilities)}`;
}

/** Many wait for it, so no caller ends it: it has the time of a call. */
async function readListing(
  link: ServerLink,
  kind: CatalogueKind,
  { clientCapabilities, maxCharacters }: { clientCapabilities: JsonObject; maxCharacters: number },
): Promise<Listing> {
  const startedAt = performance.now();
  const { signal } = new AbortController();
  const table = new Map<string, JsonObject>();
  const seen = new Set<string>();
  const { member, name } = LISTS[kind];
  let cursor: string | undefined;
  let ttlMs: number | undefined;
  let characters = 0;
  const listing = (cut?: ListCut) => {
    link.findings?.noteRead(kind, { entries: table.size, cut });
    return { table, entries: [...table.values()], ttlMs };
  };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await readPage(link, kind, cursor, { signal, clientCapabilities });
    const entries = result[member];
    if (typeof result.ttlMs === 'number') ttlMs = Math.min(result.ttlMs, ttlMs ?? Number.POSITIVE_INFINITY);
    for (const entry of Array.isArray(entries) ? entries : []) {
      if (!isJsonObject(entry) || !isUsable(link, entry)) continue;
      const known = entry[name];
      if (typeof known === 'string') table.set(known, entry);
    }
    // An empty string is a cursor like any other (2026-07-28, server/utilities/pagination).
    if (typeof result.nextCursor !== 'string') return listing();
    if (seen.has(result.nextCursor)) return listing('cursor-repeated');
    characters += writeJson(entries ?? null).length;
    if (characters >= maxCharacters) return listing('too-large');
    if (performance.now() - startedAt >= MAX_READING_MS) return listing('too-slow');
    cursor = result.nextCursor;
    seen.add(cursor);
  }
  return listing('too-many-pages');
}

/**
 * Over HTTP a client must leave out tools whose `x-mcp-header` annotations break the rules (2026-07-28,
 * basic/transports/streamable-http, "Schema Extension"), and the operator hears of it. On other wires they mean nothing.
 */
export function isUsable(link: ServerLink, tool: JsonObject): boolean {
  if (link.transport.kind !== 'http' || link.peer.era === 'legacy') return true;
  const declared = readParamHeaders(tool.inputSchema);
  if (!('invalid' in declared)) return true;
  link.findings?.noteUnusableTool(String(tool.name), declared.invalid);
  return false;
}

async function readPage(
  link: ServerLink,
  kind: CatalogueKind,
  cursor: string | undefined,
  options: FindOptions,
): Promise<JsonObject> {
  try {
    return await link.ownCall(LISTS[kind].method, cursor === undefined ? {} : { cursor }, options);
  } catch (thrown) {
    // A server without that kind of thing has none of it (F31).
    if (thrown instanceof GatewayError && thrown.details.reason === 'method-not-found') return {};
    throw thrown;
  }
}
