// The ways from the suite to the everything-server: direct, or through Portico to a server of one era over one
// transport. Each run has processes of its own, as scenarios change the server's lists.
import { fileURLToPath } from 'node:url';
import { startGateway } from '../support/gateway-process.ts';
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
}

const ALONE: readonly Way[] = (['legacy', 'modern'] as const).flatMap((served) =>
  (['http', 'stdio'] as const).map((over) => ({ name: `${served} ${over}`, served, over })),
);
const NOT_ALONE: Way = { name: 'modern http, not alone', served: 'modern', over: 'http', amongOthers: true };
/** A view of several servers differs in ways that the newest of each era show; more would only take time. */
const TRIED_NOT_ALONE = ['2025-11-25', '2026-07-28'];

export function waysOf({ name }: Revision): readonly Way[] {
  return TRIED_NOT_ALONE.includes(name) ? [...ALONE, NOT_ALONE] : ALONE;
}

/** Calls `use` with the URL of the everything-server itself, which serves both eras. */
export async function directly<T>(revision: Revision, use: (url: string) => Promise<T>): Promise<T> {
  await using server = await startHttpServer('everything-server');
  return await atRevision(revision, server.url, use);
}

/** Calls `use` with the URL of a Portico before an everything-server that serves one era. */
export async function throughPortico<T>(
  revision: Revision,
  { served, over, amongOthers }: Way,
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
  await using gateway = await startGateway({ config: { mcpServers } });
  return await atRevision(revision, gateway.url, use);
}

async function atRevision<T>(revision: Revision, url: string, use: (url: string) => Promise<T>): Promise<T> {
  if (!revision.viaShim) return use(url);
  await using shim = await startRevisionShim(url, revision.name);
  return await use(shim.url);
}
