// A gateway with sign-in before one server that it has to sign in to: who calls, and what the server got to see.
import type { TestContext } from 'node:test';
import type { AuthConfig } from '../../src/config/auth-config.ts';
import type { GatewayConfig, HttpServerConfig } from '../../src/config/config.ts';
import type { ServerAuthConfig, TokenExchangeConfig } from '../../src/config/server-auth-config.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from './faulty-http-server.ts';
import { ModernClient, openSession, type RawSession } from './raw-session.ts';
import { type StartedGateway, startGateway } from './start-gateway.ts';
import { CLIENT, type TokenEndpoint } from './token-endpoint.ts';
import {
  type SigningKey,
  signingKey,
  signToken,
  startTokenIssuer,
  type TokenIssuer,
} from './token-issuer.ts';

const RESOURCE = 'http://127.0.0.1/mcp';

export interface CredentialsRig {
  readonly gateway: StartedGateway;
  readonly upstream: FaultyHttpServer;
  readonly issuer: TokenIssuer;
  /** The headers that a caller sends, each of which is nobody else's business. */
  headers(token: string): { readonly headers: Readonly<Record<string, string>> };
  tokenOf(subject: string, claims?: TokenChanges): string;
  modern(token: string): ModernClient;
  legacy(token: string): Promise<RawSession>;
  /** The values of a header of the requests that the server got, by the method that they carried. */
  seen(header: string): { readonly what: string; readonly value: string | undefined }[];
}

export interface TokenChanges {
  readonly scope?: string;
  readonly groups?: readonly string[];
  readonly lifetimeSeconds?: number;
}

export interface CredentialsRigOptions {
  /** Made once the server's URL is known. */
  readonly auth: ((url: string) => ServerAuthConfig) | undefined;
  readonly era?: 'modern' | 'legacy';
  readonly server?: Partial<HttpServerConfig>;
  readonly signIn?: Partial<AuthConfig>;
  readonly gateway?: Partial<GatewayConfig>;
  readonly secrets?: readonly string[];
}

export async function startCredentialsRig(
  t: TestContext,
  {
    auth,
    era = 'modern',
    server = {},
    signIn = {},
    gateway: changes = {},
    secrets = [],
  }: CredentialsRigOptions,
): Promise<CredentialsRig> {
  const key = signingKey('ES256', 'idp');
  const issuer = await issuerWith(t, key);
  const upstream = await startFaultyHttpServer({ era });
  t.after(() => upstream.close());
  const gateway = await startGateway({
    http: { url: upstream.url, auth: auth?.(upstream.url), ...server },
    gateway: {
      auth: {
        issuers: [issuer.config()],
        apiKeys: [],
        scopesSupported: [],
        requiredScopes: [],
        ...signIn,
      },
      ...changes,
    },
    secrets,
  });
  t.after(() => gateway.close());
  const headers = (token: string) => ({
    headers: {
      authorization: `Bearer ${token}`,
      cookie: 'sid=cookie-of-the-caller',
      'proxy-authorization': 'Basic proxy-of-the-caller',
      'x-api-key': 'key-of-the-caller',
    },
  });
  return {
    gateway,
    upstream,
    issuer,
    headers,
    tokenOf: (subject, more) => tokenOf(issuer, key, subject, more),
    modern: (token) => new ModernClient(gateway.url, headers(token)),
    legacy: (token) => openSession(gateway.url, headers(token)),
    seen: (header) =>
      upstream.received.map(({ http, message, headers: sent }) => ({
        what: message?.method ?? http,
        value: sent[header] as string | undefined,
      })),
  };
}

export async function issuerWith(t: TestContext, key: SigningKey): Promise<TokenIssuer> {
  const issuer = await startTokenIssuer(t);
  issuer.keys = [key];
  return issuer;
}

export function tokenOf(
  { issuer }: Pick<TokenIssuer, 'issuer'>,
  key: SigningKey,
  subject: string,
  { scope = 'mcp', groups = [], lifetimeSeconds = 600 }: TokenChanges = {},
): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss: issuer, aud: RESOURCE, sub: subject, client_id: 'app', scope, groups };
  return signToken(
    key,
    { alg: key.algorithm, kid: key.kid, typ: 'at+jwt' },
    { ...claims, jti: `${subject} ${scope}`, iat: now, exp: now + lifetimeSeconds },
  );
}

export function exchangeAt(
  endpoint: TokenEndpoint,
  changes: Partial<TokenExchangeConfig> = {},
): (url: string) => TokenExchangeConfig {
  return (url) => ({
    type: 'token_exchange',
    tokenUrl: endpoint.url,
    ...CLIENT,
    clientAuth: 'basic',
    scopes: [],
    resource: url,
    audience: undefined,
    ...changes,
  });
}
