// What is printed once Portico listens: its addresses, and a block to paste into a client.
import type { Config } from '../config/config.ts';

export interface ListenAddresses {
  readonly public: readonly string[];
  readonly admin: readonly string[];
}

/** `publicUrl` is what clients use; with port 0 only the addresses know the real port. */
export function welcome({ servers, gateway }: Config, addresses: ListenAddresses): string {
  const base = gateway.listen.port === 0 ? (addresses.public[0] ?? gateway.publicUrl) : gateway.publicUrl;
  const block = JSON.stringify({ mcpServers: { portico: { type: 'http', url: `${base}/mcp` } } }, null, 2);
  const signIn =
    gateway.auth === undefined ? '' : ' (it signs in by itself, or sends an API key as its bearer token)';
  return [
    ...addresses.public.map((url) => `Portico listens on   ${url}/mcp`),
    ...addresses.admin.map((url) => `Admin listens on     ${url}`),
    ...(servers.length > 1 ? ['Each server by itself is at /mcp/{server}'] : []),
    '',
    `Paste into your MCP client${signIn}:`,
    block,
    '',
  ].join('\n');
}
