// The ways from the suite to the everything-server: direct, or through Portico to a server of one era over one
// transport. Each run has processes of its own, as scenarios change the server's lists.
import { startGateway } from '../support/gateway-process.ts';
import { startHttpServer, stdioCommand } from '../support/sdk-server-process.ts';
import { startRevisionShim } from './revision-shim.ts';
import type { Revision } from './revisions.ts';

export interface Way {
  /** As written in the table and in README.md. */
  readonly name: string;
  readonly served: 'modern' | 'legacy';
  readonly over: 'http' | 'stdio';
}

export const WAYS: readonly Way[] = (['legacy', 'modern'] as const).flatMap((served) =>
  (['http', 'stdio'] as const).map((over) => ({ name: `${served} ${over}`, served, over })),
);

/** Calls `use` with the URL of the everything-server itself, which serves both eras. */
export async function directly<T>(revision: Revision, use: (url: string) => Promise<T>): Promise<T> {
  await using server = await startHttpServer('everything-server');
  return await atRevision(revision, server.url, use);
}

/** Calls `use` with the URL of a Portico before an everything-server that serves one era. */
export async function throughPortico<T>(
  revision: Revision,
  { served, over }: Way,
  use: (url: string) => Promise<T>,
): Promise<T> {
  await using server =
    over === 'http' ? await startHttpServer('everything-server', { era: served }) : undefined;
  const upstream = server ? { url: server.url } : stdioCommand('everything-server', served);
  // A stdio server is not told a client's roots unless its config says so, and the suite asks for them.
  const everything = { ...upstream, client: { roots: 'allow' } };
  await using gateway = await startGateway({ config: { mcpServers: { everything } } });
  return await atRevision(revision, gateway.url, use);
}

async function atRevision<T>(revision: Revision, url: string, use: (url: string) => Promise<T>): Promise<T> {
  if (!revision.viaShim) return use(url);
  await using shim = await startRevisionShim(url, revision.name);
  return await use(shim.url);
}
