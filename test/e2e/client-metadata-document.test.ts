// A client that is known by the address of its own description (client id metadata documents), and so registers nowhere.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { decodeJwt } from 'jose';
import { Agent, fetch } from 'undici';
import { createAuthority } from '../support/certificates.ts';
import { startDemo } from '../support/demo-gateway.ts';
import { OAuthClient } from '../support/oauth-client.ts';
import { browse } from '../support/scripted-sign-in.ts';

const REDIRECT_URL = 'http://127.0.0.1:9/callback';

/** The client's own site. */
async function startSite(t: TestContext, ca = createAuthority()) {
  const site = createServer(ca.issueServer(), (_request, response) => {
    const description = {
      client_id: url,
      client_name: 'A client with a site of its own',
      redirect_uris: [REDIRECT_URL],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(description));
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const url = `https://127.0.0.1:${(site.address() as AddressInfo).port}/client.json`;
  const dispatcher = new Agent({ connect: { ca: ca.cert } });
  t.after(async () => {
    await dispatcher.close();
    site.close();
  });
  const trusting = (input: string, init?: object) => fetch(input, { ...init, dispatcher });
  return { url, fetch: trusting as unknown as typeof globalThis.fetch };
}

test('a client is known by the address of its metadata document, signs in and calls', async (t) => {
  const site = await startSite(t);
  await using demo = await startDemo({ fetch: site.fetch });
  await using client = new OAuthClient({ url: demo.gateway.url, mode: 'modern', redirectUrl: REDIRECT_URL });
  client.keychain.clientMetadataUrl = site.url;
  const address = await client.connect();
  assert.equal(address?.searchParams.get('client_id'), site.url);
  const callback = await browse(demo.idp, address.href, 'ada', 'analytical-engine');
  await client.finish(callback.searchParams);
  assert.equal(await client.connect(), undefined);
  assert.match(await client.call('echo', { message: 'hello' }), /hello/);
  assert.equal(decodeJwt(client.keychain.saved?.access_token ?? '').client_id, site.url);
});
