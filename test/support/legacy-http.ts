// The faulty HTTP server of the old era behind a gateway: what most tests of sessions and their streams need.
import type { TestContext } from 'node:test';
import type { GatewayConfig, HttpServerConfig } from '../../src/config/config.ts';
import {
  type FaultyHttpOptions,
  type FaultyHttpServer,
  startFaultyHttpServer,
} from './faulty-http-server.ts';
import { type StartedGateway, type StartOptions, startGateway } from './start-gateway.ts';

export interface HttpBehind {
  readonly gateway: StartedGateway;
  readonly server: FaultyHttpServer;
}

export interface BehindOptions extends FaultyHttpOptions {
  readonly config?: Partial<HttpServerConfig>;
  readonly gateway?: Partial<GatewayConfig>;
  readonly overrides?: StartOptions['overrides'];
}

/** Both are closed when the test is over. */
export async function legacyHttpBehind(t: TestContext, options: BehindOptions = {}): Promise<HttpBehind> {
  const { config, gateway: changes, overrides, ...serverOptions } = options;
  const server = await startFaultyHttpServer({ era: 'legacy', ...serverOptions });
  const gateway = await startGateway({
    http: { url: server.url, ...config },
    ...(changes && { gateway: changes }),
    ...(overrides && { overrides }),
  });
  t.after(async () => {
    await gateway.close();
    await server.close();
  });
  return { gateway, server };
}

/** Limits of sessions, far away but for what the test says. */
export function sessionLimits(
  changes: Partial<GatewayConfig['sessions']> = {},
): Pick<GatewayConfig, 'sessions'> {
  const replay = { bytes: 1024 * 1024, forMs: 60_000 };
  const far = { idleTimeoutMs: 60_000, maxAgeMs: 600_000, max: 1_000, maxPerPrincipal: 1_000 };
  return { sessions: { ...far, replay, ...changes } };
}
