// The demo of sign-in in a test's own process, where a test can change who is in which group, and the keys.
import { dirname, resolve } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { DEMO_CONFIG, type DemoIssuer, startDemoIssuer } from '../demo-auth/demo-issuer.ts';
import type { AuthorizationServerOptions } from './authorization-server.ts';
import { freePort } from './free-port.ts';
import { type StartedGateway, startGateway } from './start-gateway.ts';

export interface DemoGateway extends AsyncDisposable, Pick<DemoIssuer, 'idp' | 'users'> {
  readonly gateway: StartedGateway;
}

export type DemoOptions = Pick<AuthorizationServerOptions, 'accessTokenSeconds' | 'fetch'>;

export async function startDemo(options: DemoOptions = {}): Promise<DemoGateway> {
  const port = await freePort();
  const { idp, env, users } = await startDemoIssuer(port, options);
  const loaded = await loadConfig(DEMO_CONFIG, { env: { ...process.env, ...env }, listen: { port } });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { servers, gateway: config, secrets } = loaded.config;
  const gateway = await startGateway({
    // The children of a test's gateway are in a folder of its own.
    servers: servers.map((server) => (server.type === 'stdio' ? withAbsolutePaths(server) : server)),
    gateway: { ...config, drain: { delayMs: 0, graceMs: 500 } },
    secrets,
  });
  return {
    gateway,
    idp,
    users,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await idp.close();
    },
  };
}

function withAbsolutePaths<Config extends { readonly args: readonly string[] }>(server: Config): Config {
  const folder = dirname(DEMO_CONFIG);
  return { ...server, args: server.args.map((arg) => (arg.startsWith('.') ? resolve(folder, arg) : arg)) };
}
