// What a replica does not take: messages that are not signed, or not as they were, and more of them than there is room for.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { MAX_ENVELOPE_BYTES, sealEnvelope } from '../../src/replicas/envelope.ts';
import { replicaKeys } from '../../src/replicas/replica-keys.ts';
import type { ForwardedExchange } from '../../src/replicas/replicas.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { eventually } from '../support/eventually.ts';
import {
  EDGE,
  framesOf,
  HOME,
  openWire,
  SECRET,
  sentExchange,
  signedRequest,
} from '../support/replica-wire.ts';

const NEVER = new AbortController().signal;

test('ten thousand requests of nobody harm nothing', async (t) => {
  const wire = await openWire(t, { handle: async ({ reply }) => reply.accept() });
  const signed = (signature: string) => `Portico-Signature: ${signature}\r\n`;
  const head = 'POST /exchange HTTP/1.1\r\nHost: x\r\n';
  const request = (headers: string, body: string, start = head) =>
    `${start}${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const kinds = [
    request('', 'x'),
    request(signed('x'), '{"v":1}\n{}'),
    request(signed('A'.repeat(43)), '{"v":1}\n{}'),
    request(signed('x'), 'no line end'),
    request(signed('x'), ''),
    request('', '', 'GET / HTTP/1.1\r\nHost: x\r\n'),
    request('', '{}', 'POST /mcp HTTP/1.1\r\nHost: x\r\n'),
    request(`${signed('x')}Authorization: Bearer x\r\n`, `${'x'.repeat(2_000)}\n`),
    request(signed('x'), '{}', 'DELETE /exchange HTTP/1.1\r\nHost: x\r\n'),
    '\u0000\u0001 no HTTP\r\n\r\n',
  ];
  const { port } = new URL(wire.url);
  const statuses = new Map<string, number>();
  const send = async (bytes: string) => {
    const answer = await rawRequest(Number(port), bytes);
    const [, status = 'none'] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? [];
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(kinds.map((bytes) => send(bytes.repeat(100))));
  }
  assert.deepEqual([...statuses.keys()].sort(), ['400', '403']);
  assert.equal(wire.budgets.home.usedBytes, 0);
  assert.equal(wire.openReplies(), 0);
  assert.deepEqual([...new Set(wire.refused)].sort(), ['request', 'signature']);
  const frames = await framesOf(await wire.client.forward(wire.home, sentExchange(), NEVER));
  assert.deepEqual(frames[0], { accept: 202 });
});

test('a home whose buffers are full says so, and takes nothing', async (t) => {
  const budget = new BufferBudget(100);
  const wire = await openWire(t, { server: { budget }, handle: async ({ reply }) => reply.accept() });
  await assert.rejects(wire.client.forward(wire.home, sentExchange(), NEVER), { code: 'no-capacity' });
  assert.equal(budget.usedBytes, 0);
  assert.deepEqual(wire.refused, ['capacity']);
});

test('whoever has not signed is told nothing, and what is not signed is not read', async (t) => {
  const wire = await openWire(t, { handle: async ({ reply }) => reply.accept() });
  const answer = await fetch(`${wire.url}/exchange`, { method: 'POST', body: '{}' });
  assert.equal(answer.status, 403);
  assert.deepEqual(await answer.json(), { error: 'This listener is for other replicas of the gateway' });
  const long = await fetch(`${wire.url}/exchange`, {
    method: 'POST',
    headers: { 'portico-signature': 'x' },
    body: 'x'.repeat(MAX_ENVELOPE_BYTES + 1),
  });
  assert.equal(long.status, 422);
  assert.deepEqual(wire.refused, ['request', 'size']);
});

test('what is not signed takes none of the room that clients have', async (t) => {
  const budget = new BufferBudget(64 * 1024 * 1024);
  const wire = await openWire(t, { server: { budget }, handle: async ({ reply }) => reply.accept() });
  const { port } = new URL(wire.url);
  const head = `POST /exchange HTTP/1.1\r\nHost: x\r\nPortico-Signature: x\r\nContent-Length: ${MAX_ENVELOPE_BYTES}\r\n\r\n`;
  // The line never ends.
  const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(MAX_ENVELOPE_BYTES - 1, 'x')]);
  const sockets = Array.from({ length: 60 }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => {}).write(bytes);
  await eventually('more are there than are held', () => wire.refused.includes('capacity'));
  await eventually('what is held is bounded', () => budget.usedBytes > MAX_ENVELOPE_BYTES);
  assert.ok(budget.usedBytes <= 16 * MAX_ENVELOPE_BYTES, `${budget.usedBytes} bytes are held`);
  for (const socket of sockets) socket.destroy();
  await eventually('it is all given back', () => budget.usedBytes === 0);
  const frames = await framesOf(await wire.client.forward(wire.home, sentExchange(), NEVER));
  assert.deepEqual(frames[0], { accept: 202 });
});

test('the room for what is not signed is given back as soon as it is', async (t) => {
  const done = Promise.withResolvers<void>();
  let running = 0;
  const wire = await openWire(t, {
    async handle({ reply }) {
      running += 1;
      await done.promise;
      reply.accept();
    },
  });
  const credentials = 'x'.repeat(MAX_ENVELOPE_BYTES - 4_096);
  const asked = Array.from({ length: 20 }, async (_, index) => {
    const sent = sentExchange({ id: `exchange-${index}`, credentials });
    return framesOf(await wire.client.forward(wire.home, sent, NEVER));
  });
  await eventually('all run at once', () => running === asked.length);
  done.resolve();
  await Promise.all(asked);
  assert.deepEqual(wire.refused, []);
});

test('nobody is told to go on with a message: replicas send it at once', async (t) => {
  const wire = await openWire(t, { handle: async ({ reply }) => reply.accept() });
  const socket = connect(Number(new URL(wire.url).port), '127.0.0.1');
  socket.write(signedRequest('Expect: 100-continue\r\n'));
  assert.match(await text(socket), /^HTTP\/1\.1 403 /);
  assert.deepEqual(wire.refused, ['request']);
});

test('a message that is not the one that was signed is not taken', async (t) => {
  const wire = await openWire(t, { handle: async ({ reply }) => reply.accept() });
  const route = { from: EDGE, to: HOME, key: replicaKeys(SECRET).envelope, now: Date.now() };
  const send = async (
    sent: ForwardedExchange,
    body: Buffer,
    { line, signature } = sealEnvelope(sent, route),
  ) => {
    const bytes = Buffer.concat([line, Buffer.from('\n'), body]);
    const headers = { 'portico-signature': signature };
    return (await fetch(`${wire.url}/exchange`, { method: 'POST', headers, body: bytes })).status;
  };
  const sent = sentExchange();
  assert.equal(await send(sent, Buffer.from('{}')), 403);
  assert.equal(await send(sent, Buffer.alloc(0)), 403);
  const large = sentExchange({ body: Buffer.alloc(1024 * 1024 + 1, ' ') });
  assert.equal(await send(large, large.body), 422, 'it is there for all that is smaller');
  const sealed = sealEnvelope(sent, route);
  assert.equal(await send(sent, sent.body, sealed), 200);
  assert.equal(await send(sent, sent.body, sealed), 403, 'the second time');
  const elsewhere = sealEnvelope(sent, { ...route, to: 'home-2' });
  assert.equal(await send(sent, sent.body, elsewhere), 403);
  const old = sealEnvelope(sent, { ...route, now: Date.now() - 60_000 });
  assert.equal(await send(sent, sent.body, old), 422);
  assert.deepEqual(wire.refused, ['digest', 'digest', 'size', 'replayed', 'addressee', 'time']);
});

/** All that is answered until the other side closes; the last request asks it to. */
async function rawRequest(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const closing = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  socket.end(bytes + closing);
  let answer = '';
  try {
    for await (const chunk of socket) answer += String(chunk);
  } catch {
    // What was answered before the connection broke counts.
  }
  return answer;
}
