// The official client's own OAuth code against Portico and a real authorization server: it is told where to sign in by
// Portico's 401 alone, registers itself, signs in with PKCE, calls, and refreshes in the middle of a session.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { freePort } from '../support/free-port.ts';
import { OAuthKeychain } from '../support/oauth-keychain.ts';
import { browse } from '../support/scripted-sign-in.ts';
import { startGateway } from '../support/start-gateway.ts';

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

      const keychain = new OAuthKeychain();
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
