// The official client's own OAuth code against Portico and a real authorization server: it is told where to sign in by
// Portico's 401 alone, registers itself, signs in with PKCE, calls, and refreshes in the middle of a session.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { browse } from '../support/scripted-sign-in.ts';
import { startGateway } from '../support/start-gateway.ts';

type Stored<Method extends 'saveTokens' | 'saveClientInformation' | 'saveDiscoveryState'> = Parameters<
  NonNullable<OAuthClientProvider[Method]>
>[0];

/** Keeps what the client's OAuth code wants kept; whoever it sends to the browser, waits there. */
class Keychain implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:9/callback';
  saved: Stored<'saveTokens'> | undefined;
  authorizationUrl: URL | undefined;
  #client: Stored<'saveClientInformation'> | undefined;
  #discovery: Stored<'saveDiscoveryState'> | undefined;
  #verifier = '';

  get clientMetadata() {
    return {
      client_name: 'A client of its own',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native' as const,
    };
  }
  clientInformation = () => this.#client;
  saveClientInformation(client: Stored<'saveClientInformation'>): void {
    this.#client = client;
  }
  tokens = () => this.saved;
  saveTokens(tokens: Stored<'saveTokens'>): void {
    this.saved = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;
  saveDiscoveryState(state: Stored<'saveDiscoveryState'>): void {
    this.#discovery = state;
  }
  discoveryState = () => this.#discovery;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

for (const mode of ['legacy', 'modern'] as const) {
  for (const view of ['', '/faulty']) {
    test(`a ${mode} client signs in to /mcp${view}, calls, and refreshes in the middle`, async (t) => {
      const port = await freePort();
      const publicUrl = `http://127.0.0.1:${port}`;
      const idp = await startAuthorizationServer({ resources: [publicUrl], users: { alice: ['eng'] } });
      t.after(() => idp.close());
      const upstream = await startFaultyHttpServer({ era: 'legacy' });
      t.after(() => upstream.close());
      const issuer = {
        issuer: idp.issuer,
        audiences: [],
        jwksUri: undefined,
        algorithms: ['ES256' as const],
        claims: { groups: 'groups', scopes: 'scope' },
        introspection: undefined,
      };
      const gateway = await startGateway({
        http: { url: upstream.url },
        gateway: {
          listen: { host: '127.0.0.1', port, tls: undefined },
          publicUrl,
          auth: { issuers: [issuer], apiKeys: [], scopesSupported: ['mcp'], requiredScopes: ['mcp'] },
        },
      });
      t.after(() => gateway.close());

      const keychain = new Keychain();
      const connect = async () => {
        const client = new Client(
          { name: 'test', version: '1' },
          { versionNegotiation: { mode: mode === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
        );
        const transport = new StreamableHTTPClientTransport(new URL(gateway.url + view), {
          authProvider: keychain,
        });
        try {
          await client.connect(transport);
        } catch (error) {
          assert.ok(error instanceof UnauthorizedError, String(error));
          const { authorizationUrl } = keychain;
          assert.ok(authorizationUrl !== undefined);
          // What it asks for is what Portico's challenge and document said.
          assert.equal(authorizationUrl.searchParams.get('resource'), `${publicUrl}/mcp${view}`);
          assert.equal(authorizationUrl.searchParams.get('scope')?.split(' ').includes('mcp'), true);
          authorizationUrl.searchParams.set('prompt', 'consent');
          const callback = await browse(idp, authorizationUrl.href, 'alice');
          await transport.finishAuth(callback.searchParams);
          return undefined;
        }
        t.after(() => client.close());
        return client;
      };
      assert.equal(await connect(), undefined);
      const client = await connect();
      assert.ok(client !== undefined);
      const echo = async (text: string) => {
        const { content } = await client.callTool({ name: 'echo', arguments: { text } });
        return (content as { text: string }[])[0]?.text;
      };
      assert.equal(await echo('signed in'), 'signed in');

      const first = keychain.saved;
      assert.ok(first?.refresh_token !== undefined);
      // As an access token looks that has run out.
      keychain.saved = { ...first, access_token: first.access_token.slice(0, -8) };
      assert.equal(await echo('refreshed'), 'refreshed');
      assert.notEqual(keychain.saved?.access_token, first.access_token);
    });
  }
}
