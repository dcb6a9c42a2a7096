import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../src/errors.ts';
import { post, startEdge } from './edge.ts';

const ORIGIN = 'https://app.example';
const config = { origins: [ORIGIN], bodyLimitBytes: 1000 };
const REQUESTED = [
  'authorization',
  'content-type',
  'accept',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
  'mcp-param-region',
  'last-event-id',
  'traceparent',
];

function preflight(url: string, headers: Record<string, string> = {}): Promise<Response> {
  const asked = { Origin: ORIGIN, 'Access-Control-Request-Method': 'POST' };
  return fetch(url, { method: 'OPTIONS', headers: { ...asked, ...headers } });
}

function listOf(response: Response, header: string): readonly string[] {
  return (response.headers.get(header) ?? '').split(', ');
}

for (const requested of REQUESTED) {
  test(`F53: a preflight that asks for ${requested} is granted, without a token`, async (t) => {
    const { url } = await startEdge(t, { config });
    const response = await preflight(`${url}/mcp`, { 'Access-Control-Request-Headers': requested });
    assert.equal(response.status, 204);
    assert.equal(await response.text(), '');
    assert.equal(response.headers.get('access-control-allow-origin'), ORIGIN);
    assert.equal(response.headers.get('vary'), 'Origin');
    assert.equal(response.headers.get('access-control-allow-credentials'), null);
    assert.deepEqual(listOf(response, 'access-control-allow-methods'), ['POST', 'GET', 'DELETE', 'OPTIONS']);
    assert.ok(listOf(response, 'access-control-allow-headers').includes(requested));
  });
}

test('F53: Mcp-Param-* names are reflected as asked for; nothing else is', async (t) => {
  const { url } = await startEdge(t, { config });
  const asked = 'Mcp-Param-Region,mcp-param-a b, mcp-param-Region, x-other, mcp-param-"q", mcp-param-z.1';
  const response = await preflight(`${url}/mcp/everything`, { 'Access-Control-Request-Headers': asked });
  const reflected = listOf(response, 'access-control-allow-headers').filter(
    (name) => name.startsWith('mcp-param-') || name.startsWith('x-'),
  );
  assert.deepEqual(reflected, ['mcp-param-region', 'mcp-param-z.1']);
});

test('F53: the preflight of a foreign origin is refused, without any CORS header', async (t) => {
  const { url } = await startEdge(t, { config });
  const response = await preflight(`${url}/mcp`, { Origin: 'https://evil.example' });
  assert.equal(response.status, 403);
  const corsHeaders = [...response.headers.keys()].filter((name) => name.startsWith('access-control-'));
  assert.deepEqual(corsHeaders, []);
  assert.deepEqual(await response.json(), {
    jsonrpc: '2.0',
    error: { code: -32600, message: 'This Origin is not allowed; see gateway.origins' },
  });
});

test('OPTIONS that is no preflight names the methods', async (t) => {
  const { url } = await startEdge(t, { config });
  const response = await fetch(`${url}/mcp/`, { method: 'OPTIONS' });
  assert.equal(response.status, 204);
  assert.equal(response.headers.get('allow'), 'POST, GET, DELETE, OPTIONS');
});

test('F53: a preflight is no exchange: nothing is settled for it', async (t) => {
  const { url, settled } = await startEdge(t, { config });
  await preflight(`${url}/mcp`);
  await post(`${url}/mcp`, '{}');
  assert.equal(settled.length, 1);
});

const FAILURES_OF_A_CALL = [
  ['not-json', 400],
  ['token-missing', 401],
  ['scope-insufficient', 403],
  ['session-unknown', 404],
  ['rate-limited', 429],
  ['internal', 500],
  ['no-capacity', 503],
] as const;

for (const [code, status] of FAILURES_OF_A_CALL) {
  test(`F53: a browser may read the answer ${status} ${code}`, async (t) => {
    const { url } = await startEdge(t, {
      config,
      handle: ({ reply }) => reply.fail(new GatewayError(code), '1', 'modern'),
    });
    const response = await post(`${url}/mcp`, '{}', { Origin: ORIGIN });
    assert.equal(response.status, status);
    assertReadable(response);
  });
}

test('F53: a browser may read what the edge itself refuses', async (t) => {
  const { url } = await startEdge(t, { config });
  const answers = {
    404: await fetch(`${url}/nothing-here`, { headers: { Origin: ORIGIN } }),
    405: await fetch(`${url}/mcp`, { method: 'PUT', headers: { Origin: ORIGIN } }),
    406: await post(`${url}/mcp`, '{}', { Origin: ORIGIN, Accept: 'text/html' }),
    413: await post(`${url}/mcp`, ' '.repeat(1001), { Origin: ORIGIN }),
    415: await post(`${url}/mcp`, '{}', { Origin: ORIGIN, 'Content-Type': 'text/plain' }),
  };
  for (const [status, response] of Object.entries(answers)) {
    assert.equal(response.status, Number(status));
    assertReadable(response);
  }
});

test('F53: event streams carry the headers too', async (t) => {
  const { url } = await startEdge(t, {
    config,
    handle: ({ reply }) => {
      reply.openStream();
      reply.respond('1', { result: {} });
    },
  });
  const response = await post(`${url}/mcp`, '{}', { Origin: ORIGIN });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  assertReadable(response);
  await response.text();
});

function assertReadable(response: Response): void {
  assert.equal(response.headers.get('access-control-allow-origin'), ORIGIN);
  assert.equal(response.headers.get('vary'), 'Origin');
  assert.deepEqual(listOf(response, 'access-control-expose-headers'), [
    'WWW-Authenticate',
    'Mcp-Session-Id',
    'MCP-Protocol-Version',
    'Retry-After',
  ]);
}
