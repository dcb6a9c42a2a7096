// The config of a gateway in a test's own process, made of what the test speaks of.
import type { AccessConfig } from '../../src/config/access-config.ts';
import type {
  GatewayConfig,
  HttpServerConfig,
  ServerConfig,
  StdioServerConfig,
} from '../../src/config/config.ts';
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

/** Whoever signs in; a test that is about access says so. */
const EVERYTHING_FOR_EVERYONE: AccessConfig = {
  rules: [
    {
      name: 'everyone',
      when: { groups: [], scopes: [], subjects: [], clients: [], issuers: [] },
      allow: ['*'],
      deny: [],
      if: undefined,
    },
  ],
  scopes: {},
  scopeImplies: {},
};

/** @param folder where the children run */
export function serversOf({ stdio, http, servers }: RigServers, folder: string): ServerConfig[] {
  const { switches = [], ...changes } = stdio ?? {};
  const built = servers ?? [
    ...(stdio === undefined ? [] : [faultyConfig(switches, changes)]),
    ...(http === undefined ? [] : [httpServerConfig(http.url, http)]),
  ];
  return built.map((server) => (server.type === 'stdio' ? { ...server, cwd: folder } : server));
}

/** Limits far away, clocks short: what a test does not speak of must not get in its way. */
export function gatewayConfig(changes: Partial<GatewayConfig>): GatewayConfig {
  const loopback = { host: '127.0.0.1', port: 0 };
  return {
    listen: { ...loopback, tls: undefined },
    admin: { ...loopback, hosts: [], token: undefined },
    publicUrl: 'http://127.0.0.1',
    insecure: false,
    auth: undefined,
    access: EVERYTHING_FOR_EVERYONE,
    limits: [],
    redis: undefined,
    replica: undefined,
    audit: undefined,
    trustedProxies: [],
    origins: [],
    hosts: [],
    bodyLimitBytes: 4 * 1024 * 1024,
    maxBufferedBytes: 512 * 1024 * 1024,
    sessions: {
      idleTimeoutMs: 60_000,
      maxAgeMs: 600_000,
      max: 1_000,
      maxPerPrincipal: 1_000,
      replay: { bytes: 1024 * 1024, forMs: 60_000 },
    },
    streams: { maxPerPrincipal: 1_000 },
    processes: { max: 1_000, maxPerPrincipal: 1_000 },
    parked: { timeoutMs: 60_000, max: 100, maxPerPrincipal: 100 },
    names: 'auto',
    pins: undefined,
    lists: { timeoutMs: 10_000, staleForMs: 300_000, ttlMs: 30_000 },
    toolsets: {},
    outbound: { proxy: undefined, noProxy: [], ca: undefined },
    drain: { delayMs: 0, graceMs: 500 },
    log: { level: 'debug' },
    ...changes,
  };
}
