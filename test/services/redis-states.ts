// Every way in which Redis falls ill in the field, and how it gets well again.
import { eventually } from '../support/eventually.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type SlowProxy, startSlowProxy } from '../support/slow-proxy.ts';

export interface SickRedis extends AsyncDisposable {
  readonly redis: TestRedis;
  readonly proxy: SlowProxy;
  /** While it loads what it holds. */
  loading: Promise<unknown> | undefined;
}

export interface RedisState {
  readonly name: string;
  /** Where the gateway is told that Redis is; by default at its own port. */
  url?(at: SickRedis): string;
  break(at: SickRedis): Promise<unknown>;
  mend(at: SickRedis): Promise<unknown>;
  /** How long it takes at most until it is asked again; by default two seconds. */
  readonly backWithinMs?: number;
  /** It is broken before the gateway starts. */
  readonly fromStart?: true;
  /** It has never been away. */
  readonly isHarmless?: true;
  /** It is back already, and perhaps before anybody has asked for it. */
  readonly isOver?: true;
  /** It answers who reads, so that its illness is noticed by who writes. */
  readonly isReadable?: true;
  /** When it is back, what was in it is gone. */
  readonly isEmptied?: true;
}

/** How many keys it has to load, and how long each takes: longer than a test looks at it. */
const LOADED_KEYS = 2_000;
const SLOW_KEY_US = 20_000;

export async function startSickRedis(): Promise<SickRedis> {
  const redis = await startRedis({
    arguments: (_folder, port) => [
      ...['--port', String(port)],
      ...['--user', 'portico', 'on', '>right', '~*', '&*', '+@all'],
      ...['--enable-debug-command', 'yes', '--loading-process-events-interval-bytes', '1024'],
    ],
  });
  const proxy = await startSlowProxy(redis.port);
  return {
    redis,
    proxy,
    loading: undefined,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await redis.close();
    },
  };
}

export function urlOf(state: RedisState, at: SickRedis): string {
  return state.url?.(at) ?? at.redis.url;
}

const stop = ({ redis }: SickRedis) => redis.stop();
const start = ({ redis }: SickRedis) => redis.start();
const throughProxy = ({ proxy }: SickRedis) => `redis://127.0.0.1:${proxy.port}`;
const nothing = async () => {};

export const REDIS_STATES: readonly RedisState[] = [
  { name: 'absent at start', break: stop, mend: start, fromStart: true, isEmptied: true },
  { name: 'refused', break: stop, mend: start, isEmptied: true },
  { name: 'paused', break: ({ redis }) => redis.pause(), mend: ({ redis }) => redis.resume() },
  {
    name: 'black hole',
    // A connection on which nothing comes is given up after two seconds.
    backWithinMs: 4_000,
    url: throughProxy,
    async break({ proxy }) {
      proxy.swallow(true);
    },
    async mend({ proxy }) {
      proxy.swallow(false);
    },
  },
  {
    name: '300 ms slow',
    url: throughProxy,
    async break({ proxy }) {
      proxy.delayMs = 300;
    },
    async mend({ proxy }) {
      proxy.delayMs = 0;
    },
  },
  {
    ...{ name: 'READONLY', isReadable: true },
    break: ({ redis }) => redis.command('REPLICAOF', '127.0.0.1', '1'),
    mend: ({ redis }) => redis.command('REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'LOADING',
    async break(at) {
      await at.redis.command('DEBUG', 'POPULATE', LOADED_KEYS, 'nobody-reads');
      await at.redis.command('CONFIG', 'SET', 'key-load-delay', SLOW_KEY_US);
      at.loading = at.redis.command('DEBUG', 'RELOAD');
      await eventually('it loads', () => at.redis.command('GET', 'x').then(() => false, isLoading));
    },
    async mend({ redis, loading }) {
      await redis.command('CONFIG', 'SET', 'key-load-delay', 0);
      await loading;
    },
  },
  {
    name: 'auth failure',
    url: ({ redis }) => `redis://portico:right@127.0.0.1:${redis.port}`,
    async break({ redis }) {
      await redis.command('ACL', 'SETUSER', 'portico', 'resetpass', '>wrong');
      await redis.command('CLIENT', 'KILL', 'USER', 'portico');
    },
    mend: ({ redis }) => redis.command('ACL', 'SETUSER', 'portico', 'resetpass', '>right'),
  },
  {
    ...{ name: 'flushed', isHarmless: true, isEmptied: true },
    async break({ redis }) {
      await redis.command('FLUSHALL');
      await redis.command('SCRIPT', 'FLUSH');
    },
    mend: nothing,
  },
  {
    ...{ name: 'restarted', isOver: true, isEmptied: true },
    async break({ redis }) {
      await redis.stop();
      await redis.start();
    },
    mend: nothing,
  },
];

function isLoading(thrown: unknown): boolean {
  return String(thrown).includes('LOADING');
}
