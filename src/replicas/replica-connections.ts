// Connections to other replicas, kept open between messages: one pool a replica for calls, and one for streams, which
// stay for hours and would make a call look through thousands of busy connections for a free one.
import { createSecureContext, getCACertificates } from 'node:tls';
import { buildConnector, type Dispatcher, Pool } from 'undici';

export interface ReplicaConnectionsOptions {
  readonly connectTimeoutMs: number;
  /** How long a replica may say nothing, not even that it is there, while an answer is due. */
  readonly silenceMs: number;
  /** PEM text of authorities to trust besides the public ones, where replicas are reached over https. */
  readonly ca: string | undefined;
}

export class ReplicaConnections {
  readonly #options: ReplicaConnectionsOptions;
  readonly #connect: buildConnector.connector;
  readonly #pools = new Map<string, Pool>();

  constructor(options: ReplicaConnectionsOptions) {
    this.#options = options;
    const { ca, connectTimeoutMs } = options;
    this.#connect = buildConnector({
      timeout: connectTimeoutMs,
      allowH2: false,
      ...(ca === undefined
        ? {}
        : { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ca] }) }),
    });
  }

  to(url: string, use: 'calls' | 'streams'): Dispatcher {
    const key = `${use} ${url}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const { silenceMs } = this.#options;
    const pool = new Pool(url, {
      connect: this.#connect,
      // As many as there are messages on their way: each of them stands for a connection of a client.
      connections: null,
      pipelining: 1,
      allowH2: false,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
    });
    this.#pools.set(key, pool);
    return pool;
  }

  /** Lets go of replicas that are no more, once what still runs there has ended. */
  keepOnly(urls: ReadonlySet<string>): void {
    for (const [key, pool] of this.#pools) {
      if (urls.has(key.slice(key.indexOf(' ') + 1))) continue;
      this.#pools.delete(key);
      pool.close().catch(() => {});
    }
  }

  /** Breaks whatever is still open. Idempotent. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}
