// `npm run bench:child`: what Portico adds to one shared child that 64 callers use at a time, against a client of a few
// lines that writes its requests into the pipe as fast as they are answered; and what an idle link of ours weighs.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { JsonObject } from '../src/protocol/json-text.ts';
import { createOutbound } from '../src/servers/http/outbound.ts';
import { transportOpener } from '../src/servers/open-transport.ts';
import { ProcessPlaces } from '../src/servers/process-places.ts';
import { Server } from '../src/servers/server.ts';
import { BufferBudget } from '../src/state/buffer-budget.ts';
import { createLogger } from '../src/telemetry/logger.ts';
import { startGateway } from '../test/support/gateway-process.ts';
import { ModernClient } from '../test/support/raw-session.ts';
import { stdioCommand } from '../test/support/sdk-server-process.ts';
import { faultyConfig, modernMeta } from '../test/support/stdio-rig.ts';
import { testCredentials } from '../test/support/test-credentials.ts';

const CALLERS = 64;
const SECONDS = 4;
const ROUNDS = 3;
const LINKS = 40;

/** Calls an SDK's server, which takes the time that servers take. */
const CHILD = stdioCommand('sdk-v2-server', 'modern');
const CALL = { name: 'echo', arguments: { text: 'hello' }, _meta: modernMeta() } as JsonObject;

type CallOnce = (caller: number) => Promise<unknown>;

/** Of this process, microseconds: what tells on a busy machine, where rates do not. */
let cpuPerCall = 0;
const rates = { direct: [] as number[], link: [] as number[], http: [] as number[] };
for (let round = 0; round < ROUNDS; round += 1) {
  rates.direct.push(await direct());
  rates.link.push(await throughLink());
  rates.http.push(await throughHttp());
}
const best = Object.fromEntries(Object.entries(rates).map(([way, all]) => [way, Math.max(...all)]));
const share = (rate = 0) => `${((rate / (best.direct ?? 1)) * 100).toFixed(0)} %`;
print(`direct ${best.direct?.toFixed(0)} calls/s`);
print(`one link ${best.link?.toFixed(0)} calls/s, ${share(best.link)}`);
print(`a call on the link takes ${cpuPerCall.toFixed(0)} us of our CPU`);
print(`over HTTP ${best.http?.toFixed(0)} calls/s, ${share(best.http)}`);
print(`an idle link weighs ${((await weightOfLink()) / 1024).toFixed(1)} kB`);

/** Best of what the others are measured by: no ids to restore, nobody to tell apart, nothing that may fail. */
async function direct(): Promise<number> {
  const child = spawn(CHILD.command, CHILD.args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...CHILD.env },
  });
  const waiting = new Map<number, () => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id } = JSON.parse(line) as { id: number };
    waiting.get(id)?.();
    waiting.delete(id);
  });
  let lastId = 0;
  const rate = await ratePerSecond(() => {
    lastId += 1;
    const id = lastId;
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(id, resolve);
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: CALL })}\n`);
    return promise;
  });
  child.stdin.end();
  return rate;
}

async function throughLink(): Promise<number> {
  const { server, close } = openServer();
  const link = await server.catalogueLink();
  const { signal } = new AbortController();
  const before = process.cpuUsage();
  let calls = 0;
  const rate = await ratePerSecond(() => {
    calls += 1;
    return link.call('tools/call', CALL, { signal });
  });
  const { user, system } = process.cpuUsage(before);
  cpuPerCall = (user + system) / calls;
  await close();
  return rate;
}

async function throughHttp(): Promise<number> {
  const config = {
    mcpServers: { one: { ...CHILD, isolation: 'shared' } },
    gateway: { log: { level: 'error' } },
  };
  await using gateway = await startGateway({ config });
  const clients = Array.from({ length: CALLERS }, () => new ModernClient(gateway.url));
  await clients[0]?.tool('echo', { text: 'warm' });
  const rate = await ratePerSecond((caller) =>
    (clients[caller] as ModernClient).tool('echo', { text: 'hello' }),
  );
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  return rate;
}

async function ratePerSecond(call: CallOnce): Promise<number> {
  let answered = 0;
  const run = async (until: number) => {
    answered = 0;
    const loop = async (caller: number) => {
      while (performance.now() < until) {
        await call(caller);
        answered += 1;
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, caller) => loop(caller)));
  };
  await run(performance.now() + 1_000);
  const startedAt = performance.now();
  await run(startedAt + SECONDS * 1_000);
  return answered / ((performance.now() - startedAt) / 1_000);
}

/** Heap and buffers of this process alone, the child's own memory left out. */
async function weightOfLink(): Promise<number> {
  const { server, close } = openServer();
  const open = (index: number) =>
    server.ownLink({ key: `${index}`, owner: `${index}`, pinned: true, clientCapabilities: {} });
  await open(-1);
  const before = held();
  for (let index = 0; index < LINKS; index += 1) await open(index);
  const weight = (held() - before) / LINKS;
  await close();
  return weight;
}

function held(): number {
  if (globalThis.gc === undefined) throw new Error('run it with --expose-gc');
  for (let i = 0; i < 3; i += 1) globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function openServer(): { server: Server; close(): Promise<void> } {
  const logger = createLogger({ level: 'silent', secrets: [], destination: { write: () => {} } });
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  const server = new Server({
    config: faultyConfig([], { ...CHILD, maxLinks: LINKS + 2, isolation: 'principal' }),
    identity: { name: 'portico', title: 'Portico', version: '0.0.0' },
    logger,
    now: () => performance.now(),
    openTransport: transportOpener({
      outbound,
      credentials: testCredentials({ outbound, logger }),
      logger,
      budget: new BufferBudget(512 * 1024 * 1024),
    }),
    places: new ProcessPlaces({ max: 1_000, maxPerPrincipal: 1_000 }),
  });
  return {
    server,
    async close() {
      await server.close();
      await outbound.close();
    },
  };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
