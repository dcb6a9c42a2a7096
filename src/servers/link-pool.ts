// The open links of one server by key, each started once however many ask for it at the same time.
import { GatewayError } from '../errors.ts';
import type { PlaceHolder, ProcessPlace, ProcessPlaces } from './process-places.ts';
import type { ServerLink } from './server-link.ts';

export interface LinkPoolOptions {
  readonly idleTimeoutMs: number;
  /** Where each link is a process; one over HTTP is a few objects. */
  readonly processes?: { readonly places: ProcessPlaces; readonly max: number };
}

interface Entry {
  readonly started: Promise<ServerLink>;
  /** Breaks the start off; once the link is open it means nothing. */
  readonly starting: AbortController;
  link: ServerLink | undefined;
  readonly hold: LinkHold;
  readonly place: ProcessPlace | undefined;
}

export type LinkState = 'starting' | 'idle' | 'busy' | 'spare';

/** Who a link is for, and how it is held. */
export interface LinkHold {
  /** The principal; undefined where it is everyone's. */
  readonly owner?: string;
  /** Kept open although unused: a session's link lives as long as its session, the catalogue's always. */
  readonly pinned: boolean;
  /** Nobody's yet: kept open, but the first to give way, and never in the way of another. */
  readonly spare?: boolean;
  /**
   * Asked of a pinned link that is idle when there is no place for another: true gives it up, and whoever held it has
   * seen to what that means. Without it the link never gives way.
   */
  giveWay?(): boolean;
}

/** Of a retired pool: whoever has been given a link and has yet to call is faster than this. */
const RETIRED_IDLE_MS = 500;
const RETIRED_SWEEP_MS = 100;

export class LinkPool {
  readonly #options: LinkPoolOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Set<Promise<void>>();
  /** Links that ended by themselves, until what they leave (a process group, a last call) is gone too. */
  readonly #ended = new Set<ServerLink>();
  readonly #emptied = Promise.withResolvers<void>();
  #sweeper: NodeJS.Timeout;
  #closed = false;
  #retired = false;
  #awaited = false;

  constructor(options: LinkPoolOptions) {
    this.#options = options;
    const everyMs = Math.min(30_000, Math.max(100, options.idleTimeoutMs / 2));
    this.#sweeper = setInterval(() => this.#sweep(), everyMs).unref();
  }

  /** The link under `key` if it is open now. */
  peek(key: string): ServerLink | undefined {
    const link = this.#entries.get(key)?.link;
    return link?.open ? link : undefined;
  }

  get links(): ServerLink[] {
    return [...this.#entries.values()].flatMap(({ link }) => (link?.open ? [link] : []));
  }

  get linksByState(): Readonly<Record<LinkState, number>> {
    const counts = { starting: 0, idle: 0, busy: 0, spare: 0 };
    for (const { link, hold } of this.#entries.values()) {
      if (link === undefined) counts.starting += 1;
      else if (!link.open) continue;
      else if (hold.spare) counts.spare += 1;
      else counts[link.idle ? 'idle' : 'busy'] += 1;
    }
    return counts;
  }

  get starting(): number {
    return this.linksByState.starting;
  }

  /**
   * The link under `key`, started with `start` where there is none. Late joiners share the start.
   *
   * @throws GatewayError no-capacity before anything starts when every place is taken by a link in use
   */
  async acquire(
    key: string,
    start: (signal: AbortSignal) => Promise<ServerLink>,
    hold: LinkHold,
  ): Promise<ServerLink> {
    const entry = this.#entries.get(key);
    if (entry !== undefined && (entry.link === undefined || entry.link.open)) return entry.started;
    if (this.#closed) throw new GatewayError('draining');
    if (entry !== undefined) this.#drop(key, entry);
    return this.#start(key, start, hold);
  }

  /** Whether a link is open, or being opened, under `key`. */
  has(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && (entry.link === undefined || entry.link.open);
  }

  /**
   * Moves an open link to another key, and to whom it is for from now on. Undefined where it is not open any more.
   *
   * @throws GatewayError no-capacity when that one may have no more
   */
  handOver(from: string, to: string, hold: LinkHold): Promise<ServerLink> | undefined {
    const entry = this.#entries.get(from);
    if (this.#closed || entry?.link?.open !== true || this.has(to)) return undefined;
    const holder = this.#holder(to, hold);
    if (entry.place !== undefined && holder !== undefined) {
      this.#options.processes?.places.handOver(entry.place, holder);
    }
    this.#entries.delete(from);
    this.#entries.set(to, { ...entry, hold });
    return entry.started;
  }

  /** Closes the link under `key`; a start that is under way is broken off. */
  async release(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#drop(key, entry);
    const because = new GatewayError('server-unavailable', { reason: 'closed' });
    await this.#end(entry, because);
  }

  /** The same for every key. */
  async releaseAll(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((key) => this.release(key)));
  }

  /** Gives up the place of a link that ended by itself. Its calls settle by themselves. */
  forget(link: ServerLink): void {
    for (const [key, entry] of this.#entries) {
      if (entry.link === link) this.#drop(key, entry);
    }
    this.#ended.add(link);
  }

  /** Whatever holds a link's place, each is closed once its calls are over. Links may still be asked for. */
  retire(): void {
    if (this.#retired || this.#closed) return;
    this.#retired = true;
    clearInterval(this.#sweeper);
    this.#sweeper = setInterval(() => this.#sweep(), RETIRED_SWEEP_MS).unref();
  }

  /** For a retired pool that nobody asks for links any more: breaks off starts; resolves when no link is left. */
  emptied(): Promise<void> {
    this.#awaited = true;
    for (const { link, starting } of this.#entries.values()) {
      if (link === undefined) starting.abort(new GatewayError('server-unavailable', { reason: 'closed' }));
    }
    this.#sweep();
    return this.#emptied.promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#emptied.resolve();
    clearInterval(this.#sweeper);
    const entries = [...this.#entries.values()];
    for (const [key, entry] of [...this.#entries]) this.#drop(key, entry);
    const because = new GatewayError('draining');
    await Promise.all([
      ...entries.map((entry) => this.#end(entry, because)),
      ...[...this.#ended].map((link) => link.close()),
      ...this.#closing,
    ]);
    this.#ended.clear();
  }

  #start(
    key: string,
    start: (signal: AbortSignal) => Promise<ServerLink>,
    hold: LinkHold,
  ): Promise<ServerLink> {
    const starting = new AbortController();
    const holder = this.#holder(key, hold);
    const place = holder && this.#options.processes?.places.take(holder);
    const started = startIn(place, start, starting.signal);
    const entry: Entry = { started, starting, link: undefined, hold, place };
    this.#entries.set(key, entry);
    started.then(
      (link) => {
        entry.link = link;
        // It may have died, or its place been given up, between its handshake and now.
        if (!link.open && this.#entries.get(key) === entry) this.#drop(key, entry);
      },
      () => {
        if (this.#entries.get(key) === entry) this.#drop(key, entry);
      },
    );
    return started;
  }

  #holder(key: string, { owner, pinned, spare = false, giveWay }: LinkHold): PlaceHolder | undefined {
    const { processes } = this.#options;
    if (processes === undefined) return undefined;
    return {
      server: this,
      maxOfServer: processes.max,
      owner,
      pinned,
      spare,
      idleSince: () => {
        const link = this.#entries.get(key)?.link;
        return link?.idle ? link.idleSince : undefined;
      },
      letGo: () => {
        const entry = this.#entries.get(key);
        if (entry === undefined) return false;
        if (pinned && !this.#retired && giveWay?.() !== true) return false;
        // Its holder may have closed it already.
        if (this.#entries.get(key) === entry) this.#closeInBackground(key, entry);
        return true;
      },
    };
  }

  #sweep(): void {
    for (const link of this.#ended) {
      if (!link.idle) continue;
      this.#ended.delete(link);
      this.#trackClosing(link.close());
    }
    const idleBefore = performance.now() - (this.#retired ? RETIRED_IDLE_MS : this.#options.idleTimeoutMs);
    for (const [key, entry] of this.#entries) {
      const { link, hold } = entry;
      const isKept = (hold.pinned || hold.spare) && !this.#retired;
      if (isKept || link === undefined || !link.idle || link.idleSince > idleBefore) continue;
      this.#closeInBackground(key, entry);
    }
    if (this.#awaited && this.#entries.size === 0 && this.#closing.size === 0) this.#emptied.resolve();
  }

  /** From here on the key is free for another; the place is not, as long as there is a process. */
  #drop(key: string, entry: Entry): void {
    this.#entries.delete(key);
    entry.place?.leave();
    // One that is going by itself and has not said so yet.
    if (entry.link?.open === false) this.#ended.add(entry.link);
  }

  #closeInBackground(key: string, entry: Entry): void {
    this.#drop(key, entry);
    this.#trackClosing(this.#end(entry, undefined));
  }

  /** Awaited by `close`, so that no child outlives the pool. */
  #trackClosing(closed: Promise<void>): void {
    const closing = closed.catch(() => {}).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #end(entry: Entry, because: GatewayError | undefined): Promise<void> {
    entry.starting.abort(because);
    try {
      await (await entry.started).close();
    } catch {
      // A start that failed has closed what it opened.
    }
  }
}

/** The place is given back once nothing is left of the link, however it ended, or of the start that failed. */
async function startIn(
  place: ProcessPlace | undefined,
  start: (signal: AbortSignal) => Promise<ServerLink>,
  signal: AbortSignal,
): Promise<ServerLink> {
  try {
    if (place?.waiting) await place.ready(signal);
    const link = await start(signal);
    // A place is a process, which counts until it is gone. Over HTTP calls in flight outlive the end: the sweep closes.
    if (place !== undefined) void link.closed.then(() => link.close()).finally(() => place.free());
    return link;
  } catch (thrown) {
    place?.free();
    throw thrown;
  }
}
