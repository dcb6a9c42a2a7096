// One connection to Redis that nobody waits for long: every answer is due within a time; after two failures in a row
// nothing is asked any more until a probe of our own has succeeded. It connects, and comes back, by itself.
import { getCACertificates } from 'node:tls';
import type { CommonRedisOptions, Redis, RedisOptions } from 'ioredis';
import type { Logger } from '../telemetry/logger.ts';
import { answerWithin } from './answer-within.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { connected, disconnected, redisClient } from './redis-client.ts';
import { ForeignValue, StoreUnavailable } from './store.ts';

export interface RedisConnectionOptions {
  /** redis:// or rediss://, with its credentials. */
  readonly url: string;
  readonly keyPrefix: string;
  /** Longest wait for an answer. */
  readonly timeoutMs: number;
  /** PEM text of authorities to trust besides the public ones. */
  readonly ca?: string | undefined;
  readonly logger: Logger;
  readonly scripts: NonNullable<CommonRedisOptions['scripts']>;
  /** Asked now and then while all is well, often while it is not. It has to write: a replica that reads is no use. */
  probe(client: Redis): Promise<void>;
}

const FAILURES_TO_OPEN = 2;
const PROBE_EVERY_MS = 5_000;
const PROBE_WHILE_DOWN_MS = 250;
const CONNECT_TIMEOUT_MS = 500;
/** A connection on which commands wait and nothing comes at all is given up for a new one. */
const DEAD_SOCKET_MS = 2_000;
const DISCONNECT_TIMEOUT_MS = 100;
const MAX_RECONNECT_DELAY_MS = 500;
/** How the client says that there is none; why there is none, it has said before. */
const NO_CONNECTION = "Stream isn't writeable";

export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  readonly #client: Redis;
  readonly #breaker = new CircuitBreaker(FAILURES_TO_OPEN, { open: true });
  readonly #opened = Promise.withResolvers<void>();
  #probeTimer: NodeJS.Timeout | undefined;
  #probing = false;
  #probedAt = Number.NEGATIVE_INFINITY;
  #hasSaidDown = false;
  /** What last went wrong, in words. */
  #trouble: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
    this.#client = new (redisClient())(options.url, {
      ...redisClientOptions(options),
      scripts: options.scripts,
    });
    // Whatever fails on the connection also fails the command or the probe that waits on it.
    this.#client.on('error', (error: Error) => {
      this.#trouble = error.message;
      this.#opened.resolve();
    });
    this.#client.on('ready', () => {
      // A server that lets us in and then refuses would have us run in circles.
      this.#probeSoon(Math.max(0, this.#probedAt + PROBE_WHILE_DOWN_MS - performance.now()));
    });
  }

  get available(): boolean {
    return !this.#breaker.isOpen;
  }

  /** Connects. Resolves when the first answer is there, or when it has become plain that it will take longer. */
  async open(): Promise<void> {
    await connected(this.#client, this.#opened.promise);
    if (this.#closing === undefined && !this.available) this.#sayDown();
  }

  /** @throws StoreUnavailable, at once where it is known that asking is no use; ForeignValue */
  async ask<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    if (this.#breaker.isOpen)
      throw new StoreUnavailable('Redis is not asked while it does not answer', this.#trouble);
    try {
      const answer = await this.#answer(command);
      this.#breaker.succeeded();
      return answer;
    } catch (thrown) {
      if (isForeignValue(thrown)) {
        this.#breaker.succeeded();
        throw new ForeignValue(thrown);
      }
      if (this.#breaker.failed()) this.#sayDown();
      this.#probeSoon(PROBE_WHILE_DOWN_MS);
      throw new StoreUnavailable('Redis did not answer', thrown);
    }
  }

  /** @param last what is still to be said, if it can be said in time */
  close(last: (client: Redis) => Promise<unknown>): Promise<void> {
    this.#closing ??= this.#close(last);
    return this.#closing;
  }

  async #close(last: (client: Redis) => Promise<unknown>): Promise<void> {
    clearTimeout(this.#probeTimer);
    this.#opened.resolve();
    if (this.available) await this.#answer(last).catch(() => {});
    await disconnected(this.#client);
  }

  async #answer<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    const { timeoutMs } = this.#options;
    const late = () => new Error(`no answer within ${timeoutMs} ms`);
    try {
      return await answerWithin(command(this.#client), timeoutMs, late);
    } catch (thrown) {
      if (thrown instanceof Error && !thrown.message.startsWith(NO_CONNECTION))
        this.#trouble = thrown.message;
      throw thrown;
    }
  }

  #probeSoon(afterMs: number): void {
    if (this.#probing || this.#closing !== undefined) return;
    clearTimeout(this.#probeTimer);
    this.#probeTimer = setTimeout(() => void this.#probe(), afterMs);
    this.#probeTimer.unref();
  }

  async #probe(): Promise<void> {
    this.#probing = true;
    this.#probedAt = performance.now();
    let failed = false;
    try {
      await this.#answer((client) => this.#options.probe(client));
      if (this.#breaker.probed()) this.#sayUp();
    } catch {
      failed = true;
      if (this.#breaker.failed()) this.#sayDown();
    } finally {
      this.#probing = false;
      this.#probeSoon(failed ? PROBE_WHILE_DOWN_MS : PROBE_EVERY_MS);
    }
  }

  #sayUp(): void {
    this.#trouble = undefined;
    this.#opened.resolve();
    if (this.#hasSaidDown) this.#options.logger.info('Redis answers again');
    this.#hasSaidDown = false;
  }

  /** In words alone: the error itself may carry its command, and that a password. */
  #sayDown(): void {
    if (this.#hasSaidDown) return;
    this.#hasSaidDown = true;
    this.#options.logger.warn(
      { error: this.#trouble },
      'Redis does not answer; what needs it makes do without',
    );
  }
}

/** Redis has answered; from a script it says more before the word in older versions. */
function isForeignValue(thrown: unknown): boolean {
  return thrown instanceof Error && /\bWRONGTYPE\b/.test(thrown.message);
}

/** How every connection behaves: it connects by itself, keeps nothing for later and notices a dead socket. */
export function redisClientOptions({
  keyPrefix,
  ca,
  url,
}: Pick<RedisConnectionOptions, 'url' | 'keyPrefix' | 'ca'>) {
  return {
    keyPrefix,
    lazyConnect: true,
    // A user of Redis who may do no more than needed would be refused it, each time.
    disableClientInfo: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    socketTimeout: DEAD_SOCKET_MS,
    // Nothing is kept for later, and nothing is sent twice: whoever waited has gone on by then.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt: number) => Math.min(50 * attempt, MAX_RECONNECT_DELAY_MS),
    // After a failover the old primary refuses writes; a new connection finds the new one.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    ...(url.startsWith('rediss:') && ca !== undefined
      ? { tls: { ca: [...getCACertificates('default'), ca] } }
      : {}),
  } satisfies RedisOptions;
}
