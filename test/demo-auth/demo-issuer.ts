// The demo's authorization server, and what its config needs to know of it.
import { fileURLToPath } from 'node:url';
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from '../support/authorization-server.ts';
import { PEOPLE } from './people.ts';

export const DEMO_CONFIG = fileURLToPath(new URL('portico.yaml', import.meta.url));

export interface DemoIssuer {
  readonly idp: AuthorizationServer;
  /** For the placeholders of `DEMO_CONFIG`. */
  readonly env: Readonly<Record<string, string>>;
  /** Groups by user; a change counts from the next token on. */
  readonly users: Record<string, readonly string[]>;
}

/** @param gatewayPort where Portico listens, on loopback */
export async function startDemoIssuer(
  gatewayPort: number,
  options: Pick<AuthorizationServerOptions, 'port' | 'format' | 'accessTokenSeconds' | 'fetch'> = {},
): Promise<DemoIssuer> {
  const users = Object.fromEntries(PEOPLE.map(({ name, groups }) => [name, groups]));
  const idp = await startAuthorizationServer({
    resources: [`http://127.0.0.1:${gatewayPort}/mcp`],
    scopes: ['mcp', 'mcp:admin'],
    users,
    passwords: Object.fromEntries(PEOPLE.map(({ name, password }) => [name, password])),
    ...options,
  });
  const { clientId, clientSecret } = idp.resourceServer;
  return {
    idp,
    env: { DEMO_ISSUER: idp.issuer, DEMO_CLIENT_ID: clientId, DEMO_CLIENT_SECRET: clientSecret },
    users,
  };
}
