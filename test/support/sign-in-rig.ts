import type { TestContext } from 'node:test';
import type { AuthConfig, IssuerConfig } from '../../src/config/auth-config.ts';
import type { HttpServerConfig } from '../../src/config/config.ts';
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from './authorization-server.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from './faulty-http-server.ts';
import { ModernClient } from './raw-session.ts';
import { type StartedGateway, startGateway } from './start-gateway.ts';
import { signToken, type TokenIssuer } from './token-issuer.ts';

/** What a started gateway has for its public URL, unless a test says otherwise. */
export const RESOURCE = 'http://127.0.0.1/mcp';
export const METADATA = 'http://127.0.0.1/.well-known/oauth-protected-resource/mcp';
const USERS = { alice: ['eng'], bob: ['ops'] };

export const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

interface Setup {
  readonly gateway: StartedGateway;
  readonly upstream: FaultyHttpServer;
}

export async function startSetup(
  t: TestContext,
  auth: Partial<AuthConfig>,
  { secrets = [], server = {} }: { secrets?: readonly string[]; server?: Partial<HttpServerConfig> } = {},
): Promise<Setup> {
  const upstream = await startFaultyHttpServer();
  t.after(() => upstream.close());
  const gateway = await startGateway({
    http: { url: upstream.url, ...server },
    gateway: { auth: { issuers: [], apiKeys: [], scopesSupported: [], requiredScopes: [], ...auth } },
    secrets,
  });
  t.after(() => gateway.close());
  return { gateway, upstream };
}

export async function startIdp(
  t: TestContext,
  options: Partial<AuthorizationServerOptions> = {},
): Promise<AuthorizationServer> {
  const server = await startAuthorizationServer({
    resources: [RESOURCE, 'https://other.example'],
    users: USERS,
    ...options,
  });
  t.after(() => server.close());
  return server;
}

export function issuerOf({ issuer }: { issuer: string }, changes: Partial<IssuerConfig> = {}): IssuerConfig {
  return {
    issuer,
    audiences: [],
    jwksUri: undefined,
    algorithms: ['ES256'],
    claims: { groups: 'groups', scopes: 'scope' },
    introspection: undefined,
    ...changes,
  };
}

export function askingIssuer(server: AuthorizationServer): IssuerConfig {
  const endpoint = `${server.issuer}/token/introspection`;
  return issuerOf(server, { introspection: { endpoint, ...server.resourceServer } });
}

/** Status, challenge and error of a tool call. */
export async function refusal(url: string, token?: string) {
  await using client = new ModernClient(url, token === undefined ? {} : bearer(token));
  const answer = await client.start('tools/call', { name: 'echo', arguments: { text: 'x' } }).answer;
  const { error } = await answer.json();
  return { status: answer.status, challenge: answer.headers['www-authenticate'], code: error?.code };
}

export function tokenFrom(
  issuer: TokenIssuer,
  key: Parameters<typeof signToken>[0],
  claims: Readonly<Record<string, unknown>> = {},
): string {
  const now = Math.floor(Date.now() / 1000);
  return signToken(
    key,
    { typ: 'at+jwt', alg: key.algorithm, kid: key.kid },
    {
      iss: issuer.issuer,
      aud: RESOURCE,
      sub: 'alice',
      client_id: 'app',
      iat: now,
      exp: now + 300,
      ...claims,
    },
  );
}
