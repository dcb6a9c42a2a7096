// What is printed once Portico listens: its addresses, and a block to paste into a client.
import type { Config } from '../config/config.ts';

export interface ListenAddresses {
  readonly public: readonly string[];
  readonly admin: readonly string[];
}

/** `publicUrl` is what clients use; with port 0 only the addresses know the real port. */
export function welcome({ servers, gateway }: Config, addresses: ListenAddresses): string {
  const base = gateway.listen.port === 0 ? (addresses.public[0] ?? gateway.publicUrl) : gateway.publicUrl;
  // One endpoint where there is one server; several are reached one by one.
  const isSingle = servers.length <= 1;
  const entries = isSingle
    ? [['portico', entry(`${base}/mcp`)]]
    : servers.map(({ slug }) => [slug, entry(`${base}/mcp/${slug}`)]);
  const block = JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2);
  const signIn =
    gateway.auth === undefined ? '' : ' (it signs in by itself, or sends an API key as its bearer token)';
  return [
    ...addresses.public.map((url) => `Portico listens on   ${url}/mcp`),
    ...addresses.admin.map((url) => `Admin listens on     ${url}`),
    ...(isSingle ? [] : ['Each server is at      /mcp/{server}; all of them as one are not available yet']),
    '',
    `Paste into your MCP client${signIn}:`,
    block,
    '',
  ].join('\n');
}

function entry(url: string): { type: 'http'; url: string } {
  return { type: 'http', url };
}
