// The servers behind a gateway in a test's own process, made of what the test speaks of.
import type { HttpServerConfig, ServerConfig, StdioServerConfig } from '../../src/config/config.ts';
import { httpServerConfig } from './http-server-config.ts';
import { faultyConfig } from './stdio-rig.ts';

export interface RigServers {
  /** The faulty stdio server with these switches, and what else differs in its config. */
  readonly stdio?: { readonly switches?: readonly string[] } & Partial<StdioServerConfig>;
  /** A server over HTTP at this URL, and what else differs in its config. */
  readonly http?: { readonly url: string } & Partial<HttpServerConfig>;
  /** Any servers, in place of the two above; a child's `cwd` is always a folder of the gateway's own. */
  readonly servers?: readonly ServerConfig[];
}

/** @param folder where the children run */
export function serversOf({ stdio, http, servers }: RigServers, folder: string): ServerConfig[] {
  const { switches = [], ...changes } = stdio ?? {};
  const built = servers ?? [
    ...(stdio === undefined ? [] : [faultyConfig(switches, changes)]),
    ...(http === undefined ? [] : [httpServerConfig(http.url, http)]),
  ];
  return built.map((server) => (server.type === 'stdio' ? { ...server, cwd: folder } : server));
}
