import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AdminServerOptions, createAdminServer } from '../../src/http/admin-server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { RawClient } from './raw-client.ts';

const TOKEN = 'an-admin-token-of-some-length';

async function startAdmin(
  t: TestContext,
  {
    config,
    ...options
  }: { config?: Partial<AdminServerOptions['config']> } & Partial<Omit<AdminServerOptions, 'config'>> = {},
): Promise<{ url: string; port: number; logLines: string[] }> {
  const logLines: string[] = [];
  const server = await createAdminServer({
    config: { host: '127.0.0.1', port: 0, hosts: [], token: undefined, ...config },
    logger: createLogger({
      level: 'trace',
      secrets: [],
      destination: { write: (line) => logLines.push(line) },
    }),
    metrics: createMetrics({ processMetrics: false }),
    documents: { '/status': () => ({ servers: {} }) },
    isReady: () => ({ ready: true }),
    ...options,
  });
  t.after(() => server.close());
  const [listening = ''] = await server.listen();
  const { port } = new URL(listening);
  return { url: `http://127.0.0.1:${port}`, port: Number(port), logLines };
}

/** One request with exactly these headers; the status and the body of its answer. */
async function ask(
  t: TestContext,
  port: number,
  path: string,
  ...headers: string[]
): Promise<[number, string]> {
  const client = await RawClient.open(t, port);
  client.send([`GET ${path} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'));
  const [head = '', body = ''] = (await client.closed()).split('\r\n\r\n');
  return [Number(head.split(' ')[1]), body];
}

test('F60: alive is that the loop turns; ready is what the gateway says', async (t) => {
  let readiness: { ready: boolean; reason?: string } = { ready: true };
  const { url } = await startAdmin(t, { isReady: () => readiness });
  const ready = await fetch(`${url}/readyz`);
  assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready' }]);
  readiness = { ready: false, reason: 'draining' };
  const draining = await fetch(`${url}/readyz`);
  assert.deepEqual(
    [draining.status, await draining.json()],
    [503, { status: 'not ready', reason: 'draining' }],
  );
  const alive = await fetch(`${url}/livez`);
  assert.deepEqual([alive.status, await alive.json()], [200, { status: 'ok' }]);
  assert.equal((await fetch(`${url}/livez`, { method: 'HEAD' })).status, 200);
});

test('status is JSON, never stored', async (t) => {
  const { url } = await startAdmin(t, {
    documents: { '/status': () => ({ servers: { docs: { era: 'modern' } } }) },
  });
  const response = await fetch(`${url}/status`);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.deepEqual(await response.json(), { servers: { docs: { era: 'modern' } } });
});

test('metrics are what the registry exposes', async (t) => {
  const metrics = createMetrics({ processMetrics: false });
  metrics.watch({ name: 'portico_test_gauge', help: 'A test', read: () => 42 });
  const { url } = await startAdmin(t, { metrics });
  const response = await fetch(`${url}/metrics`);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(await response.text(), /^portico_test_gauge 42$/m);
});

test('all else is a JSON 404, other methods too', async (t) => {
  const { url } = await startAdmin(t);
  for (const [method, path] of [
    ['GET', '/mcp'],
    ['GET', '/livez/'],
    ['GET', '/%zz'],
    ['POST', '/status'],
    ['DELETE', '/metrics'],
  ]) {
    const response = await fetch(`${url}${path}`, { method: method ?? '' });
    assert.equal(response.status, 404, path);
    assert.deepEqual(await response.json(), { jsonrpc: '2.0', error: { code: 4041, message: 'Not found' } });
  }
});

test('F54: probes answer to any Host; metrics and status only to addresses, loopback and listed names', async (t) => {
  const { port } = await startAdmin(t, { config: { hosts: ['admin.internal'] } });
  for (const [host, expected] of [
    ['Host: rebound.evil', 403],
    ['Host: rebound.evil:9090', 403],
    ['Host:', 400],
    ['X-No-Host: at all', 400],
    ['Host: admin.internal:9090', 200],
    ['Host: 10.0.0.7:9090', 200],
    ['Host: [fd00::7]:9090', 200],
    ['Host: localhost:9090', 200],
  ] as const) {
    for (const path of ['/metrics', '/status'])
      assert.equal((await ask(t, port, path, host))[0], expected, host);
    for (const path of ['/livez', '/readyz']) assert.equal((await ask(t, port, path, host))[0], 200, host);
  }
});

test('F54: pages of other origins are refused, loopback ones too; our own is not', async (t) => {
  const { port } = await startAdmin(t);
  const host = 'Host: localhost:9090';
  for (const origin of [
    'https://evil.example',
    'http://localhost:3000',
    'http://127.0.0.1:9090',
    'null',
    '',
  ]) {
    for (const path of ['/metrics', '/status']) {
      assert.equal((await ask(t, port, path, host, `Origin: ${origin}`))[0], 403, origin);
    }
  }
  assert.equal((await ask(t, port, '/status', host, 'Origin: http://localhost:9090'))[0], 200);
});

test('off loopback, status needs the token; probes and metrics do not', async (t) => {
  const { url } = await startAdmin(t, { config: { host: '0.0.0.0', token: TOKEN } });
  const statusOf = async (path: string, authorization?: string) => {
    const response = await fetch(
      url + path,
      authorization ? { headers: { Authorization: authorization } } : {},
    );
    const { error } = (await response.json().catch(() => ({}))) as { error?: { message: string } };
    return [response.status, response.headers.get('www-authenticate'), error?.message];
  };
  assert.deepEqual(await statusOf('/status'), [401, 'Bearer', 'An access token is required']);
  for (const wrong of [
    `Bearer ${TOKEN}x`,
    'Bearer x',
    `Bearer ${TOKEN} ${TOKEN}`,
    `bearer ${TOKEN.toUpperCase()}`,
  ]) {
    assert.equal((await statusOf('/status', wrong))[0], 401, wrong);
  }
  for (const unusable of ['Bearer', 'Bearer ', `Basic ${TOKEN}`, TOKEN]) {
    assert.equal((await statusOf('/status', unusable))[0], 401, unusable);
  }
  assert.equal((await statusOf('/status', `Bearer ${TOKEN}`))[0], 200);
  assert.equal((await statusOf('/status', `bearer  ${TOKEN}`))[0], 200);
  for (const open of ['/livez', '/readyz', '/metrics']) assert.equal((await statusOf(open))[0], 200);
});

test('off loopback without a token, nobody sees the status', async (t) => {
  const { url } = await startAdmin(t, { config: { host: '0.0.0.0' } });
  for (const authorization of ['', 'Bearer undefined', 'Bearer x']) {
    const headers: Record<string, string> = authorization === '' ? {} : { Authorization: authorization };
    assert.equal((await fetch(`${url}/status`, { headers })).status, 401);
  }
});

test('a token that is configured is asked for on loopback too', async (t) => {
  const { url } = await startAdmin(t, { config: { token: TOKEN } });
  assert.equal((await fetch(`${url}/status`)).status, 401);
});

test('a status that cannot be told is an incident; its cause is in the log alone', async (t) => {
  const { url, logLines } = await startAdmin(t, {
    documents: {
      '/status': () => {
        throw new Error('the inner truth');
      },
    },
  });
  const response = await fetch(`${url}/status`);
  const body = await response.text();
  assert.equal(response.status, 500);
  assert.match(body, /"code":-32603,"message":"Internal error","data":\{"incidentId":"[0-9a-f-]{36}"\}/);
  assert.match(logLines.join(''), /the inner truth/);
});

test('what has ended is counted before anything is told', async (t) => {
  const metrics = createMetrics({ processMetrics: false });
  const ended = ['draining'] as const;
  let status = { counted: 0 };
  const { url } = await startAdmin(t, {
    metrics,
    documents: { '/status': () => status },
    catchUp() {
      for (const code of ended) metrics.countRefusal(code);
      status = { counted: status.counted + 1 };
    },
  });
  assert.match(await (await fetch(`${url}/metrics`)).text(), /^portico_refusals_total\{[^}]*\} 1$/m);
  assert.deepEqual(await (await fetch(`${url}/status`)).json(), { counted: 2 });
});
