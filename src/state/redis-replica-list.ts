// Where replicas that share a Redis say that they are there, each in a text of its own that is not looked into here.
import type { Result } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    announceReplica(key: string, text: string, countsForMs: number, max: number): Result<string[], Context>;
  }
}

export interface AnnouncedText {
  readonly text: string;
  /** When it was last said, by the clock of Redis. */
  readonly saidAt: number;
}

const LIST = 'replicas:live';
/** No more are read, whoever has written them. */
const MAX_REPLICAS = 1_000;

export class RedisReplicaList {
  readonly #connection: RedisConnection;
  readonly #countsForMs: number;
  #announced: string | undefined;

  constructor(connection: RedisConnection, countsForMs: number) {
    this.#connection = connection;
    this.#countsForMs = countsForMs;
  }

  /**
   * Says that this one is there. @returns what all have said lately, the latest first
   *
   * @throws StoreUnavailable
   */
  async announce(text: string): Promise<AnnouncedText[]> {
    const before = this.#announced;
    this.#announced = text;
    const flat = await this.#connection.ask(async (client) => {
      if (before !== undefined && before !== text) await client.zrem(LIST, before);
      return client.announceReplica(LIST, text, this.#countsForMs, MAX_REPLICAS);
    });
    return announcedIn(flat);
  }

  /**
   * Only listens. @returns as `announce`
   *
   * @throws StoreUnavailable
   */
  async read(): Promise<AnnouncedText[]> {
    const [flat, [seconds]] = await this.#connection.ask((client) =>
      Promise.all([client.zrevrange(LIST, 0, MAX_REPLICAS - 1, 'WITHSCORES'), client.time()]),
    );
    const since = Number(seconds) * 1_000 - this.#countsForMs;
    return announcedIn(flat).filter(({ saidAt }) => saidAt > since);
  }

  /** @throws StoreUnavailable */
  async withdraw(): Promise<void> {
    const text = this.#announced;
    if (text !== undefined) await this.#connection.ask((client) => client.zrem(LIST, text));
  }
}

/** Texts and times in turn. */
function announcedIn(flat: readonly string[]): AnnouncedText[] {
  const announced: AnnouncedText[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    announced.push({ text: flat[at] ?? '', saidAt: Number(flat[at + 1]) });
  }
  return announced;
}
