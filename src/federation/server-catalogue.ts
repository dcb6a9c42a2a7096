// What a server has, by name: the tables that targets are looked up in. One table per link and set of client
// capabilities, since a legacy server may show each session other tools, and a modern one each request; loaded on first
// need, dropped when the server says that its list changed.
import { GatewayError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { readParamHeaders } from '../protocol/param-headers.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import { withinTime } from '../servers/within-time.ts';

export type CatalogueKind = 'tools' | 'prompts' | 'templates';
export type TargetTable = ReadonlyMap<string, JsonObject>;

/** A server that pages for ever, or in a circle, must not keep us busy (F27). */
const MAX_PAGES = 1_000;
/** How often a call for an unknown name may make a server list again. */
const REFRESH_AFTER_MS = 5_000;
const LOAD_TIMEOUT_MS = 30_000;
/** Clients choose what they declare, so what is kept for their sake is bounded, on each link. */
const MAX_TABLES = 64;

/** How each kind is listed, where its entries stand, and what they are named by. */
const LISTS = {
  tools: { method: 'tools/list', member: 'tools', name: 'name' },
  prompts: { method: 'prompts/list', member: 'prompts', name: 'name' },
  templates: { method: 'resources/templates/list', member: 'resourceTemplates', name: 'uriTemplate' },
} as const satisfies Record<CatalogueKind, object>;
/** What a `list_changed` notification speaks of. */
const CHANGED: Readonly<Record<string, CatalogueKind>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'templates',
};

export interface TableOptions {
  readonly signal: AbortSignal;
  /** What a modern server is told of the client; a legacy one was told in its handshake. */
  readonly clientCapabilities?: JsonObject;
}

export interface FindOptions extends TableOptions {
  /** Whether what the server lists by that name is there for clients; all of it is without this. */
  isThere?(definition: JsonObject, table: TargetTable): boolean;
}

interface LoadedTable {
  readonly kind: CatalogueKind;
  readonly loadedAt: number;
  readonly table: Promise<TargetTable>;
}

export class ServerCatalogue {
  readonly #tables = new WeakMap<ServerLink, Map<string, LoadedTable>>();

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
    const lookUp = (table: TargetTable) => {
      const found = name === undefined ? undefined : table.get(name);
      return found === undefined || isThere?.(found, table) === false ? undefined : found;
    };
    const loaded = this.#load(link, kind, clientCapabilities);
    const found = lookUp(await withinTime(loaded.table, LOAD_TIMEOUT_MS, signal));
    if (found !== undefined || performance.now() - loaded.loadedAt < REFRESH_AFTER_MS) return found;
    this.#forget(link, loaded);
    return lookUp(await this.table(link, kind, { signal, clientCapabilities }));
  }

  /**
   * Everything of that kind on that link, by the server's own names and in its order.
   *
   * @throws GatewayError when the server cannot be asked
   */
  table(
    link: ServerLink,
    kind: CatalogueKind,
    { signal, clientCapabilities = {} }: TableOptions,
  ): Promise<TargetTable> {
    return withinTime(this.#load(link, kind, clientCapabilities).table, LOAD_TIMEOUT_MS, signal);
  }

  /** Keeps the tables of a server's catalogue links in step with what it says. */
  follow(server: Server): void {
    server.onCatalogueMessage((message, link) => this.noteListChanged(link, message.method));
  }

  /** The server said that its list changed. */
  invalidate(link: ServerLink, kind: CatalogueKind): void {
    for (const loaded of this.#tables.get(link)?.values() ?? []) {
      if (loaded.kind === kind) this.#forget(link, loaded);
    }
  }

  /** Invalidates whatever a `list_changed` notification speaks of. */
  noteListChanged(link: ServerLink, method: string): void {
    const kind = Object.hasOwn(CHANGED, method) ? CHANGED[method] : undefined;
    if (kind !== undefined) this.invalidate(link, kind);
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
    const key = `${kind} ${JSON.stringify(clientCapabilities)}`;
    const known = tables.get(key);
    if (known !== undefined) return known;
    const table = readTable(link, kind, clientCapabilities);
    const loaded: LoadedTable = { kind, loadedAt: performance.now(), table };
    const [oldest] = tables.size >= MAX_TABLES ? tables.keys() : [];
    if (oldest !== undefined) tables.delete(oldest);
    tables.set(key, loaded);
    table.catch(() => this.#forget(link, loaded));
    return loaded;
  }
}

/** Many wait for it, so no caller ends it: it has the time of a call. */
async function readTable(
  link: ServerLink,
  kind: CatalogueKind,
  clientCapabilities: JsonObject,
): Promise<TargetTable> {
  const { signal } = new AbortController();
  const table = new Map<string, JsonObject>();
  const seen = new Set<string>();
  const { member, name } = LISTS[kind];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await readPage(link, kind, cursor, { signal, clientCapabilities });
    const entries = result[member];
    for (const entry of Array.isArray(entries) ? entries : []) {
      if (!isJsonObject(entry) || !isUsable(link, entry)) continue;
      const known = entry[name];
      if (typeof known === 'string') table.set(known, entry);
    }
    // An empty string is a cursor like any other (2026-07-28, server/utilities/pagination).
    if (typeof result.nextCursor !== 'string' || seen.has(result.nextCursor)) return table;
    cursor = result.nextCursor;
    seen.add(cursor);
  }
  return table;
}

/**
 * Over HTTP a client must leave out tools whose `x-mcp-header` annotations break the rules (2026-07-28,
 * basic/transports/streamable-http, "Schema Extension"), and the operator hears of it. On other wires they mean nothing.
 */
export function isUsable(link: ServerLink, tool: JsonObject): boolean {
  if (link.transport.kind !== 'http' || link.peer.era === 'legacy') return true;
  const declared = readParamHeaders(tool.inputSchema);
  if (!('invalid' in declared)) return true;
  link.reportUnusableTool(String(tool.name), declared.invalid);
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
