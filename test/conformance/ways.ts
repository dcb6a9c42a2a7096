// The ways from the suite to the everything-server: direct, or through Portico to a server of one era over one
// transport. Each run has processes of its own, as scenarios change the server's lists.
import { fileURLToPath } from 'node:url';
import { type GatewayProcess, startGateway, startOneGateway } from '../support/gateway-process.ts';
import { startRedis } from '../support/redis.ts';
import { startReplicaProcesses } from '../support/replica-processes.ts';
import { startHttpServer, stdioCommand } from '../support/sdk-server-process.ts';
import { startRevisionShim } from './revision-shim.ts';
import type { Revision } from './revisions.ts';

const THINKING = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
);

export interface Way {
  /** As written in the table and in README.md. */
  readonly name: string;
  readonly served: 'modern' | 'legacy';
  readonly over: 'http' | 'stdio';
  /** On the view of several servers, with one besides it that npm has. */
  readonly amongOthers?: true;
  /** Through a balancer that takes a new connection for each request. */
  readonly replicas?: number;
}

const ALONE: readonly Way[] = (['legacy', 'modern'] as const).flatMap((served) =>
  (['http', 'stdio'] as const).map((over) => ({ name: `${served} ${over}`, served, over })),
);
const NOT_ALONE: Way = { name: 'modern http, not alone', served: 'modern', over: 'http', amongOthers: true };
const REPLICATED: readonly Way[] = ALONE.map((way) => ({
  ...way,
  name: `${way.name}, 2 replicas`,
  replicas: 2,
}));
/** In these the newest of each era show all that differs; more would only take time. */
const TRIED_IN_ALL_WAYS = ['2025-11-25', '2026-07-28'];

export function waysOf({ name }: Revision): readonly Way[] {
  return TRIED_IN_ALL_WAYS.includes(name) ? [...ALONE, NOT_ALONE, ...REPLICATED] : ALONE;
}

/** Calls `use` with the URL of the everything-server itself, which serves both eras. */
export async function directly<T>(revision: Revision, use: (url: string) => Promise<T>): Promise<T> {
  await using server = await startHttpServer('everything-server');
  return await atRevision(revision, server.url, use);
}

/** Calls `use` with the URL of a Portico before an everything-server that serves one era. */
export async function throughPortico<T>(
  revision: Revision,
  { served, over, amongOthers, replicas }: Way,
  use: (url: string) => Promise<T>,
): Promise<T> {
  await using server =
    over === 'http' ? await startHttpServer('everything-server', { era: served }) : undefined;
  const upstream = server ? { url: server.url } : stdioCommand('everything-server', served);
  // A stdio server is not told a client's roots unless its config says so, and the suite asks for them.
  const everything = { ...upstream, client: { roots: 'allow' } };
  const mcpServers = amongOthers
    ? { everything: { ...everything, prefix: '' }, thinking: { command: process.execPath, args: [THINKING] } }
    : { everything };
  await using redis = replicas === undefined ? undefined : await startRedis();
  await using gateway = await startPortico(mcpServers, redis && { count: replicas ?? 1, url: redis.url });
  return await atRevision(revision, gateway.url, use);
}

function startPortico(
  mcpServers: Readonly<Record<string, unknown>>,
  replicas: { readonly count: number; readonly url: string } | undefined,
): Promise<GatewayProcess> {
  if (replicas === undefined) return startGateway({ config: { mcpServers } });
  const { count, url } = replicas;
  // A machine that runs all of this at once is slow at times, and 5031 would be told of it.
  const redis = { url, timeout: '10s' };
  return startReplicaProcesses({ config: { mcpServers }, count, redis, start: startOneGateway });
}

async function atRevision<T>(revision: Revision, url: string, use: (url: string) => Promise<T>): Promise<T> {
  if (!revision.viaShim) return use(url);
  await using shim = await startRevisionShim(url, revision.name);
  return await use(shim.url);
}
