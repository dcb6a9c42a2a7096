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
    ...addresses.public.map((url) => `Portico listens on   ${url}/mcp`),
    ...addresses.admin.map((url) => `Admin listens on     ${url}`),
  ];
  const block = JSON.stringify({ mcpServers: Object.fromEntries(entries(servers, base)) }, null, 2);
  return `${lines.join('\n')}\n\nPaste into your MCP client:\n${block}\n`;
}

/** One endpoint where there is one server; several are reached one by one. */
function entries(servers: Config['servers'], base: string): [string, object][] {
  const single = servers.length <= 1;
  return single
    ? [['portico', { type: 'http', url: `${base}/mcp` }]]
    : servers.map(({ slug }) => [slug, { type: 'http', url: `${base}/mcp/${slug}` }]);
}
