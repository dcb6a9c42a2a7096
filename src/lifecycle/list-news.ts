// Word of changed lists between replicas: what a server says to one of them may be news to the clients of another. What
// came from another is told on, and never published again.
import { isLinkOf } from '../bridge/choose-link.ts';
import type { LinkHubs } from '../bridge/listening/link-hub.ts';
import type { ServerCatalogue } from '../federation/server-catalogue.ts';
import { LIST_CHANGES } from '../protocol/list-changes.ts';
import type { ReplicaEvent, Replicas } from '../replicas/replicas.ts';
import type { Server } from '../servers/server.ts';

export type ListChanged = Extract<ReplicaEvent, { kind: 'list-changed' }>;

export interface ListNewsOptions {
  readonly replicas: Pick<Replicas, 'publish'>;
  readonly catalogue: Pick<ServerCatalogue, 'noteListChanged' | 'tell'>;
  readonly hubs: Pick<LinkHubs, 'announce'>;
  readonly timing?: Partial<ListNewsTiming>;
}

interface ListNewsTiming {
  /** A server that says it again and again is published at once, and then this often. */
  readonly gatherMs: number;
  /** A server that tells every replica has told this one too by then, and its clients hear of it once. */
  readonly patienceMs: number;
}

const TIMING: ListNewsTiming = { gatherMs: 100, patienceMs: 400 };
const METHODS: ReadonlySet<string> = new Set(LIST_CHANGES.map(({ method }) => method));

export class ListNews {
  readonly #options: ListNewsOptions;
  readonly #timing: ListNewsTiming;
  /** By what has changed: waits to be published, was heard here a moment ago, waits to be told. */
  readonly #due = new Map<string, NodeJS.Timeout>();
  /** What was said again since it was published. */
  readonly #again = new Set<string>();
  readonly #known = new Map<string, NodeJS.Timeout>();
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  constructor(options: ListNewsOptions) {
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
  }

  /** A server has said it here. */
  publish({ server, method, person }: Omit<ListChanged, 'kind'>): void {
    if (!METHODS.has(method)) return;
    const event: ListChanged = { kind: 'list-changed', server, method, person };
    const key = keyOf(event);
    this.#cancel(this.#waiting, key);
    this.#cancel(this.#known, key);
    this.#after(this.#known, key, this.#timing.patienceMs, () => {});
    if (this.#due.has(key)) this.#again.add(key);
    else this.#publishNow(event, key);
  }

  /** At once: its clients hear of it now, and may ask another replica next. */
  #publishNow(event: ListChanged, key: string): void {
    this.#options.replicas.publish(event);
    this.#after(this.#due, key, this.#timing.gatherMs, () => {
      if (this.#again.delete(key)) this.#publishNow(event, key);
    });
  }

  /** Another replica has heard it. @param servers those that there are by then, by slug */
  receive(event: ListChanged, servers: () => ReadonlyMap<string, Server>): void {
    const key = keyOf(event);
    if (!METHODS.has(event.method) || this.#known.has(key)) return;
    // Clients hear of it later; what they list meanwhile is read anew.
    const server = servers().get(event.server);
    for (const link of server?.links ?? []) this.#options.catalogue.noteListChanged(link, event.method);
    if (this.#waiting.has(key)) return;
    this.#after(this.#waiting, key, this.#timing.patienceMs, () => this.#tell(event, servers()));
  }

  close(): void {
    for (const timers of [this.#due, this.#known, this.#waiting]) {
      for (const key of [...timers.keys()]) this.#cancel(timers, key);
    }
  }

  #after(timers: Map<string, NodeJS.Timeout>, key: string, ms: number, run: () => void): void {
    const onTime = () => {
      timers.delete(key);
      run();
    };
    timers.set(key, setTimeout(onTime, ms).unref());
  }

  #tell({ server: slug, method, person }: ListChanged, servers: ReadonlyMap<string, Server>): void {
    const { catalogue, hubs } = this.#options;
    const server = servers.get(slug);
    if (server === undefined) return;
    const message = { jsonrpc: '2.0', method } as const;
    if (person !== undefined) hubs.announce(message, (owner) => isLinkOf(owner, server, person));
    // Where links are not persons', what one's own link has said is for nobody else of them.
    if (person !== undefined && !server.personal) return;
    server.announce(message, person);
    catalogue.tell(server, method, person);
  }

  #cancel(timers: Map<string, NodeJS.Timeout>, key: string): void {
    clearTimeout(timers.get(key));
    timers.delete(key);
  }
}

function keyOf({ server, method, person }: ListChanged): string {
  return JSON.stringify([server, method, person]);
}
