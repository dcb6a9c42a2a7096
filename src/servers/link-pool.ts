// The open links of one server by key, each started once however many ask for it at the same time.
import { GatewayError } from '../errors.ts';
import type { ServerLink } from './server-link.ts';

export interface LinkPoolLimits {
  readonly maxLinks: number;
  readonly idleTimeoutMs: number;
}

interface Entry {
  readonly started: Promise<ServerLink>;
  link: ServerLink | undefined;
  /** Kept open although unused: a session's link lives as long as its session, the catalogue's always. */
  readonly pinned: boolean;
}

export class LinkPool {
  readonly #limits: LinkPoolLimits;
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Set<Promise<void>>();
  readonly #sweeper: NodeJS.Timeout;
  #closed = false;

  constructor(limits: LinkPoolLimits) {
    this.#limits = limits;
    const everyMs = Math.min(30_000, Math.max(100, limits.idleTimeoutMs / 2));
    this.#sweeper = setInterval(() => this.#closeIdle(), everyMs).unref();
  }

  /** The link under `key` if it is open now. */
  peek(key: string): ServerLink | undefined {
    const link = this.#entries.get(key)?.link;
    return link?.open ? link : undefined;
  }

  get links(): ServerLink[] {
    return [...this.#entries.values()].flatMap(({ link }) => (link?.open ? [link] : []));
  }

  get starting(): number {
    return [...this.#entries.values()].filter(({ link }) => link === undefined).length;
  }

  /**
   * The link under `key`, started with `start` where there is none. Late joiners share the start.
   *
   * @throws GatewayError no-capacity before anything starts when every place is taken by a link in use
   */
  acquire(key: string, start: () => Promise<ServerLink>, pinned: boolean): Promise<ServerLink> {
    const entry = this.#entries.get(key);
    if (entry !== undefined && (entry.link === undefined || entry.link.open)) return entry.started;
    if (this.#closed) return Promise.reject(new GatewayError('draining'));
    if (entry === undefined && this.#entries.size >= this.#limits.maxLinks && !this.#evictIdle()) {
      const text = 'Every connection to this server is in use; try again later';
      return Promise.reject(new GatewayError('no-capacity', { text, retryAfterMs: 5_000 }));
    }
    return this.#start(key, start, pinned);
  }

  /** Closes the link under `key`, also one that is still starting. */
  async release(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    await this.#end(entry);
  }

  /** Forgets a link that ended by itself. */
  forget(link: ServerLink): void {
    for (const [key, entry] of this.#entries) {
      if (entry.link === link) this.#entries.delete(key);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.map((entry) => this.#end(entry)));
    await Promise.all(this.#closing);
  }

  #start(key: string, start: () => Promise<ServerLink>, pinned: boolean): Promise<ServerLink> {
    const started = start();
    const entry: Entry = { started, link: undefined, pinned };
    this.#entries.set(key, entry);
    started.then(
      (link) => {
        entry.link = link;
        // It may have died, or its place been given up, between its handshake and now.
        if (!link.open && this.#entries.get(key) === entry) this.#entries.delete(key);
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return started;
  }

  #evictIdle(): boolean {
    let oldest: [string, Entry] | undefined;
    for (const candidate of this.#entries) {
      const { link, pinned } = candidate[1];
      if (pinned || link === undefined || link.inFlight > 0) continue;
      if (oldest?.[1].link === undefined || link.idleSince < oldest[1].link.idleSince) oldest = candidate;
    }
    if (oldest === undefined) return false;
    this.#closeInBackground(oldest[0], oldest[1]);
    return true;
  }

  #closeIdle(): void {
    const idleBefore = performance.now() - this.#limits.idleTimeoutMs;
    for (const [key, entry] of this.#entries) {
      const { link, pinned } = entry;
      if (pinned || link === undefined || link.inFlight > 0 || link.idleSince > idleBefore) continue;
      this.#closeInBackground(key, entry);
    }
  }

  /** Awaited by `close`, so that no child outlives the pool. */
  #closeInBackground(key: string, entry: Entry): void {
    this.#entries.delete(key);
    const closing = this.#end(entry).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #end(entry: Entry): Promise<void> {
    try {
      await (await entry.started).close();
    } catch {
      // A start that failed has closed what it opened.
    }
  }
}
