import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import { startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const BIG = {
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { data: 'x'.repeat(2 ** 20) },
} as const;
/** Far more than the kernel takes in for both sides of a loopback connection. */
const PLENTY = 24;
const ROOMY = { maxQueuedReplyBytes: 2 * PLENTY * 2 ** 20 };
const POST = `${head('POST /mcp HTTP/1.1', 'Content-Length: 2')}{}`;

/** Sends plenty without waiting; the promise is the one to wait for. */
function fill({ reply }: Exchange): Promise<void> {
  let full: Promise<void> | undefined;
  for (let sent = 0; sent < PLENTY; sent += 1) full = reply.send(BIG);
  assert.ok(full !== undefined, 'the socket is full');
  return full;
}

async function pausedClient(t: Parameters<typeof RawClient.open>[0], port: number): Promise<RawClient> {
  const client = await RawClient.open(t, port);
  client.socket.pause();
  return client.send(POST);
}

test('a full socket makes the sender wait until the client reads on', async (t) => {
  const started = Promise.withResolvers<{ full: Promise<void> }>();
  const { port, server } = await startEdge(t, {
    handle: async (exchange) => {
      const full = fill(exchange);
      started.resolve({ full });
      await full;
      exchange.reply.respond('1', { result: {} });
    },
    timing: ROOMY,
  });
  const client = await pausedClient(t, port);
  const { full } = await started.promise;
  assert.ok(server.bufferedBytes > 0, 'what the client has not read is counted');
  assert.equal(await Promise.race([full.then(() => 'drained'), 'still full']), 'still full');
  client.socket.resume();
  await full;
  assert.equal(server.bufferedBytes, '{}'.length, 'only the body of the call is left');
  await client.until('"id":1');
});

test('a sender that waits for a full socket is freed when the client leaves instead', async (t) => {
  const started = Promise.withResolvers<{ full: Promise<void> }>();
  const { port, server, nextSettled } = await startEdge(t, {
    handle: (exchange) => started.resolve({ full: fill(exchange) }),
    timing: ROOMY,
  });
  const client = await pausedClient(t, port);
  const { full } = await started.promise;
  const settling = nextSettled();
  client.socket.resetAndDestroy();
  await full;
  assert.equal((await settling).outcome, 'cancelled');
  assert.equal(server.bufferedBytes, 0);
});

test('a sender that does not wait loses its own exchange once too much is queued, and nobody else does', async (t) => {
  const { port, nextSettled, server } = await startEdge(t, {
    handle: (exchange) => {
      if (exchange.view === 'other') return exchange.reply.respond('1', { result: {} });
      for (let sent = 0; sent < PLENTY; sent += 1) exchange.reply.send(BIG);
    },
    timing: { maxQueuedReplyBytes: 3 * 2 ** 20 },
  });
  const settling = nextSettled();
  await pausedClient(t, port);
  const { outcome, reason } = await settling;
  assert.deepEqual({ outcome, reason }, { outcome: 'no-capacity', reason: 'slow_reader' });
  assert.equal(server.bufferedBytes, 0);

  const other = await RawClient.open(t, port);
  await other.send(POST.replace('/mcp', '/mcp/other')).until('"id":1');
});

test('one message larger than the bound still goes through', async (t) => {
  const { port } = await startEdge(t, {
    handle: ({ reply }) => {
      reply.send(BIG);
      reply.respond('1', { result: {} });
    },
    timing: { maxQueuedReplyBytes: 1000 },
  });
  const client = await RawClient.open(t, port);
  await client.send(POST).until('"id":1');
});

test('answers together are bounded: a large one that finds no room becomes 503, with its id', async (t) => {
  const large = 'x'.repeat(200_000);
  const { port, nextSettled } = await startEdge(t, {
    handle: ({ reply }) => reply.respond('9007199254740993', { result: { large } }),
    config: { maxBufferedBytes: 100_000 },
  });
  const client = await RawClient.open(t, port);
  const settling = nextSettled();
  const answer = await client.send(POST).until('}}');
  assert.match(answer, /^HTTP\/1.1 503 [\s\S]*"id":9007199254740993,"error":\{"code":5030/);
  assert.equal((await settling).outcome, 'no-capacity');
});

test('a large answer is counted until the client has read it', async (t) => {
  const large = 'x'.repeat(16 * 2 ** 20);
  const { port, server, nextSettled } = await startEdge(t, {
    handle: ({ reply }) => reply.respond('1', { result: { large } }),
  });
  const settling = nextSettled();
  const client = await pausedClient(t, port);
  while (server.bufferedBytes < large.length) await new Promise((resolve) => setImmediate(resolve));
  client.socket.resume();
  assert.equal((await settling).outcome, 'ok');
  assert.equal(server.bufferedBytes, 0);
});

test('a client that reads nothing of what waits for it is cut off after a while', async (t) => {
  const { port, nextSettled, server } = await startEdge(t, {
    handle: (exchange) => void fill(exchange),
    timing: { ...ROOMY, stallTimeoutMs: 40 },
  });
  const settling = nextSettled();
  await pausedClient(t, port);
  const { outcome, reason } = await settling;
  assert.deepEqual({ outcome, reason }, { outcome: 'no-capacity', reason: 'slow_reader' });
  assert.equal(server.bufferedBytes, 0);
});

test('a quiet stream is not a stalled one', async (t) => {
  const { port } = await startEdge(t, {
    handle: async ({ reply }) => {
      reply.openStream();
      await new Promise((resolve) => setTimeout(resolve, 60));
      reply.respond('1', { result: {} });
    },
    timing: { stallTimeoutMs: 20 },
  });
  const client = await RawClient.open(t, port);
  await client.send(POST).until('"id":1');
});
