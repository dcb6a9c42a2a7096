// `npm run bench:lists`: what `tools/list` over many servers costs us once their lists are known: the merged list by
// itself, and a whole request over HTTP. The clients' CPU is not counted, as they are a process of their own.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callerOf } from '../src/access/caller-of.ts';
import { ANONYMOUS, principalKey } from '../src/access/principal.ts';
import type { Config } from '../src/config/config.ts';
import { loadConfig } from '../src/config/load.ts';
import { createGateway } from '../src/gateway.ts';
import { Editions } from '../src/lifecycle/editions.ts';
import { createLastingParts } from '../src/lifecycle/lasting-parts.ts';
import { listAll } from '../src/pipeline/list-all.ts';
import type { ClientAt } from '../src/pipeline/route-on-view.ts';
import { enterView } from '../src/pipeline/view.ts';
import type { ModernRequest } from '../src/protocol/client-message.ts';
import { createLogger } from '../src/telemetry/logger.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../test/support/faulty-http-server.ts';

const SERVERS = 20;
const TOOLS = 50;
const WARM_UP = 200;
const ROUNDS = 1_000;
const VERSION = '0.0.0';

const servers = await Promise.all(Array.from({ length: SERVERS }, (_, index) => startServer(index)));
const config = await configOf(servers);
const logger = createLogger({ level: 'warn', secrets: [] });
const [list, request] = [await listCost(), await requestCost()];
await Promise.all(servers.map((server) => server.close()));
print(`tools/list over ${SERVERS} servers of ${TOOLS} tools each, all known: our CPU, median of ${ROUNDS}`);
print(`the merged list ${list.toFixed(2)} ms`);
print(`a whole request over HTTP ${request.toFixed(2)} ms`);

/** The view, each caller's rights, the names: all but the request around it and the text that is made of the answer. */
async function listCost(): Promise<number> {
  const lasting = createLastingParts({
    config,
    version: VERSION,
    logger,
    questionPatienceMs: 0,
    budget: undefined,
  });
  const editions = new Editions(config, lasting);
  const { context } = editions.current;
  const caller = callerOf(ANONYMOUS, () => undefined);
  const clientAt: ClientAt = ({ access }) => ({
    era: 'modern',
    version: '2026-07-28',
    capabilities: {},
    info: undefined,
    principal: principalKey(ANONYMOUS),
    caller,
    access,
    logLevel: undefined,
    session: undefined,
  });
  const { signal } = new AbortController();
  const asked = { era: 'modern', method: 'tools/list', params: {} } as ModernRequest;
  const cost = await medianCpuMs(async () => {
    const view = enterView(context, { view: undefined, principal: ANONYMOUS });
    const { tools } = await listAll(context, { request: asked, view, clientAt, signal });
    mustBeWhole((tools as unknown[]).length);
  });
  await editions.closeServers();
  await lasting.guardian.close();
  await editions.close();
  return cost;
}

async function requestCost(): Promise<number> {
  const gateway = await createGateway({ config, version: VERSION, logger });
  const {
    public: [url],
  } = await gateway.start();
  const client = fork(fileURLToPath(new URL('lists-client.ts', import.meta.url)), [`${url}/mcp`]);
  const cost = await medianCpuMs(async () => {
    client.send('again');
    const [count] = await once(client, 'message');
    mustBeWhole(count as number);
  });
  client.disconnect();
  await gateway.close();
  return cost;
}

/** Of this process, whatever thread spends it. */
async function medianCpuMs(run: () => Promise<void>): Promise<number> {
  for (let round = 0; round < WARM_UP; round += 1) await run();
  const costs: number[] = [];
  const asked = listsAsked();
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1_000);
  }
  if (listsAsked() > asked) throw new Error('a server was asked again: its list was not known');
  return costs.sort((a, b) => a - b)[ROUNDS / 2] ?? 0;
}

function listsAsked(): number {
  return servers.reduce((sum, server) => sum + server.requests('tools/list').length, 0);
}

function mustBeWhole(count: number): void {
  if (count !== SERVERS * TOOLS) throw new Error(`${count} tools are listed`);
}

/** Of either era in turn; each tool is about as large as those that servers have. */
function startServer(index: number): Promise<FaultyHttpServer> {
  const items = Array.from({ length: TOOLS }, (_, tool) => ({
    name: `tool_${tool}`,
    title: `Tool ${tool}`,
    description: `Does thing ${tool} of server ${index}. ${'It says at some length when to use it. '.repeat(4)}`,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where to look' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['path'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }));
  return startFaultyHttpServer({
    era: index % 2 === 0 ? 'modern' : 'legacy',
    persona: { toolPages: { '': { items } } },
  });
}

async function configOf(upstreams: readonly FaultyHttpServer[]): Promise<Config> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'));
  const file = join(folder, 'portico.yaml');
  const listen = { host: '127.0.0.1', port: 0 };
  const mcpServers = Object.fromEntries(upstreams.map(({ url }, index) => [`server-${index}`, { url }]));
  await writeFile(file, JSON.stringify({ mcpServers, gateway: { listen, admin: listen } }));
  const loaded = await loadConfig(file, { env: {} });
  await rm(folder, { recursive: true });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
