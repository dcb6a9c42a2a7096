// A Redis that a test may stop, pause and reconfigure: in a container where there is an engine and an image, else the
// machine's own redis-server. Always on one port, so that clients find it again.
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { redisContainer, redisImage } from './redis-container.ts';
import { redisProcess } from './redis-process.ts';

export interface RedisSetup {
  readonly port: number;
  /** Arguments of redis-server; `folder` is where the files are. */
  arguments(folder: string): readonly string[];
  /** By name. */
  readonly files: Readonly<Record<string, string>>;
}

/** Where a redis-server runs. */
export interface RedisHost {
  start(): Promise<void>;
  /** At once, and without saving. */
  stop(): Promise<void>;
  /** Its sockets stay open, and nobody answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Idempotent, whatever state it is in. */
  close(): Promise<void>;
}

export interface TestRedis extends RedisHost, AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** A command on a connection of its own. */
  command(name: string, ...args: (string | number)[]): Promise<unknown>;
  /** Resolves when it answers commands. */
  answers(): Promise<void>;
}

export interface RedisOptions {
  readonly password?: string;
  readonly files?: RedisSetup['files'];
  /** In place of `--port`. */
  arguments?(folder: string, port: number): readonly string[];
  /** How this test itself connects, where that is not the plain port. */
  readonly connect?: { readonly tls: { readonly ca: string } };
  /** Not started yet. */
  readonly absent?: boolean;
}

const ANSWERS_WITHIN_MS = 10_000;

export async function startRedis(options: RedisOptions = {}): Promise<TestRedis> {
  const { password, connect } = options;
  const port = await freePort();
  const setup: RedisSetup = {
    port,
    files: options.files ?? {},
    arguments: (folder) => [
      ...(password === undefined ? [] : ['--requirepass', password]),
      ...(options.arguments?.(folder, port) ?? ['--port', String(port)]),
    ],
  };
  const image = await redisImage();
  const host = image === undefined ? redisProcess(setup) : redisContainer(image, setup);

  async function command(name: string, ...args: (string | number)[]): Promise<unknown> {
    const client = new Redis({
      port,
      host: '127.0.0.1',
      ...connect,
      ...(password === undefined ? {} : { password }),
      retryStrategy: () => null,
      connectTimeout: 1_000,
      // While it loads, too.
      enableReadyCheck: false,
    });
    client.on('error', () => {});
    try {
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  async function answers(): Promise<void> {
    const until = performance.now() + ANSWERS_WITHIN_MS;
    for (;;) {
      try {
        await command('GET', 'nothing');
        return;
      } catch (thrown) {
        if (performance.now() > until) throw thrown;
        await delay(10);
      }
    }
  }

  const redis: TestRedis = {
    ...host,
    url: `${connect === undefined ? 'redis' : 'rediss'}://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    port,
    command,
    answers,
    async start() {
      await host.start();
      await answers();
    },
    [Symbol.asyncDispose]: () => host.close(),
  };
  if (options.absent) return redis;
  try {
    await redis.start();
  } catch (thrown) {
    await host.close();
    throw thrown;
  }
  return redis;
}
