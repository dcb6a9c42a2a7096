// The lists that views of several servers are made of: what each server lists, from memory where that is sound, and
// its last known list for a while where it is down. Callers never wait for a server longer than their patience (F28).
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import { LIST_CHANGES } from '../protocol/list-changes.ts';
import type { StopSignal } from '../runtime/stop.ts';
import type { Server } from '../servers/server.ts';
import type { ServerLink } from '../servers/server-link.ts';
import { wasNeverAccepted } from '../servers/was-never-accepted.ts';
import { withinTime } from '../servers/within-time.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { CatalogueKind, Listing, ServerCatalogue } from './server-catalogue.ts';

/** Where one caller sees a server's lists. */
export interface ListSource {
  readonly server: Server;
  /** Callers with the same key see the same lists: what the server can tell them apart by is in it. */
  readonly key: string;
  /** What a modern server is told of the client with each request. */
  readonly clientCapabilities: JsonObject;
  /** Whose the list is, where it is not everyone's. */
  readonly person: string | undefined;
  open(): Promise<ServerLink>;
}

export interface ListPatience {
  readonly timeoutMs: number;
  /** How long the last known list of a server that is down still counts. */
  readonly staleForMs: number;
  /** How long a list is good of which the server promises no word of changes. */
  readonly ttlMs: number;
  readonly signal: StopSignal;
}

export interface KnownList {
  readonly listing: Listing;
  readonly link: Pick<ServerLink, 'peer'>;
  /** The server could not be asked. */
  readonly isStale: boolean;
}

interface Loaded {
  readonly link: ServerLink;
  readonly clientCapabilities: JsonObject;
  readonly listing: Listing;
  readonly at: number;
}

interface Known {
  loaded: Loaded | undefined;
  attempt: { readonly startedAt: number; readonly promise: Promise<Loaded> } | undefined;
  /** Since when it fails; undefined while it does not. */
  failingSince: number | undefined;
  lastFailure: { readonly at: number; readonly thrown: unknown } | undefined;
  /** It was no answer that failed: there was no link to ask on. */
  isUnreachable: boolean;
  /** Somebody went without it. */
  missed: boolean;
}

/** The lists that callers with the same key see. */
interface KeyedLists {
  readonly kinds: Map<CatalogueKind, Known>;
  /** The higher, the later. */
  lastUse: number;
}

export interface KnownListsOptions {
  readonly catalogue: ServerCatalogue;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Views that went without a server have it again; whoever listens to the catalogue has been told. */
  readonly onReturn?: ((server: Server, method: string, person: string | undefined) => void) | undefined;
}

/** A server that failed last time is not waited for as long as one that did not. */
const SECOND_PATIENCE_MS = 500;
/** How often callers of unknown names may make a server list again. */
const REFRESH_AFTER_MS = 5_000;
/** A server that promises word of changes is asked all the same once in a while: word may be lost. */
const PROMISED_FOR_MS = 300_000;
const TRY_AGAIN_AFTER_MS = 2_000;
/** Each session with a link of its own has one; the least used are forgotten, and read from their link again. */
const MAX_KEYS = 128;

const CHANGES: Readonly<Record<CatalogueKind, { readonly capability: string; readonly method: string }>> = {
  tools: { capability: 'tools', method: 'notifications/tools/list_changed' },
  prompts: { capability: 'prompts', method: 'notifications/prompts/list_changed' },
  resources: { capability: 'resources', method: 'notifications/resources/list_changed' },
  templates: { capability: 'resources', method: 'notifications/resources/list_changed' },
};
const NOTHING: Listing = { table: new Map(), entries: [], ttlMs: undefined };

export class KnownLists {
  readonly #catalogue: ServerCatalogue;
  readonly #logger: Logger;
  readonly #onReturn: KnownListsOptions['onReturn'];
  readonly #misses: ReturnType<Metrics['counter']>;
  readonly #known = new WeakMap<Server, Map<string, KeyedLists>>();
  #uses = 0;
  /** Servers that were not there, and are tried until they are. */
  readonly #awaited = new WeakSet<Server>();

  constructor({ catalogue, logger, metrics, onReturn }: KnownListsOptions) {
    this.#catalogue = catalogue;
    this.#logger = logger;
    this.#onReturn = onReturn;
    this.#misses = metrics.counter(
      'portico_list_misses_total',
      'Merged lists that were answered without a server, or with its last known list, since it could not be asked',
      ['server', 'instead'],
    );
  }

  /**
   * What a server lists. One that is down is asked again in the background of the calls that go without it.
   *
   * @throws GatewayError where it cannot be asked, and nothing is known of it that still counts; or the signal's reason
   */
  async list(source: ListSource, kind: CatalogueKind, patience: ListPatience): Promise<KnownList> {
    const known = this.#knownOf(source, kind);
    const { loaded } = known;
    if (this.#isGood(loaded, kind, patience.ttlMs)) return { ...loaded, isStale: false };
    const attempt = this.#attempt(source, kind, known);
    const waited = performance.now() - attempt.startedAt;
    const patienceMs =
      known.failingSince === undefined
        ? patience.timeoutMs - waited
        : Math.min(patience.timeoutMs, SECOND_PATIENCE_MS - waited);
    try {
      return {
        ...(await withinTime(attempt.promise, Math.max(0, patienceMs), patience.signal)),
        isStale: false,
      };
    } catch (thrown) {
      patience.signal.throwIfAborted();
      known.failingSince ??= performance.now();
      const stale = this.#stillCounts(known, patience.staleForMs) ? known.loaded : undefined;
      this.#noteMiss(source.server, {
        kind,
        known,
        thrown,
        instead: stale === undefined ? 'nothing' : 'stale',
      });
      if (stale === undefined) throw thrown;
      return { ...stale, isStale: true };
    }
  }

  /** What is known already; asks nobody. */
  peek(source: ListSource, kind: CatalogueKind, staleForMs: number): Listing | undefined {
    const known = this.#knownOf(source, kind);
    return this.#stillCounts(known, staleForMs) ? known.loaded?.listing : undefined;
  }

  /**
   * For a name that is in no list: the server is asked again, once for all who ask, at most every 5 s.
   *
   * @throws GatewayError where it cannot be asked and nothing is known of it
   */
  async refresh(source: ListSource, kind: CatalogueKind, patience: ListPatience): Promise<void> {
    const known = this.#knownOf(source, kind);
    const { loaded, lastFailure, attempt } = known;
    const now = performance.now();
    if (attempt === undefined) {
      if (lastFailure !== undefined && now - lastFailure.at < REFRESH_AFTER_MS) throw lastFailure.thrown;
      if (this.#isCurrent(loaded, kind) && now - loaded.at < REFRESH_AFTER_MS) return;
      if (loaded !== undefined) this.#catalogue.invalidate(loaded.link, kind);
    }
    await this.list(source, kind, patience);
  }

  /** For `/status`: the kinds of which views go without the server's present list. */
  statusOf(server: Server): Record<string, string> {
    const failing: Record<string, string> = {};
    for (const { kinds } of this.#known.get(server)?.values() ?? []) {
      for (const [kind, known] of kinds) {
        if (known.failingSince === undefined || !known.missed) continue;
        if (failing[kind] !== 'absent') failing[kind] = known.loaded === undefined ? 'absent' : 'stale';
      }
    }
    return failing;
  }

  #attempt(source: ListSource, kind: CatalogueKind, known: Known): NonNullable<Known['attempt']> {
    if (known.attempt !== undefined) return known.attempt;
    const startedAt = performance.now();
    const attempt = { startedAt, promise: this.#loadSurely(source, kind, known) };
    known.attempt = attempt;
    attempt.promise.then(
      (loaded) => {
        known.attempt = undefined;
        known.loaded = loaded;
        known.failingSince = undefined;
        known.lastFailure = undefined;
        this.#noteReturn(source, kind, known);
      },
      (thrown: unknown) => {
        known.attempt = undefined;
        known.failingSince ??= startedAt;
        known.lastFailure = { at: performance.now(), thrown };
      },
    );
    return attempt;
  }

  /** A server that forgot our session was never asked, and the next session is a new one (F03). */
  async #loadSurely(source: ListSource, kind: CatalogueKind, known: Known): Promise<Loaded> {
    try {
      return await this.#load(source, kind, known);
    } catch (thrown) {
      if (!wasNeverAccepted(thrown)) throw thrown;
      return this.#load(source, kind, known);
    }
  }

  async #load(source: ListSource, kind: CatalogueKind, known: Known): Promise<Loaded> {
    known.isUnreachable = true;
    const link = await source.open();
    known.isUnreachable = false;
    const at = performance.now();
    const isOffered = link.peer.capabilities[CHANGES[kind].capability] !== undefined;
    // Who says that it has none is not asked for them (F31).
    if (!isOffered) return { link, at, clientCapabilities: {}, listing: NOTHING };
    const clientCapabilities = link.peer.era === 'modern' ? source.clientCapabilities : {};
    const listing = await this.#catalogue.list(link, kind, clientCapabilities);
    return { link, at, clientCapabilities, listing };
  }

  #isGood(loaded: Loaded | undefined, kind: CatalogueKind, ttlMs: number): loaded is Loaded {
    if (!this.#isCurrent(loaded, kind)) return false;
    const { link, listing, at } = loaded;
    if (listing === NOTHING) return true;
    const offered = link.peer.capabilities[CHANGES[kind].capability];
    const isPromised = isJsonObject(offered) && offered.listChanged === true;
    const goodForMs = isPromised ? PROMISED_FOR_MS : (listing.ttlMs ?? ttlMs);
    if (performance.now() - at < goodForMs) return true;
    this.#catalogue.invalidate(link, kind);
    return false;
  }

  /** No word of a change has come since. */
  #isCurrent(loaded: Loaded | undefined, kind: CatalogueKind): loaded is Loaded {
    if (loaded?.link.open !== true) return false;
    const { link, listing, clientCapabilities } = loaded;
    return listing === NOTHING || this.#catalogue.current(link, kind, clientCapabilities) === listing;
  }

  #stillCounts({ loaded, failingSince }: Known, staleForMs: number): boolean {
    if (loaded === undefined) return false;
    return failingSince === undefined || performance.now() - failingSince < staleForMs;
  }

  #noteMiss(
    server: Server,
    { kind, known, thrown, instead }: { kind: CatalogueKind; known: Known; thrown: unknown; instead: string },
  ): void {
    this.#misses.inc({ server: server.slug, instead });
    if (known.isUnreachable) void this.#awaitReturn(server);
    if (known.missed) return;
    known.missed = true;
    const reason = thrown instanceof GatewayError ? (thrown.details.reason ?? thrown.code) : 'internal';
    this.#logger.warn({ server: server.slug, list: kind, reason, instead }, 'lists go without this server');
  }

  /** Who went without it is told, as of any change. */
  #noteReturn({ server, person }: ListSource, kind: CatalogueKind, known: Known): void {
    if (!known.missed) return;
    known.missed = false;
    this.#logger.info({ server: server.slug, list: kind }, 'lists have this server again');
    this.#tell(server, CHANGES[kind].method, person);
  }

  /** Clients that went without a server may not ask again by themselves: they are told once it can be reached. */
  async #awaitReturn(server: Server): Promise<void> {
    if (server.personal || this.#awaited.has(server)) return;
    this.#awaited.add(server);
    const { retired: signal } = server;
    while (!signal.aborted) {
      const link = await server.catalogueLink().catch(() => undefined);
      if (link !== undefined) {
        this.#tellOfReturn(server);
        break;
      }
      await delay(TRY_AGAIN_AFTER_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    this.#awaited.delete(server);
  }

  #tellOfReturn(server: Server): void {
    for (const { kinds } of this.#known.get(server)?.values() ?? []) {
      for (const known of kinds.values()) known.missed = false;
    }
    for (const { method } of LIST_CHANGES) this.#tell(server, method, undefined);
  }

  #tell(server: Server, method: string, person: string | undefined): void {
    this.#catalogue.tell(server, method, person);
    this.#onReturn?.(server, method, person);
  }

  /** Each call looks: what is used last is told by a number, for a table that is written to keeps what it has held. */
  #knownOf({ server, key }: ListSource, kind: CatalogueKind): Known {
    let keys = this.#known.get(server);
    if (keys === undefined) {
      keys = new Map();
      this.#known.set(server, keys);
    }
    let lists = keys.get(key);
    if (lists === undefined) {
      if (keys.size >= MAX_KEYS) keys.delete(leastUsed(keys));
      lists = { kinds: new Map(), lastUse: 0 };
      keys.set(key, lists);
    }
    this.#uses += 1;
    lists.lastUse = this.#uses;
    let known = lists.kinds.get(kind);
    if (known === undefined) {
      known = unknown();
      lists.kinds.set(kind, known);
    }
    return known;
  }
}

function leastUsed(keys: ReadonlyMap<string, KeyedLists>): string {
  let least = '';
  let lastUse = Number.POSITIVE_INFINITY;
  for (const [key, lists] of keys) {
    if (lists.lastUse < lastUse) [least, lastUse] = [key, lists.lastUse];
  }
  return least;
}

function unknown(): Known {
  return {
    loaded: undefined,
    attempt: undefined,
    failingSince: undefined,
    lastFailure: undefined,
    isUnreachable: false,
    missed: false,
  };
}
