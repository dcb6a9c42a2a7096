// What a gateway of a test is told, but for its servers.
import type { AccessConfig } from '../../src/config/access-config.ts';
import type { GatewayConfig } from '../../src/config/config.ts';

/** Whoever signs in; a test that is about access says so. */
export const EVERYTHING_FOR_EVERYONE: AccessConfig = {
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
