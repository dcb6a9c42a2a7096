// The console's page and documents: who gets them, and what browsers are told of them.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { type AdminServerOptions, createAdminServer } from '../../src/http/admin-server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { RawClient } from './raw-client.ts';

const TOKEN = 'an-admin-token-of-some-length';
const SECRET = 'a-key-of-a-server';
const FILES = readdirSync(new URL('../../src/console', import.meta.url));
const PAGES = ['/', ...FILES.map((name) => `/console/${name}`)];
const DOCUMENTS = ['/status', '/status/traffic'];

async function startAdmin(t: TestContext, config: Partial<AdminServerOptions['config']> = {}) {
  const server = await createAdminServer({
    config: { host: '127.0.0.1', port: 0, hosts: [], token: undefined, ...config },
    logger: createLogger({ level: 'silent', secrets: [SECRET] }),
    metrics: createMetrics({ processMetrics: false }),
    documents: {
      '/status': () => ({ servers: { docs: { lastError: `refused ${SECRET}` } } }),
      '/status/traffic': () => ({}),
    },
    isReady: () => ({ ready: true }),
  });
  t.after(() => server.close());
  const [listening = ''] = await server.listen();
  return `http://127.0.0.1:${new URL(listening).port}`;
}

test('the page and each of its files are there, with their type', async (t) => {
  const url = await startAdmin(t);
  for (const path of PAGES) {
    const response = await fetch(url + path);
    const kind = path === '/' ? 'html' : (path.split('.').at(-1) ?? '');
    const type = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' }[kind];
    assert.equal(response.status, 200, path);
    assert.ok(response.headers.get('content-type')?.startsWith(type ?? 'unknown'), path);
    assert.ok((await response.text()).length > 100, path);
  }
});

test('nothing else is: no other file, no folder above, whatever its spelling', async (t) => {
  const { port } = new URL(await startAdmin(t));
  for (const path of [
    '/console',
    '/console/',
    '/console/absent.js',
    '/console/.hidden.js',
    '/console/../http/admin-server.ts',
    '/console/..%2fhttp%2fadmin-server.ts',
    '/console/%2e%2e%2fmain.ts',
    '/console/..%5cmain.js',
    '/console/%2fetc%2fpasswd',
    '/console/main.js%00.html',
    '/console/main.js/',
    '/index.html',
  ]) {
    const client = await RawClient.open(t, Number(port));
    client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    assert.match(await client.closed(), /^HTTP\/1\.1 404 /, path);
  }
});

test('every answer, a refusal too, tells browsers to load nothing foreign and to frame it nowhere', async (t) => {
  const url = await startAdmin(t, { token: TOKEN });
  for (const path of [...PAGES, ...DOCUMENTS, '/livez', '/metrics', '/absent']) {
    const { headers } = await fetch(url + path);
    const policy = (headers.get('content-security-policy') ?? '').split('; ');
    for (const directive of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      assert.ok(policy.includes(directive), `${path} ${directive}`);
    }
    assert.ok(!policy.join().includes('unsafe'), path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin', path);
    assert.equal(headers.get('cache-control'), 'no-store', path);
    assert.equal(headers.get('access-control-allow-origin'), null, path);
  }
});

test('the page is anybody’s, since it holds nothing; every document wants the token', async (t) => {
  for (const config of [{ token: TOKEN }, { host: '0.0.0.0', token: TOKEN }, { host: '0.0.0.0' }]) {
    const url = await startAdmin(t, config);
    for (const path of PAGES) assert.equal((await fetch(url + path)).status, 200, path);
    for (const path of DOCUMENTS) {
      assert.equal((await fetch(url + path)).status, 401, path);
      const headers = { Authorization: `Bearer ${TOKEN}` };
      const expected = config.token === undefined ? 401 : 200;
      assert.equal((await fetch(url + path, { headers })).status, expected, path);
      // A token in a place that ends up in histories and logs is none.
      assert.equal((await fetch(`${url}${path}?token=${TOKEN}`)).status, 401, path);
    }
  }
});

test('F54: another site’s page, or a name rebound to this address, gets neither page nor document', async (t) => {
  const url = await startAdmin(t);
  for (const path of [...PAGES, ...DOCUMENTS]) {
    const foreign = await fetch(url + path, { headers: { Origin: 'https://evil.example' } });
    assert.equal(foreign.status, 403, path);
    const client = await RawClient.open(t, Number(new URL(url).port));
    client.send(`GET ${path} HTTP/1.1\r\nHost: rebound.evil\r\nConnection: close\r\n\r\n`);
    assert.match(await client.closed(), /^HTTP\/1\.1 403 /, path);
  }
});

test('F58: a secret of the config is masked in a document as it is in the log', async (t) => {
  const url = await startAdmin(t);
  assert.deepEqual(await (await fetch(`${url}/status`)).json(), {
    servers: { docs: { lastError: 'refused [redacted]' } },
  });
});
