// The links of a server that its lists, `initialize` and discover are served from, and what is heard on them. The main
// one, for clients that declare nothing, stays open: it is opened again when it ends by itself.
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerConfig } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import type { JsonObject } from '../protocol/json-text.ts';
import { LIST_CHANGES } from '../protocol/list-changes.ts';
import type { LinkTerms } from './connector.ts';
import { type Caller, isPersonal } from './credentials/caller.ts';
import { answerFixedRoots } from './fixed-roots.ts';
import type { LinkPool } from './link-pool.ts';
import { watchLists } from './list-watch.ts';
import type { ServerLink } from './server-link.ts';
import type { LinkListener } from './shared-listeners.ts';
import { type Backoff, type OwnerBackoffs, StartBackoff } from './start-backoff.ts';
import type { ServerMessage } from './transport.ts';

const CATALOGUE_KEY = 'catalogue';
/** Of the link for clients that declare nothing. */
const MAIN_KEY = `${CATALOGUE_KEY} {}`;
const REOPEN_AFTER_MS = 250;

export interface CatalogueTerms extends LinkTerms {
  readonly personal?: boolean;
  onUnsolicited(message: ServerMessage, link: ServerLink): void;
}

export interface CatalogueLinksOptions {
  readonly config: ServerConfig;
  readonly pool: LinkPool;
  /** Of the links that are everyone's. */
  readonly backoff: StartBackoff;
  readonly ownerBackoffs: OwnerBackoffs;
  /** Aborts when nothing is to be kept open any more. */
  readonly retired: AbortSignal;
  open(terms: CatalogueTerms, options: { signal: AbortSignal; backoff: Backoff }): Promise<ServerLink>;
  /** A link that is everyone's is open. */
  onOpened(link: ServerLink): void;
  readonly onMessage: LinkListener;
}

export class CatalogueLinks {
  readonly #options: CatalogueLinksOptions;
  /** Of the link that list changes are heard on: how soon it is opened again, whatever ended it. */
  readonly #reopenBackoff = new StartBackoff();
  #reopening = false;

  constructor(options: CatalogueLinksOptions) {
    this.#options = options;
  }

  /**
   * Legacy servers shape their lists by what a client can do, so there is one for each set of capabilities that callers
   * declare; and one for each person where the server sees who calls.
   *
   * @param clientCapabilities normalised; `{}` is the link that is opened at boot and stays open
   * @throws GatewayError credential-refused where the server sees who calls, and nobody does
   */
  async acquire(caller: Caller | undefined, clientCapabilities: JsonObject): Promise<ServerLink> {
    const { config, pool, backoff } = this.#options;
    if (isPersonal(config)) return this.#acquirePersonal(caller, clientCapabilities);
    const key = `${CATALOGUE_KEY} ${JSON.stringify(clientCapabilities)}`;
    const isMain = key === MAIN_KEY;
    const start = async (signal: AbortSignal) => {
      const onUnsolicited = (message: ServerMessage, from: ServerLink) => this.#receive(message, from);
      const link = await this.#options.open({ clientCapabilities, onUnsolicited }, { signal, backoff });
      if (isMain) this.#keepWatch(link);
      this.#options.onOpened(link);
      return link;
    };
    return pool.acquire(key, start, { pinned: isMain });
  }

  /** The main one, everyone's or the caller's own, if it is open now. Asking starts nothing. */
  peek(caller: Caller | undefined): ServerLink | undefined {
    const { config, pool } = this.#options;
    if (!isPersonal(config)) return pool.peek(MAIN_KEY);
    return caller && pool.peek(`${MAIN_KEY} ${caller.key}`);
  }

  /**
   * Opens the main link once more, unless a call does so first, and tells that lists may have changed. Once at a time
   * however many links end meanwhile: a server that ends each of them at once would have chain after chain, and each new
   * link tells clients to list again, which takes a link.
   */
  async reopen(): Promise<void> {
    const { config, backoff, retired: signal } = this.#options;
    // Where there is a link for each person, the person's next call opens it.
    if (isPersonal(config) || this.#reopening) return;
    this.#reopening = true;
    while (!signal.aborted) {
      const now = performance.now();
      const backoffMs = Math.max(backoff.remainingMs(now), this.#reopenBackoff.remainingMs(now));
      const pauseMs = Math.max(backoffMs, REOPEN_AFTER_MS);
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      const link = signal.aborted ? undefined : await this.acquire(undefined, {}).catch(() => undefined);
      if (link?.open !== true) continue;
      for (const { method } of LIST_CHANGES) this.#receive({ jsonrpc: '2.0', method }, link);
      break;
    }
    this.#reopening = false;
  }

  async #acquirePersonal(caller: Caller | undefined, clientCapabilities: JsonObject): Promise<ServerLink> {
    if (caller === undefined) throw new GatewayError('credential-refused', { reason: 'no-caller' });
    const { pool, ownerBackoffs, retired } = this.#options;
    const { key: person } = caller;
    const key = `${CATALOGUE_KEY} ${JSON.stringify(clientCapabilities)} ${person}`;
    const start = async (signal: AbortSignal) => {
      const onUnsolicited = (message: ServerMessage, from: ServerLink) =>
        this.#receive(message, from, person);
      const backoff = ownerBackoffs.of(person);
      const terms = { clientCapabilities, caller, personal: true, onUnsolicited };
      const link = await this.#options.open(terms, { signal, backoff });
      void watchLists(link, (message) => this.#receive(message, link, person), { unwanted: retired });
      return link;
    };
    return pool.acquire(key, start, { owner: person, pinned: false });
  }

  /** Hears of list changes, and opens the link again when it ends by itself. */
  #keepWatch(link: ServerLink): void {
    const { retired } = this.#options;
    void watchLists(link, (message) => this.#receive(message, link), { unwanted: retired });
    void link.closed.then(() => {
      if (link.closing || retired.aborted) return;
      const now = performance.now();
      this.#reopenBackoff.failed(now, { uptimeMs: now - link.openedAt });
      void this.reopen();
    });
  }

  #receive(message: ServerMessage, link: ServerLink, person?: string): void {
    if (answerFixedRoots(message, link, this.#options.config)) return;
    if ('id' in message) {
      void link.respond(message.id, { error: { code: -32601, message: 'No client feature is shared here' } });
      return;
    }
    this.#options.onMessage(message, link, person);
  }
}
