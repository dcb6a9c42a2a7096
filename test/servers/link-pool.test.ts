import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openHttpTransport } from '../../src/servers/http/http-transport.ts';
import { createOutbound } from '../../src/servers/http/outbound.ts';
import { LinkPool } from '../../src/servers/link-pool.ts';
import { ProcessPlaces } from '../../src/servers/process-places.ts';
import { LinkInbox, ServerLink } from '../../src/servers/server-link.ts';
import { startStdioTransport } from '../../src/servers/stdio/stdio-transport.ts';
import type { ServerTransport } from '../../src/servers/transport.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { failure } from '../support/http-rig.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { FAULTY_SERVER, faultyConfig, modernMeta, QUICK_STOP } from '../support/stdio-rig.ts';

interface PoolRig {
  readonly pool: LinkPool;
  /** A link to a real server; it speaks no word before its first call. */
  link(): ServerLink;
  linkOver(transport: ServerTransport, inbox: LinkInbox): ServerLink;
  /** A start that the test lets go on. */
  start(): Start;
}
interface Start {
  readonly run: (signal: AbortSignal) => Promise<ServerLink>;
  readonly signals: AbortSignal[];
  finish(): ServerLink;
  fail(error: Error): void;
}

interface PoolLimits {
  readonly max: number;
  readonly idleTimeoutMs: number;
  readonly idleEnoughMs: number;
}

async function openPool(t: TestContext, limits: Partial<PoolLimits> = {}): Promise<PoolRig> {
  const { max, idleTimeoutMs, idleEnoughMs } = {
    max: 2,
    idleTimeoutMs: 60_000,
    idleEnoughMs: 10_000,
    ...limits,
  };
  const server = await startFaultyHttpServer({ era: 'modern' });
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  const logger = createLogger({ level: 'silent', secrets: [], destination: { write: () => {} } });
  const config = httpServerConfig(server.url);
  const budget = new BufferBudget(Number.POSITIVE_INFINITY);
  const places = new ProcessPlaces({ max: 100, maxPerPrincipal: 100, idleEnoughMs });
  const pool = new LinkPool({ idleTimeoutMs, processes: { places, max } });
  t.after(async () => {
    await pool.close();
    await outbound.close();
    await server.close();
  });
  const link = () => {
    const inbox = new LinkInbox();
    return linkOver(openHttpTransport(config, { events: inbox, outbound, logger, budget }), inbox);
  };
  const linkOver: PoolRig['linkOver'] = (transport, inbox) =>
    new ServerLink({
      transport,
      peer: {
        era: 'modern',
        version: '2026-07-28',
        serverInfo: undefined,
        capabilities: {},
        instructions: undefined,
      },
      identity: { name: 'portico', title: 'Portico', version: '1' },
      limits: config,
      inbox,
      onClosed: (ended) => pool.forget(ended),
    });
  const start = () => {
    const { promise, resolve, reject } = Promise.withResolvers<ServerLink>();
    const signals: AbortSignal[] = [];
    const run = (signal: AbortSignal) => {
      signals.push(signal);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      return promise;
    };
    const finish = () => {
      const opened = link();
      resolve(opened);
      return opened;
    };
    return { run, signals, finish, fail: reject };
  };
  return { pool, link, linkOver, start };
}

test('F12: whoever asks while a link starts shares the one start', async (t) => {
  const { pool, start } = await openPool(t);
  const one = start();
  const callers = [1, 2, 3].map(() => pool.acquire('a', one.run, { pinned: false }));
  assert.equal(pool.starting, 1);
  const opened = one.finish();
  assert.deepEqual(await Promise.all(callers), [opened, opened, opened]);
  assert.equal(one.signals.length, 1);
  assert.equal(await pool.acquire('a', one.run, { pinned: false }), opened);
  assert.equal(pool.peek('a'), opened);
  assert.equal(pool.starting, 0);
});

test('a start that fails is told to all who wait, and tried again by the next', async (t) => {
  const { pool, start } = await openPool(t);
  const bad = start();
  const callers = [
    pool.acquire('a', bad.run, { pinned: false }),
    pool.acquire('a', bad.run, { pinned: false }),
  ];
  bad.fail(new Error('no'));
  for (const caller of callers) await assert.rejects(caller, /no/);
  const good = start();
  const retried = pool.acquire('a', good.run, { pinned: false });
  const opened = good.finish();
  assert.equal(await retried, opened);
});

test('F12: a release breaks a start off, and a link that comes of it all the same is closed', async (t) => {
  const { pool, link } = await openPool(t);
  const late = Promise.withResolvers<ServerLink>();
  let broken: AbortSignal | undefined;
  const starting = pool.acquire(
    'session',
    (signal) => {
      broken = signal;
      return late.promise;
    },
    { pinned: true },
  );
  const released = pool.release('session');
  assert.equal(broken?.aborted, true);
  assert.equal(pool.peek('session'), undefined);
  const opened = link();
  late.resolve(opened);
  await released;
  assert.equal((await starting).open, false, 'nobody is left with a link that nobody will close');
});

test('F12: the next start after a release is a new one, and the old one cannot take its place', async (t) => {
  const { pool, link, start } = await openPool(t);
  const old = Promise.withResolvers<ServerLink>();
  const abandoned = pool.acquire('a', () => old.promise, { pinned: false });
  const released = pool.release('a');
  const fresh = start();
  const acquired = pool.acquire('a', fresh.run, { pinned: false });
  const opened = fresh.finish();
  assert.equal(await acquired, opened);
  old.resolve(link());
  await released;
  await abandoned;
  assert.equal(pool.peek('a'), opened);
  assert.equal(opened.open, true);
});

test('closing the pool breaks off what starts, and refuses who comes', async (t) => {
  const { pool, start } = await openPool(t);
  const one = start();
  const starting = pool.acquire('a', one.run, { pinned: false });
  await Promise.all([pool.close(), assert.rejects(starting, failure('draining'))]);
  await assert.rejects(pool.acquire('b', start().run, { pinned: false }), failure('draining'));
});

test('a link that died makes room for another under its key', async (t) => {
  const { pool, start } = await openPool(t);
  const first = start();
  const opened = pool.acquire('a', first.run, { pinned: true });
  const dead = first.finish();
  await opened;
  await dead.close();
  assert.equal(pool.peek('a'), undefined);
  const second = start();
  const again = pool.acquire('a', second.run, { pinned: true });
  const alive = second.finish();
  assert.equal(await again, alive);
});

test('closing the pool waits for a link that was on its way out when another took its key', async (t) => {
  const { pool, link, linkOver } = await openPool(t);
  const inbox = new LinkInbox();
  // The server outlives its wrapper and holds the pipe, which is read to its end before the link says that it is gone.
  const args = ['-c', '"$0" "$@"; exit $?', process.execPath, FAULTY_SERVER, '--ignore-eof'];
  const transport = await startStdioTransport(faultyConfig([], { command: '/bin/sh', args }), {
    events: inbox,
    logger: createLogger({ level: 'silent', secrets: [], destination: { write: () => {} } }),
    budget: new BufferBudget(Number.POSITIVE_INFINITY),
    timings: { ...QUICK_STOP, outputDrainMs: 60_000 },
  });
  const leaving = await pool.acquire('a', async () => linkOver(transport, inbox), { pinned: false });
  await leaving.ownCall('tools/list', {}, new AbortController());
  process.kill(transport.pid, 'SIGKILL');
  await eventually('the wrapper is gone', () => !leaving.open);
  const left: string[] = [];
  void leaving.closed.then(() => left.push('leaving'));
  await pool.acquire('a', async () => link(), { pinned: false });
  await pool.close();
  assert.deepEqual(left, ['leaving']);
});

test('at the cap an idle link gives way; a pinned or a busy one does not', async (t) => {
  const { pool, start } = await openPool(t);
  const open = async (key: string, pinned: boolean) => {
    const starting = start();
    const opened = pool.acquire(key, starting.run, { pinned });
    starting.finish();
    return opened;
  };
  await open('pinned', true);
  const idle = await open('idle', false);
  const busy = await open('busy', false);
  assert.equal(idle.open, false, 'it gave way');
  const abort = new AbortController();
  const params = { name: 'never', arguments: {}, _meta: modernMeta() };
  const calling = busy.call('tools/call', params, { signal: abort.signal });
  await assert.rejects(open('one more', false), failure('no-capacity'));
  abort.abort(new Error('enough'));
  await assert.rejects(calling, /enough/);
  const last = await open('one more', false);
  assert.equal(busy.open, false);
  assert.equal(last.open, true);
});

test('at the cap a held link gives way where its holder lets go, the one idle longest first', async (t) => {
  const { pool, start } = await openPool(t, { idleEnoughMs: 0 });
  const asked: string[] = [];
  const open = async (key: string, lets: boolean) => {
    const starting = start();
    const giveWay = () => {
      asked.push(key);
      return lets;
    };
    const opened = pool.acquire(key, starting.run, { pinned: true, giveWay });
    starting.finish();
    return opened;
  };
  const kept = await open('kept', false);
  const given = await open('given', true);
  const next = await open('next', true);
  assert.deepEqual(asked, ['kept', 'given']);
  assert.deepEqual([kept.open, given.open, next.open], [true, false, true]);
});

test('a held link that was used a moment ago is not asked for', async (t) => {
  const { pool, start } = await openPool(t, { max: 1 });
  const starting = start();
  const opened = pool.acquire('held', starting.run, { pinned: true, giveWay: () => assert.fail('asked') });
  starting.finish();
  await opened;
  await assert.rejects(pool.acquire('other', start().run, { pinned: true }), failure('no-capacity'));
});

test('an unused link is closed after its time, a pinned one never', async (t) => {
  const { pool, start } = await openPool(t, { idleTimeoutMs: 50 });
  const starts = [start(), start()] as const;
  const opened = [
    pool.acquire('pinned', starts[0].run, { pinned: true }),
    pool.acquire('idle', starts[1].run, { pinned: false }),
  ];
  for (const one of starts) one.finish();
  const [pinned, idle] = await Promise.all(opened);
  while (idle?.open) await delay(10);
  assert.equal(pinned?.open, true);
});
