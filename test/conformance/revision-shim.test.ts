import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { request } from 'undici';
import { startRevisionShim } from './revision-shim.ts';

interface Seen {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that notes what it gets, and a shim before it that asks for 2025-03-26. */
async function shimmed(t: TestContext): Promise<{ url: string; target: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (incoming, response) => {
    seen.push({ headers: incoming.headers, body: await text(incoming) });
    response.writeHead(202, { 'x-answer': 'kept' }).end('body');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const shim = await startRevisionShim(target, '2025-03-26');
  t.after(async () => {
    await shim[Symbol.asyncDispose]();
    server.close();
    server.closeAllConnections();
  });
  return { url: shim.url, target, seen };
}

test('the shim asks for the older revision in initialize and in the header', async (t) => {
  const { url, target, seen } = await shimmed(t);
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', a: 1 },
  };
  const answer = await request(url, { method: 'POST', body: JSON.stringify(initialize) });
  await request(url, { method: 'GET', headers: { 'mcp-protocol-version': '2025-11-25' } });
  assert.equal(answer.statusCode, 202);
  assert.equal(answer.headers['x-answer'], 'kept');
  assert.equal(await answer.body.text(), 'body');
  assert.deepEqual(JSON.parse(seen[0]?.body ?? '').params, { protocolVersion: '2025-03-26', a: 1 });
  assert.equal(seen[1]?.headers['mcp-protocol-version'], '2025-03-26');
  assert.equal(seen[1]?.headers.host, new URL(target).host);
});

test('the shim leaves a foreign Host and every other body as they are', async (t) => {
  const { url, seen } = await shimmed(t);
  const body = '{"method": "tools/call", "params": {"name": "initialize", "text": "\\u00e9"}}';
  await request(url, { method: 'POST', body, headers: { host: 'evil.example.com' } });
  assert.equal(seen[0]?.headers.host, 'evil.example.com');
  assert.equal(seen[0]?.body, body);
});
