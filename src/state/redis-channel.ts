// News among all that share a Redis (pub/sub). Best effort: what is said while Redis is away, or while somebody does not
// listen, is lost. It listens on a connection of its own, which comes back by itself.
import type { Redis } from 'ioredis';
import { connected, disconnected, redisClient } from './redis-client.ts';
import { type RedisConnection, type RedisConnectionOptions, redisClientOptions } from './redis-connection.ts';

export interface RedisChannelOptions extends Pick<RedisConnectionOptions, 'url' | 'keyPrefix' | 'ca'> {
  readonly name: string;
  /** What is said goes out on it. */
  readonly connection: RedisConnection;
  onMessage(text: string): void;
  /** It listens, for the first time or again: what was said before may have been missed. */
  onListening?(): void;
}

/** A connection that nobody says anything on may be gone without a word. */
const PING_EVERY_MS = 5_000;

export class RedisChannel {
  readonly #client: Redis;
  readonly #channel: string;
  readonly #connection: RedisConnection;
  readonly #opened = Promise.withResolvers<void>();
  readonly #onListening: () => void;
  #pinger: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: RedisChannelOptions) {
    this.#channel = `${options.keyPrefix}${options.name}`;
    this.#connection = options.connection;
    this.#onListening = () => options.onListening?.();
    this.#client = new (redisClient())(options.url, {
      ...redisClientOptions(options),
      autoResubscribe: false,
    });
    // Why there is no connection, the one for everything else says.
    this.#client.on('error', () => this.#opened.resolve());
    this.#client.on('ready', () => void this.#subscribe());
    this.#client.on('message', (_channel: string, text: string) => options.onMessage(text));
  }

  /** Connects. Resolves when it listens, or when it has become plain that it will take longer. Never rejects. */
  async open(): Promise<void> {
    // What gets no answer in time is given up for a new connection (socketTimeout).
    this.#pinger = setInterval(() => void this.#client.ping().catch(() => {}), PING_EVERY_MS);
    this.#pinger.unref();
    await connected(this.#client, this.#opened.promise);
  }

  /** Never throws. */
  async say(text: string): Promise<void> {
    await this.#connection.ask((client) => client.publish(this.#channel, text)).catch(() => {});
  }

  /** Idempotent, never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #subscribe(): Promise<void> {
    const isListening = await this.#client.subscribe(this.#channel).then(
      () => true,
      () => false,
    );
    this.#opened.resolve();
    if (isListening) this.#onListening();
  }

  async #close(): Promise<void> {
    clearInterval(this.#pinger);
    this.#opened.resolve();
    await disconnected(this.#client);
  }
}
