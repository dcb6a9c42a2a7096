import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { test } from 'node:test';
import { post, startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const NOT_FOUND = { jsonrpc: '2.0', error: { code: 4041, message: 'Not found' } };
const ALLOW = 'POST, GET, DELETE, OPTIONS';

test('both views answer, with and without a trailing slash, and never redirect', async (t) => {
  const { url } = await startEdge(t);
  for (const [path, view] of [
    ['/mcp', ''],
    ['/mcp/', ''],
    ['/mcp/everything', 'everything'],
    ['/mcp/everything/', 'everything'],
    ['/mcp/a.b-c9?query=1', 'a.b-c9'],
    ['/mcp/%65verything', 'everything'],
  ]) {
    const response = await fetch(url + path, {
      method: 'POST',
      redirect: 'error',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    const { result } = (await response.json()) as { result: unknown };
    assert.deepEqual(result, { view, httpMethod: 'POST', bytes: 2 }, path);
  }
});

test('GET and DELETE come through with nothing as their body', async (t) => {
  const { port } = await startEdge(t);
  for (const method of ['GET', 'DELETE']) {
    const client = await RawClient.open(t, port);
    client.send(`${head(`${method} /mcp HTTP/1.1`, 'Content-Length: 4')}body`);
    assert.match(await client.until('}}'), new RegExp(`"httpMethod":"${method}","bytes":0`));
  }
});

for (const path of [
  '/',
  '/mcp/Upper',
  '/mcp/9lives',
  '/mcp/dash-',
  '/mcp/two/parts',
  '/mcp/two%2Fparts',
  '/mcp//',
  '//mcp',
  '/MCP',
  '/mcp.json',
  '/mcp/%zz',
  '/mcp/%00',
  `/mcp/${'a'.repeat(33)}`,
  `/mcp/${'a'.repeat(300)}`,
  '/sse',
  '/livez',
  '/metrics',
  '/.well-known/nothing',
]) {
  test(`${path.slice(0, 50)} is nothing here, in JSON`, async (t) => {
    const { url, refused, settled } = await startEdge(t);
    for (const method of ['GET', 'POST']) {
      const response = await fetch(url + path, { method });
      assert.equal(response.status, 404);
      assert.equal(response.headers.get('content-type'), 'application/json');
      assert.deepEqual(await response.json(), NOT_FOUND);
    }
    assert.deepEqual(refused, ['path-unknown', 'path-unknown']);
    assert.equal(settled.length, 0);
  });
}

test('with a base path in the public URL, the endpoints are under it alone', async (t) => {
  const { url } = await startEdge(t, { config: { publicUrl: 'https://example.com/tools' } });
  for (const path of ['/tools/mcp', '/tools/mcp/', '/tools/mcp/docs']) {
    assert.equal((await post(url + path, '{}')).status, 200, path);
  }
  assert.equal((await post(`${url}/mcp`, '{}')).status, 404);
});

// CONNECT asks for a tunnel; Node closes such a connection before anything of ours sees it.
const OTHER_METHODS = METHODS.filter(
  (method) => !['POST', 'GET', 'DELETE', 'OPTIONS', 'CONNECT'].includes(method),
);

test('F40: every other method is 405, in JSON, and names those that there are', async (t) => {
  const { port, settled } = await startEdge(t);
  for (const method of OTHER_METHODS) {
    const client = await RawClient.open(t, port);
    client.send(`${head(`${method} /mcp/everything HTTP/1.1`, 'Content-Length: 2', 'Connection: close')}{}`);
    const answer = await client.closed();
    assert.match(answer, /^HTTP\/1.1 405 Method Not Allowed\r\n/, method);
    assert.match(answer, new RegExp(`^Allow: ${ALLOW}\r$`, 'm'), method);
    assert.match(answer, /^Content-Type: application\/json\r$/m, method);
    const body = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"The HTTP method is not for this path"}}';
    assert.equal(answer.endsWith(body), method !== 'HEAD', method);
  }
  assert.equal(settled.length, OTHER_METHODS.length);
  assert.ok(settled.every(({ outcome }) => outcome === 'http-method'));
});

test('F40: a browser that navigates here reaches the line as any GET does', async (t) => {
  const { url } = await startEdge(t);
  const Accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  assert.equal((await fetch(`${url}/mcp`, { headers: { Accept } })).status, 200);
});

test('F54: a foreign Origin is refused on every method and path, before any body is read', async (t) => {
  const { port } = await startEdge(t, { config: { bodyLimitBytes: 10 } });
  for (const [method, path] of [
    ['POST', '/mcp'],
    ['GET', '/mcp'],
    ['DELETE', '/mcp/docs'],
    ['OPTIONS', '/mcp'],
    ['PUT', '/mcp'],
    ['GET', '/elsewhere'],
  ]) {
    const client = await RawClient.open(t, port);
    const answer = client.send(
      head(`${method} ${path} HTTP/1.1`, 'Origin: https://evil.example', 'Content-Length: 99999'),
    );
    assert.match(
      await answer.until('}}'),
      /^HTTP\/1.1 403 [\s\S]*"This Origin is not allowed; see gateway.origins"/,
    );
    assert.doesNotMatch(client.received, /access-control/i);
  }
});

test('F54: an empty Origin, or two of them, are refused', async (t) => {
  const { port } = await startEdge(t);
  for (const lines of [['Origin:'], ['Origin: http://localhost', 'Origin: http://localhost']]) {
    const client = await RawClient.open(t, port);
    client.send(`${head('POST /mcp HTTP/1.1', ...lines, 'Content-Length: 2')}{}`);
    assert.match(await client.until('}}'), /^HTTP\/1.1 403 /);
  }
});

test('F54: a Host that is not ours is refused: a rebound name', async (t) => {
  const { port } = await startEdge(t);
  const client = await RawClient.open(t, port);
  client.send('POST /mcp HTTP/1.1\r\nHost: rebound.evil:8080\r\nContent-Length: 2\r\n\r\n{}');
  assert.match(
    await client.until('}}'),
    /^HTTP\/1.1 403 [\s\S]*"This Host is not allowed; see gateway.publicUrl/,
  );
});

test('an absolute target stands above the Host header', async (t) => {
  const { port } = await startEdge(t);
  for (const [authority, status] of [
    ['rebound.evil', 403],
    ['localhost:8080', 200],
  ]) {
    const client = await RawClient.open(t, port);
    client.send(`${head(`POST http://${authority}/mcp HTTP/1.1`, 'Content-Length: 2')}{}`);
    assert.match(await client.until('}}'), new RegExp(`^HTTP/1.1 ${status} `));
  }
});

test('F58: no query string reaches the log, whatever becomes of the request', async (t) => {
  const { url, logLines } = await startEdge(t, {
    handle: () => {
      throw new Error('fails');
    },
  });
  for (const path of ['/mcp', '/mcp/docs', '/nothing', '/mcp/%zz']) {
    await (await post(`${url}${path}?access_token=canary-3f9a`, '{}')).text();
  }
  assert.ok(logLines.length > 0);
  assert.doesNotMatch(logLines.join(''), /canary-3f9a/);
});
