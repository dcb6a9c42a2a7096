// A modern client with features, and a legacy server that asks, over either wire. Closed when the test is over.
import type { TestContext } from 'node:test';
import type { GatewayConfig, ServerConfig } from '../../src/config/config.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from './faulty-http-server.ts';
import type { Message } from './raw-client.ts';
import { ModernClient } from './raw-session.ts';
import { type StartedGateway, type StartOptions, startGateway } from './start-gateway.ts';

export const CAPABILITIES = { elicitation: {}, roots: {} };

export interface AskingOptions {
  readonly config?: Partial<Pick<ServerConfig, 'client' | 'queue' | 'callTimeoutMs'>>;
  readonly switches?: readonly string[];
  readonly gateway?: Partial<GatewayConfig>;
  readonly overrides?: StartOptions['overrides'];
}

export interface AskingServer {
  readonly gateway: StartedGateway;
  readonly client: ModernClient;
  readonly server?: FaultyHttpServer;
}

export async function askingServer(
  t: TestContext,
  wire: 'stdio' | 'http',
  options: AskingOptions = {},
): Promise<AskingServer> {
  const { config, switches = [], gateway: changes = {}, overrides } = options;
  const server = wire === 'http' ? await startFaultyHttpServer({ era: 'legacy' }) : undefined;
  const gateway = await startGateway({
    ...(server
      ? { http: { url: server.url, ...config } }
      : { stdio: { switches: ['--era=legacy', ...switches], ...config } }),
    gateway: changes,
    ...(overrides && { overrides }),
  });
  const client = new ModernClient(gateway.url, { capabilities: CAPABILITIES });
  t.after(async () => {
    await client[Symbol.asyncDispose]();
    await gateway.close();
    await server?.close();
  });
  return { gateway, client, ...(server && { server }) };
}

/** Every frame that the client's own child has had. */
export async function received(client: ModernClient): Promise<Message[]> {
  return JSON.parse(await client.tool('received')) as Message[];
}

export async function untilReceived(client: ModernClient, method: string): Promise<void> {
  while (!(await received(client)).some((frame) => frame.method === method)) await new Promise(setImmediate);
}
