// What is printed once Portico listens: its addresses, and a block to paste into a client.
import type { Config } from '../config/config.ts';

export interface ListenAddresses {
  readonly public: readonly string[];
  readonly admin: readonly string[];
}

/** `publicUrl` is what clients use; with port 0 only the addresses know the real port. */
export function welcome({ servers, gateway }: Config, addresses: ListenAddresses): string {
  const base = gateway.listen.port === 0 ? (addresses.public[0] ?? gateway.publicUrl) : gateway.publicUrl;
  const lines = [
    ...addresses.public.flatMap((url) =>
      pathsOf(servers).map((path) => `Portico listens on   ${url}${path}`),
    ),
    ...addresses.admin.map((url) => `Admin listens on     ${url}`),
  ];
  const entries = pathsOf(servers).map((path) => [
    path.slice('/mcp/'.length) || 'portico',
    { type: 'http', url: base + path },
  ]);
  const block = JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2);
  const signIn =
    gateway.auth === undefined
      ? ''
      : 'It signs in by itself, or sends an API key as "Authorization: Bearer ...".\n';
  return `${lines.join('\n')}\n\nPaste into your MCP client:\n${block}\n${signIn}`;
}

/** One endpoint where there is one server; several are reached one by one. */
function pathsOf(servers: Config['servers']): string[] {
  return servers.length <= 1 ? ['/mcp'] : servers.map(({ slug }) => `/mcp/${slug}`);
}
