// A real authorization server in this process (oidc-provider), with dynamic registration, client id metadata
// documents, PKCE, resource indicators, JWT and opaque tokens, refresh and revocation.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Adapter, type Configuration, errors, Provider } from 'oidc-provider';
import { authorizationStore } from './authorization-store.ts';
import { interactionPath, signInPages } from './sign-in-pages.ts';
import { signingKey } from './token-issuer.ts';

export interface AuthorizationServerOptions {
  /** Beginnings of the resources that it issues tokens for. */
  readonly resources: readonly string[];
  /** Scopes of these resources. */
  readonly scopes?: readonly string[];
  /** Groups by user; read at each token. */
  readonly users?: Readonly<Record<string, readonly string[]>>;
  /** By user; the others sign in with any. */
  readonly passwords?: Readonly<Record<string, string>>;
  readonly format?: 'jwt' | 'opaque';
  readonly accessTokenSeconds?: number;
  /** How it gets client id metadata documents; by default from public https addresses. */
  readonly fetch?: Configuration['fetch'];
  /** 0 takes a free one. */
  readonly port?: number;
}

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** A public client that needs no registration. */
  readonly client: { readonly clientId: string; readonly redirectUri: string };
  /** A confidential client, for introspection. */
  readonly resourceServer: { readonly clientId: string; readonly clientSecret: string };
  /** Signs with a new key from now on, and publishes no other. */
  rotateKeys(): void;
  close(): Promise<void>;
}

const CLIENT = { clientId: 'app', redirectUri: 'http://127.0.0.1:9/callback' };
const RESOURCE_SERVER = { clientId: 'portico', clientSecret: 'introspection-secret-of-portico' };

export async function startAuthorizationServer({
  port = 0,
  passwords = {},
  ...options
}: AuthorizationServerOptions): Promise<AuthorizationServer> {
  // The issuer's name holds the port, so the port comes first.
  let handler: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => handler(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = authorizationStore();
  let keysMade = 0;
  const rotateKeys = () => {
    keysMade += 1;
    const keyId = `idp-${keysMade}`;
    handler = signInPages(new Provider(issuer, configuration(options, store, keyId)), { passwords });
  };
  rotateKeys();

  let closing: Promise<unknown> | undefined;
  const close = async () => {
    closing ??= Promise.all([once(server, 'close'), server.close(), server.closeAllConnections()]);
    await closing;
  };
  return {
    issuer,
    client: CLIENT,
    resourceServer: RESOURCE_SERVER,
    rotateKeys,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function configuration(
  {
    resources,
    scopes = ['mcp'],
    users = {},
    format = 'jwt',
    accessTokenSeconds = 300,
    fetch,
  }: Omit<AuthorizationServerOptions, 'port' | 'passwords'>,
  adapter: (model: string) => Adapter,
  keyId: string,
): Configuration {
  const { privateKey } = signingKey('ES256');
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: keyId, alg: 'ES256', use: 'sig' };
  return {
    adapter,
    ...(fetch === undefined ? {} : { fetch }),
    jwks: { keys: [jwk as never] },
    // There is an EC key alone.
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clients: [
      {
        client_id: CLIENT.clientId,
        redirect_uris: [CLIENT.redirectUri],
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
      },
      {
        client_id: RESOURCE_SERVER.clientId,
        client_secret: RESOURCE_SERVER.clientSecret,
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    scopes: ['openid', 'offline_access', ...scopes],
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_context, token) => {
      const login = 'accountId' in token ? token.accountId : '';
      return Object.hasOwn(users, login) ? { groups: users[login] } : undefined;
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    // Also to clients that do not know to ask for `offline_access`.
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
    cookies: { keys: ['a key for cookies of tests'] },
    interactions: { url: (_context, { uid }) => interactionPath(uid) },
    // Clients in browsers, such as the Inspector.
    clientBasedCORS: () => true,
    extraClientMetadata: {
      properties: ['unrestricted'],
      // Clients register with the scopes of their first challenge, and would be held to them: no step-up could follow.
      validator: (_context, _name, _value, metadata) => {
        delete metadata.scope;
      },
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      introspection: {
        enabled: true,
        allowedPolicy: (_context, client) => client.clientId === RESOURCE_SERVER.clientId,
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_context, client, token) => client.clientId === token.clientId,
      },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, indicator) => {
          if (!resources.some((resource) => indicator.startsWith(resource))) throw new errors.InvalidTarget();
          return {
            scope: scopes.join(' '),
            audience: indicator,
            accessTokenFormat: format,
            accessTokenTTL: accessTokenSeconds,
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
    },
  };
}
