// `npm run bench:sessions`: what 10,000 idle sessions of the older revisions weigh, in the process that owns them and in
// Redis: sessions that were opened and nothing more, and sessions that have called a server over HTTP once. Arguments:
// how many, and words that choose rows by their text, as `10000 opened Redis`.
import { fileURLToPath } from 'node:url';
import { type FaultyHttpServer, startFaultyHttpServer } from '../test/support/faulty-http-server.ts';
import { freePort } from '../test/support/free-port.ts';
import { type GatewayProcess, startOneGateway } from '../test/support/gateway-process.ts';
import { openSession } from '../test/support/raw-session.ts';
import { startRedis, type TestRedis } from '../test/support/redis.ts';

const REPORTS = fileURLToPath(new URL('../test/support/memory-reports.ts', import.meta.url));
const SESSIONS = Number(process.argv[2] ?? 10_000);
/** Opened before anything is measured: what a process allocates once is no session's. */
const WARM_UP = 500;
const AT_ONCE = 32;

interface Held {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  /** Of Redis; 0 without. */
  readonly redis: number;
}

interface Kind {
  readonly calls: boolean;
  readonly shared: boolean;
}

const words = process.argv.slice(3);
const heads = [`${SESSIONS} sessions`, 'kept in', 'heap', 'resident', 'Redis'];
for (const row of [heads, heads.map(() => '---')]) print(row);
for (const calls of [false, true]) {
  for (const shared of [false, true]) {
    const kind = { calls, shared };
    if (words.every((word) => namesOf(kind).includes(word))) print(await weigh(kind));
  }
}

function print(row: readonly string[]): void {
  process.stdout.write(`| ${row.join(' | ')} |\n`);
}

function namesOf({ calls, shared }: Kind): [string, string] {
  return [calls ? 'called' : 'opened', shared ? 'Redis' : 'process'];
}

async function weigh(kind: Kind): Promise<string[]> {
  const { calls, shared } = kind;
  await using server = disposable(await startFaultyHttpServer({ era: 'legacy', getStream: false }));
  await using redis = shared ? await startRedis() : undefined;
  await using gateway = await start(server.url, redis);
  await open(gateway, server, { count: WARM_UP, calls });
  const before = await held(gateway, redis);
  await open(gateway, server, { count: SESSIONS, calls });
  const after = await held(gateway, redis);
  const each = (what: keyof Held) => `${((after[what] - before[what]) / SESSIONS / 1_000).toFixed(2)} kB`;
  return [...namesOf(kind), each('heapUsed'), each('rss'), shared ? each('redis') : ''];
}

async function start(url: string, redis: TestRedis | undefined): Promise<GatewayProcess> {
  const port = await freePort();
  const secret = 'a secret of the benchmark, of 32 characters and more';
  const replica = { listen: { host: '127.0.0.1', port }, url: `http://127.0.0.1:${port}`, secret };
  const max = 2 * (SESSIONS + WARM_UP);
  return startOneGateway({
    config: {
      mcpServers: { web: { url } },
      gateway: {
        sessions: { max, maxPerPrincipal: max, idleTimeout: '2h' },
        log: { level: 'error' },
        ...(redis === undefined ? {} : { redis: { url: redis.url, timeout: '2s' }, replica }),
      },
    },
    env: { NODE_OPTIONS: `--expose-gc --import=${REPORTS}` },
  });
}

async function open(
  { url }: GatewayProcess,
  server: FaultyHttpServer,
  { count, calls }: { readonly count: number; readonly calls: boolean },
): Promise<void> {
  let left = count;
  const openOn = async () => {
    while (left > 0) {
      left -= 1;
      await using session = await openSession(url);
      if (calls) await session.tool('echo', { text: 'once' });
      // It would remember every request of ours, in this process.
      server.received.length = 0;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, openOn));
}

async function held(gateway: GatewayProcess, redis: TestRedis | undefined): Promise<Held> {
  const reports = () => [...gateway.log().matchAll(/^held (.*)$/gm)];
  const count = reports().length;
  gateway.signal('SIGUSR2');
  while (reports().length === count) await new Promise((resolve) => setTimeout(resolve, 20));
  const info = redis === undefined ? '' : String(await redis.command('INFO', 'memory'));
  const used = Number(/^used_memory_dataset:(\d+)/m.exec(info)?.[1] ?? 0);
  const overhead = Number(/^used_memory_overhead:(\d+)/m.exec(info)?.[1] ?? 0);
  return { ...(JSON.parse(reports().at(-1)?.[1] ?? '') as Held), redis: used + overhead };
}

function disposable(server: FaultyHttpServer): FaultyHttpServer & AsyncDisposable {
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}
