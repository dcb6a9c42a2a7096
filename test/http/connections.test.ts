import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { DEFAULT_HTTP_TIMING } from '../../src/http/http-timing.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import { createAuthority } from '../support/certificates.ts';
import { nextRequest } from '../support/next-request.ts';
import { startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const REQUEST = `${head('POST /mcp HTTP/1.1', 'Content-Length: 2')}{}`;

test('F41: idle connections outlive those of common load balancers, and headers have longer still', () => {
  const { keepAliveTimeoutMs, headersTimeoutMs, requestTimeoutMs } = DEFAULT_HTTP_TIMING;
  assert.ok(keepAliveTimeoutMs > 60_000);
  assert.ok(headersTimeoutMs > keepAliveTimeoutMs);
  assert.ok(requestTimeoutMs >= headersTimeoutMs);
});

test('F41: an idle connection is told how long it may stay, and is kept about so long', async (t) => {
  const { port } = await startEdge(t, { timing: { keepAliveTimeoutMs: 100 } });
  const client = await RawClient.open(t, port);
  const answer = await client.send(REQUEST).until('}}');
  assert.match(answer, /^Connection: keep-alive\r$/m);
  const answeredAt = performance.now();
  await client.closed();
  assert.ok(performance.now() - answeredAt >= 99);
});

test('F44: once it stops accepting, idle connections close, busy ones finish with their last answer', async (t) => {
  const running = Promise.withResolvers<Exchange>();
  const { port, server } = await startEdge(t, {
    handle: (exchange) => (exchange.view === 'quick' ? exchange.reply.accept() : running.resolve(exchange)),
  });
  const idle = await RawClient.open(t, port);
  await idle.send(REQUEST.replace('/mcp', '/mcp/quick')).until('202');
  const busy = await RawClient.open(t, port);
  busy.send(REQUEST);
  const { reply } = await running.promise;
  server.stopAccepting();
  await idle.closed();
  await assert.rejects(RawClient.open(t, port), { code: 'ECONNREFUSED' });

  reply.respond('1', { result: {} });
  const answer = await busy.closed();
  assert.match(answer, /^HTTP\/1.1 200 [\s\S]*^Connection: close\r$[\s\S]*"result":\{\}\}$/m);
});

test('F44: before it stops, while draining, requests are served and told to connect anew', async (t) => {
  const { port } = await startEdge(t, { isDraining: () => true });
  const client = await RawClient.open(t, port);
  const answer = await client.send(REQUEST).closed();
  assert.match(answer, /^HTTP\/1.1 200 [\s\S]*^Connection: close\r$/m);
});

test('F44: a stream that was open when accepting stopped ends whole, and its connection with it', async (t) => {
  const running = Promise.withResolvers<Exchange>();
  const { port, server } = await startEdge(t, {
    handle: (exchange) => {
      exchange.reply.openStream();
      running.resolve(exchange);
    },
  });
  const client = await RawClient.open(t, port);
  client.send(REQUEST);
  const { reply } = await running.promise;
  server.stopAccepting();
  reply.respond('1', { result: {} });
  const answer = await client.closed();
  assert.ok(answer.endsWith('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n\r\n0\r\n\r\n'), answer);
});

test('F44: a request that still comes on an old connection is told to go elsewhere', async (t) => {
  const running = Promise.withResolvers<Exchange>();
  const { port, server } = await startEdge(t, {
    handle: (exchange) => {
      exchange.reply.openStream();
      running.resolve(exchange);
    },
  });
  const client = await RawClient.open(t, port);
  client.send(REQUEST);
  const { reply } = await running.promise;
  server.stopAccepting();
  const arrived = nextRequest();
  client.send(REQUEST);
  await arrived;
  reply.end();
  const [, refusal = ''] = (await client.closed()).split('0\r\n\r\n');
  assert.match(refusal, /^HTTP\/1.1 503 [\s\S]*^Retry-After: 1\r$[\s\S]*^Connection: close\r$[\s\S]*5030/m);
});

test('F44: closing ends what is open: streams whole, waiting requests with 503', async (t) => {
  const { port, server, nextSettled } = await startEdge(t, {
    handle: ({ reply, view }) => {
      if (view === 'stream') reply.openStream();
    },
  });
  const waiting = await RawClient.open(t, port);
  const stream = await RawClient.open(t, port);
  waiting.send(REQUEST);
  await stream.send(REQUEST.replace('/mcp', '/mcp/stream')).until(': keep-alive');
  while (server.openReplies < 2) await new Promise((resolve) => setImmediate(resolve));
  const settling = nextSettled();
  await server.close();
  await settling;
  assert.match(await waiting.closed(), /^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*"code":5030/);
  assert.ok((await stream.closed()).endsWith('0\r\n\r\n'));
});

test('F44: closing does not wait for a client that does not read', async (t) => {
  const big = { jsonrpc: '2.0', method: 'x', params: { text: 'x'.repeat(2 ** 24) } } as const;
  const { port, server } = await startEdge(t, { handle: ({ reply }) => void reply.send(big) });
  const client = await RawClient.open(t, port);
  client.socket.pause();
  client.send(REQUEST);
  while (server.openStreams < 1) await new Promise((resolve) => setImmediate(resolve));
  const startedAt = performance.now();
  await server.close();
  assert.ok(performance.now() - startedAt < 1_000);
});

test('closing twice, or without ever having listened, is fine', async (t) => {
  const { server } = await startEdge(t);
  await Promise.all([server.close(), server.close()]);
  await server.close();
});

test('an address that is taken fails the start, and nothing is left listening', async (t) => {
  const { port } = await startEdge(t);
  const listen = { host: '127.0.0.1', port, tls: undefined };
  await assert.rejects(startEdge(t, { config: { listen } }), { code: 'EADDRINUSE' });
});

test('localhost is bound on every address that it has', async (t) => {
  const listen = { host: 'localhost', port: 0, tls: undefined };
  const { urls } = await startEdge(t, { config: { listen } });
  assert.ok(urls.length > 0);
  for (const url of urls) {
    assert.match(url, /^http:\/\/(?:127\.0\.0\.1|\[::1\]):\d+$/);
    assert.equal((await fetch(`${url}/mcp`)).status, 200);
  }
});

test('TLS is spoken where a certificate is configured, and whatever else comes is cut off', async (t) => {
  const authority = createAuthority();
  const tls = authority.issueServer();
  const { url, port } = await startEdge(t, { config: { listen: { host: '127.0.0.1', port: 0, tls } } });
  assert.match(url, /^https:/);
  const plain = await RawClient.open(t, port);
  await plain.send(REQUEST).closed();

  const client = connect({ host: '127.0.0.1', port, ca: authority.cert });
  t.after(() => client.destroy());
  client.write(REQUEST.replace('\r\n', '\r\nConnection: close\r\n'));
  const answer = await text(client);
  assert.match(answer, /^HTTP\/1.1 200 /);
});
