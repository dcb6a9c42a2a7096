// The store that replicas share, in Redis.
import { randomUUID } from 'node:crypto';
import type { Redis, Result } from 'ioredis';
import { RedisConnection, type RedisConnectionOptions } from './redis-connection.ts';
import { ANNOUNCE, ANNOUNCE_REPLICA, TAKE, TAKE_UP_TO } from './redis-scripts.ts';
import { CREATE_SESSION, REMOVE_SESSION, REPLACE_SESSION, TOUCH_SESSION } from './session-scripts.ts';
import type { Grant, Store, Take, TakeOutcome } from './store.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    take(keyCount: number, ...keysAndArguments: (string | number)[]): Result<[number, number], Context>;
    takeUpTo(key: string, amount: number, max: number, windowMs: number): Result<[number, number], Context>;
    announce(key: string, replica: string, countsForMs: number): Result<number, Context>;
  }
}

export type RedisStoreOptions = Omit<RedisConnectionOptions, 'scripts' | 'probe'>;

const REPLICAS = 'replicas';
/** A replica that has not been heard for this long is gone: two announcements may be lost. */
const COUNTS_FOR_MS = 15_000;

const SCRIPTS = {
  take: { lua: TAKE },
  takeUpTo: { lua: TAKE_UP_TO, numberOfKeys: 1 },
  announce: { lua: ANNOUNCE, numberOfKeys: 1 },
  announceReplica: { lua: ANNOUNCE_REPLICA, numberOfKeys: 1 },
  createSession: { lua: CREATE_SESSION, numberOfKeys: 3 },
  touchSession: { lua: TOUCH_SESSION, numberOfKeys: 3 },
  replaceSession: { lua: REPLACE_SESSION, numberOfKeys: 1 },
  removeSession: { lua: REMOVE_SESSION, numberOfKeys: 3 },
};

export class RedisStore implements Store {
  /** One for all that is kept in Redis, as what is away is away for all of it. */
  readonly connection: RedisConnection;
  readonly #replica = randomUUID();
  #replicas = 1;

  constructor(options: RedisStoreOptions) {
    this.connection = new RedisConnection({
      ...options,
      scripts: SCRIPTS,
      probe: (client) => this.#announce(client),
    });
  }

  get available(): boolean {
    return this.connection.available;
  }

  get replicas(): number {
    return this.#replicas;
  }

  open(): Promise<void> {
    return this.connection.open();
  }

  close(): Promise<void> {
    return this.connection.close((client) => client.zrem(REPLICAS, this.#replica));
  }

  async take(takes: readonly Take[]): Promise<TakeOutcome> {
    const keys = takes.map(({ key }) => key);
    const amounts = takes.flatMap(({ amount, max, windowMs }) => [amount, max, windowMs]);
    const [refused, retryAfterMs] = await this.connection.ask((client) =>
      client.take(keys.length, ...keys, ...amounts),
    );
    return refused === 0 ? { taken: true } : { taken: false, refused: refused - 1, retryAfterMs };
  }

  async takeUpTo({ key, amount, max, windowMs }: Take): Promise<Grant> {
    const [granted, endsInMs] = await this.connection.ask((client) =>
      client.takeUpTo(key, amount, max, windowMs),
    );
    return { amount: granted, endsInMs };
  }

  async #announce(client: Redis): Promise<void> {
    this.#replicas = await client.announce(REPLICAS, this.#replica, COUNTS_FOR_MS);
  }
}
