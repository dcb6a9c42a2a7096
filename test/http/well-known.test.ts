// The Protected Resource Metadata documents (RFC 9728), on a real socket.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type RigOptions, startRig } from '../access/sign-in/sign-in-rig.ts';
import { startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

async function startMetadataEdge(t: TestContext, publicUrl: string, options: RigOptions = {}) {
  const rig = await startRig(t, { publicUrl, ...options });
  const edge = await startEdge(t, { signIn: rig.authenticator, config: { publicUrl } });
  return {
    ...edge,
    issuer: rig.issuer.issuer,
    ask: (path: string, init: RequestInit = {}) => fetch(edge.url + path, { redirect: 'manual', ...init }),
  };
}

async function resourceAt(edge: { ask(path: string): Promise<Response> }, path: string): Promise<string> {
  const response = await edge.ask(path);
  const text = await response.text();
  assert.equal(response.status, 200, `${path}: ${text}`);
  return (JSON.parse(text) as { resource: string }).resource;
}

test('F45 the root form and each suffixed form, with and without a slash, whether the view exists or not', async (t) => {
  const edge = await startMetadataEdge(t, 'https://mcp.example.com');
  const forms: Record<string, string> = {
    '': 'https://mcp.example.com/mcp',
    '/mcp': 'https://mcp.example.com/mcp',
    '/mcp/docs': 'https://mcp.example.com/mcp/docs',
    '/mcp/no-such-server': 'https://mcp.example.com/mcp/no-such-server',
  };
  for (const [suffix, resource] of Object.entries(forms)) {
    assert.equal(await resourceAt(edge, WELL_KNOWN + suffix), resource);
    assert.equal(await resourceAt(edge, `${WELL_KNOWN}${suffix}/`), resource);
  }
});

test('F45 the document: JSON, cacheable, open to every page, and what RFC 9728 asks for', async (t) => {
  const edge = await startMetadataEdge(t, 'https://mcp.example.com', {
    auth: { scopesSupported: ['mcp', 'docs', 'offline_access'], requiredScopes: ['mcp', 'base'] },
  });
  const headers = {
    Origin: 'https://anybody.example',
    Authorization: 'Bearer nonsense',
    'MCP-Protocol-Version': 'x',
  };
  const response = await edge.ask(`${WELL_KNOWN}/mcp`, { headers });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  assert.equal(response.headers.get('access-control-allow-credentials'), null);
  assert.deepEqual(await response.json(), {
    resource: 'https://mcp.example.com/mcp',
    authorization_servers: [edge.issuer],
    scopes_supported: ['mcp', 'docs', 'base'],
    bearer_methods_supported: ['header'],
  });
});

test('F45 HEAD says what GET would; a preflight passes for any header; other methods are 405', async (t) => {
  const edge = await startMetadataEdge(t, 'https://mcp.example.com');
  const got = await edge.ask(`${WELL_KNOWN}/mcp/docs`);
  const body = await got.text();
  const headed = await edge.ask(`${WELL_KNOWN}/mcp/docs`, { method: 'HEAD' });
  assert.equal(headed.status, 200);
  assert.equal(headed.headers.get('content-length'), String(Buffer.byteLength(body)));
  assert.equal(await headed.text(), '');
  for (const name of ['content-type', 'cache-control', 'access-control-allow-origin']) {
    assert.equal(headed.headers.get(name), got.headers.get(name), name);
  }

  const preflight = await edge.ask(`${WELL_KNOWN}/mcp`, {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://anybody.example',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'mcp-protocol-version, authorization',
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
  assert.equal(preflight.headers.get('access-control-allow-headers'), '*, Authorization');
  assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD, OPTIONS');

  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const refused = await edge.ask(`${WELL_KNOWN}/mcp`, { method });
    assert.equal(refused.status, 405, method);
    assert.equal(refused.headers.get('allow'), 'GET, HEAD, OPTIONS');
    assert.equal(refused.headers.get('access-control-allow-origin'), '*');
    assert.equal(((await refused.json()) as { error: { code: number } }).error.code, -32600);
  }
});

test('F45 anything else below the well-known path is a JSON 404', async (t) => {
  const edge = await startMetadataEdge(t, 'https://mcp.example.com');
  const suffixes = [
    '/other',
    '/mcp/Docs',
    '/mcp/docs/x',
    '/mcp/%2f',
    '/mcp/a b',
    `/mcp/${'a'.repeat(33)}`,
    '/mcpx',
  ];
  for (const suffix of suffixes) {
    const response = await edge.ask(WELL_KNOWN + suffix);
    assert.equal(response.status, 404, suffix);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.equal(((await response.json()) as { error: { code: number } }).error.code, 4041, suffix);
  }
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    `/mcp${WELL_KNOWN}`,
  ]) {
    assert.equal((await edge.ask(path)).status, 404, path);
  }
});

test('F45 under a base path the well-known segment goes between host and path', async (t) => {
  const edge = await startMetadataEdge(t, 'https://mcp.example.com/team/a');
  const resource = 'https://mcp.example.com/team/a/mcp';
  assert.equal(await resourceAt(edge, WELL_KNOWN), resource);
  assert.equal(await resourceAt(edge, `${WELL_KNOWN}/team/a`), resource);
  assert.equal(await resourceAt(edge, `${WELL_KNOWN}/team/a/mcp`), resource);
  assert.equal(await resourceAt(edge, `${WELL_KNOWN}/team/a/mcp/docs/`), `${resource}/docs`);
  for (const path of [`${WELL_KNOWN}/mcp`, `/team/a${WELL_KNOWN}/mcp`, `/team/a/mcp${WELL_KNOWN}`]) {
    assert.equal((await edge.ask(path)).status, 404, path);
  }
  const challenged = await edge.ask('/team/a/mcp/docs', { method: 'POST' });
  assert.equal(
    challenged.headers.get('www-authenticate'),
    `Bearer resource_metadata="https://mcp.example.com${WELL_KNOWN}/team/a/mcp/docs"`,
  );
});

test('F46 resource and challenge repeat the configured URL to the letter', async (t) => {
  for (const publicUrl of [
    'https://MCP.Example.com:443',
    'https://mcp.example.com/Base',
    'http://127.0.0.1:8080',
  ]) {
    await t.test(publicUrl, async (t) => {
      const edge = await startMetadataEdge(t, publicUrl);
      const { pathname, origin } = new URL(publicUrl);
      const base = pathname === '/' ? '' : pathname;
      assert.equal(await resourceAt(edge, `${WELL_KNOWN}${base}/mcp/docs`), `${publicUrl}/mcp/docs`);
      const challenged = await edge.ask(`${base}/mcp`, { method: 'POST' });
      const written = publicUrl.slice(0, publicUrl.length - base.length);
      assert.equal(
        challenged.headers.get('www-authenticate'),
        `Bearer resource_metadata="${written}${WELL_KNOWN}${base}/mcp"`,
      );
      assert.equal(written.toLowerCase().startsWith(origin), true);
    });
  }
});

test('F47 neither Host nor forwarded headers have a say in our URLs', async (t) => {
  const edge = await startMetadataEdge(t, 'https://mcp.example.com');
  const forged = {
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-Proto': 'http',
    'X-Forwarded-Prefix': '/evil',
    Forwarded: 'host=evil.example;proto=http',
  };
  const document = await edge.ask(`${WELL_KNOWN}/mcp`, { headers: forged });
  assert.ok(!(await document.text()).includes('evil'));
  const challenged = await edge.ask('/mcp', { method: 'POST', headers: forged });
  assert.match(
    challenged.headers.get('www-authenticate') ?? '',
    /="https:\/\/mcp\.example\.com\/\.well-known/,
  );

  const client = await RawClient.open(t, edge.port);
  client.send(head(`GET ${WELL_KNOWN}/mcp HTTP/1.1`).replace('Host: 127.0.0.1', 'Host: evil.example'));
  const answer = await client.until('}}');
  assert.match(answer, /^HTTP\/1\.1 403 /);
  assert.ok(!answer.includes('mcp.example.com'));
});

test('without sign-in there is no document, and browsers may read that', async (t) => {
  const { url } = await startEdge(t);
  const response = await fetch(`${url}${WELL_KNOWN}/mcp`, { headers: { Origin: 'https://anybody.example' } });
  assert.equal(response.status, 404);
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
});

test('a document is still served, and is the last answer on its connection, while the server drains', async (t) => {
  const rig = await startRig(t);
  const edge = await startEdge(t, { signIn: rig.authenticator, isDraining: () => true });
  const response = await fetch(`${edge.url}${WELL_KNOWN}/mcp`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('connection'), 'close');
});
