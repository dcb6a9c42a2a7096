// The edition that holds now, and those before it for as long as anything of theirs still runs.
import { isDeepStrictEqual } from 'node:util';
import type { Config, HttpServerConfig, ServerConfig } from '../config/config.ts';
import { reviewTools } from '../federation/tool-shapes.ts';
import type { Server } from '../servers/server.ts';
import { Edition } from './edition.ts';
import type { LastingParts } from './lasting-parts.ts';

const TOOLS_CHANGED = 'notifications/tools/list_changed';

export class Editions {
  readonly #lasting: LastingParts;
  readonly #before = new Map<Edition, Promise<void>>();
  #current: Edition;

  constructor(config: Config, lasting: LastingParts) {
    this.#lasting = lasting;
    this.#current = new Edition({ config, lasting, current: () => this.#current.context });
    for (const server of this.#current.context.servers.values()) this.#follow(server);
  }

  get current(): Edition {
    return this.#current;
  }

  /** Exchanges that are not over, whichever config they began with. */
  get running(): number {
    return this.#live.reduce((sum, { running }) => sum + running, 0);
  }

  /** Servers that a config before had, and that still finish something. */
  get retiring(): readonly Server[] {
    const live = new Set(this.#current.context.servers.values());
    return this.#servers().filter((server) => !live.has(server));
  }

  /**
   * Puts a new config in the place of the current one, at once for everything that begins from here on.
   *
   * @throws Error where nothing can be made of the config; then nothing has changed
   */
  replace(config: Config): Edition {
    const before = this.#current;
    const current = () => this.#current.context;
    const next = new Edition({ config, lasting: this.#lasting, current, before });
    for (const server of next.context.servers.values()) {
      if (before.context.servers.get(server.slug) !== server) this.#follow(server);
    }
    this.#current = next;
    return before;
  }

  /** Lets go of an edition that was replaced, as far as the current one has not taken it over. */
  retire(before: Edition): void {
    if (before.authenticator !== this.#current.authenticator) before.authenticator.close();
    const kept = new Set(this.#current.context.servers.values());
    for (const server of before.context.servers.values()) {
      if (!kept.has(server)) server.retire();
    }
    this.#before.set(
      before,
      before.replaced().then(() => this.#giveUp(before)),
    );
  }

  /** Ends the links of all servers; idempotent. */
  async closeServers(): Promise<void> {
    await Promise.all(this.#servers().map((server) => server.close()));
  }

  async close(): Promise<void> {
    await this.closeServers();
    const editions = this.#live;
    for (const { authenticator } of editions) authenticator.close();
    await Promise.all(editions.map(({ outbound }) => outbound.close()));
  }

  async #giveUp(before: Edition): Promise<void> {
    const others = this.#live.filter((edition) => edition !== before);
    const kept = new Set(others.flatMap(serversOf));
    await Promise.all(serversOf(before).map((server) => (kept.has(server) ? undefined : server.end())));
    this.#before.delete(before);
    if (this.#live.some(({ outbound }) => outbound === before.outbound)) {
      await this.#releaseConnections(before);
    } else {
      await before.outbound.close();
    }
  }

  /** A server that changed may use the connections of before. */
  async #releaseConnections(before: Edition): Promise<void> {
    const used = this.#servers().map(({ config }) => connectionsOf(config));
    const unused = before.config.servers.filter(
      (server) =>
        server.type !== 'stdio' && !used.some((known) => isDeepStrictEqual(known, connectionsOf(server))),
    );
    await Promise.all(unused.map((server) => before.outbound.release(server as HttpServerConfig)));
  }

  get #live(): Edition[] {
    return [this.#current, ...this.#before.keys()];
  }

  #servers(): Server[] {
    return [...new Set(this.#live.flatMap(serversOf))];
  }

  #follow(server: Server): void {
    this.#lasting.catalogue.follow(server);
    this.#lasting.bridge.lanes.follow(server);
    server.onCatalogueMessage(({ method }, _link, person) => {
      this.#lasting.news?.publish({ server: server.slug, method, person });
    });
    server.onSharedMessage(({ method }) => {
      const { servers, shapes, catalogue } = this.#current.context;
      if (method !== TOOLS_CHANGED || servers.get(server.slug) !== server) return;
      void reviewTools(server, shapes.of(server.slug), catalogue);
    });
  }
}

function serversOf({ context }: Edition): Server[] {
  return [...context.servers.values()];
}

/** What makes connections differ. */
function connectionsOf(server: ServerConfig): unknown {
  return server.type === 'stdio' ? undefined : [server.slug, server.tls];
}
