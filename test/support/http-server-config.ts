import type { HttpServerConfig } from '../../src/config/config.ts';

/** The config of an HTTP server, with every limit far away. */
export function httpServerConfig(url: string, changes: Partial<HttpServerConfig> = {}): HttpServerConfig {
  return {
    type: 'http',
    slug: 'faulty',
    name: 'faulty',
    prefix: changes.slug ?? 'faulty',
    url,
    headers: {},
    tls: undefined,
    protocol: 'auto',
    isolation: 'auto',
    client: { roots: 'allow', sampling: 'allow', elicitation: 'allow' },
    startTimeoutMs: 10_000,
    callTimeoutMs: 10_000,
    maxCallTimeMs: 30_000,
    idleTimeoutMs: 60_000,
    maxLinks: 32,
    maxInFlight: 256,
    queue: { max: 1024, timeoutMs: 10_000 },
    maxMessageBytes: 1024 * 1024,
    tools: { allow: ['*'], deny: [] },
    overrides: { tools: {} },
    ...changes,
  };
}
