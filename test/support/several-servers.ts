// Several faulty HTTP servers, of either era in turn, behind one gateway; closed when the test is over.
import type { TestContext } from 'node:test';
import type { GatewayConfig, HttpServerConfig } from '../../src/config/config.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from './faulty-http-server.ts';
import { httpServerConfig } from './http-server-config.ts';
import type { Members } from './raw-client.ts';
import { type StartedGateway, startGateway } from './start-gateway.ts';

export const tool = (name: string, more: Members = {}): Members => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

export interface SeveralOptions {
  /** By slug: the era of each, in order. */
  readonly servers: Readonly<Record<string, 'modern' | 'legacy'>>;
  readonly configs?: Readonly<Record<string, Partial<HttpServerConfig>>>;
  readonly gateway?: Partial<GatewayConfig>;
  /** Done before the gateway starts. */
  prepare?(servers: Readonly<Record<string, FaultyHttpServer>>): void | Promise<void>;
}

export interface Several {
  readonly gateway: StartedGateway;
  at(slug: string): FaultyHttpServer;
}

/** Each has the tools `echo`, `headers` and one that is named for it. */
export async function startSeveral(t: TestContext, options: SeveralOptions): Promise<Several> {
  const { configs = {}, gateway: changes = {} } = options;
  const started = await Promise.all(
    Object.entries(options.servers).map(async ([slug, era]) => {
      const items = [tool('echo'), tool('ask'), tool('headers'), tool(`only-${slug}`)];
      const persona = { name: slug, toolPages: { '': { items } } };
      return [slug, await startFaultyHttpServer({ era, persona })] as const;
    }),
  );
  const servers = Object.fromEntries(started);
  await options.prepare?.(servers);
  const gateway = await startGateway({
    servers: started.map(([slug, { url }]) => httpServerConfig(url, { slug, name: slug, ...configs[slug] })),
    gateway: changes,
  });
  t.after(async () => {
    try {
      await gateway.close();
    } finally {
      await Promise.all(started.map(([, server]) => server.close()));
    }
  });
  return { gateway, at: (slug) => servers[slug] as FaultyHttpServer };
}
