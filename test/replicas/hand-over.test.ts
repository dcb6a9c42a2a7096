// A client's message handed to another replica, and its answer back: real sockets, both ends of the wire.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { GatewayError } from '../../src/errors.ts';
import { readJson, writeJson } from '../../src/protocol/json-text.ts';
import { ReplicaUnreachable } from '../../src/replicas/replicas.ts';
import { untilAborted } from '../../src/servers/within-time.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../support/eventually.ts';
import { nextRequest } from '../support/next-request.ts';
import {
  framesOf,
  openWire,
  type ReplicaWireOptions,
  sentExchange,
  signedRequest,
} from '../support/replica-wire.ts';

const NEVER = new AbortController().signal;

test('what is said to the reply at home arrives, in order, with every digit', async (t) => {
  const outcome = { result: readJson('{"big":9007199254740993.25,"text":"a\u2028b","nested":{"n":1e400}}') };
  const wire = await openWire(t, {
    async handle({ reply, body, headers, principal, view, httpMethod, arrival, caller, forwarded }) {
      reply.setHeader('Mcp-Session-Id', 'new');
      reply.openStream('epoch-0');
      await reply.send(
        { jsonrpc: '2.0', method: 'notifications/x', params: { ...headers, body: String(body) } },
        'epoch-1',
      );
      const seen = { principal, view, httpMethod, address: arrival.address, token: caller.token() ?? null };
      await reply.send({
        jsonrpc: '2.0',
        method: 'notifications/y',
        params: { ...seen, forwarded } as never,
      });
      reply.respond('7', outcome as never, { eventId: 'epoch-2' });
    },
  });
  const sent = sentExchange();
  const frames = await framesOf(await wire.client.forward(wire.home, sent, NEVER));
  const [header, open, one, two, respond, record, ...others] = frames;
  assert.deepEqual(header, { header: ['Mcp-Session-Id', 'new'] });
  assert.deepEqual(open, { open: { primingEventId: 'epoch-0' } });
  assert.deepEqual(one, {
    send: {
      message: {
        jsonrpc: '2.0',
        method: 'notifications/x',
        params: { ...sent.headers, body: String(sent.body) },
      },
      eventId: 'epoch-1',
    },
  });
  const { tokenId: _, expiresAtMs: __, ...principal } = sent.principal;
  assert.deepEqual((two as { send: { message: { params: unknown } } }).send.message.params, {
    ...{ principal, view: 'everything', httpMethod: 'POST', address: '10.1.2.3', token: null },
    forwarded: { replica: 'edge-1', kind: 'permitted' },
  });
  assert.equal(
    writeJson(respond),
    `{"respond":{"outcome":${writeJson(outcome)},"idText":"7","eventId":"epoch-2"}}`,
  );
  assert.ok(record !== undefined && 'record' in record);
  assert.equal(record.record.outcome, 'ok');
  assert.equal(
    record.record.answerBytes,
    Buffer.byteLength(`{"jsonrpc":"2.0","id":7,${writeJson(outcome).slice(1)}`),
  );
  assert.deepEqual(others, []);
  assert.equal(wire.settled.get('exchange-1'), 'ok');
});

test('a header that comes too late goes nowhere', async (t) => {
  const wire = await openWire(t, {
    async handle({ reply }) {
      reply.openStream();
      reply.setHeader('Too-Late', 'x');
      reply.end();
    },
  });
  const [open, end] = await framesOf(await wire.client.forward(wire.home, sentExchange(), NEVER));
  assert.deepEqual([open, end], [{ open: {} }, { end: true }]);
});

test('a failure arrives with what is public of it, and without its cause', async (t) => {
  const details = {
    text: 'Words',
    data: { a: 1 },
    retryAfterMs: 5,
    scopes: ['x'],
    reason: 'r',
    cause: new Error('inner'),
  };
  const wire = await openWire(t, {
    handle: async ({ reply }) => reply.fail(new GatewayError('rate-limited', details), '"a"', 'modern'),
  });
  const frames = await framesOf(await wire.client.forward(wire.home, sentExchange(), NEVER));
  const { cause: _, ...told } = details;
  assert.deepEqual(frames[0], {
    fail: { code: 'rate-limited', details: told, idText: '"a"', era: 'modern' },
  });
});

test('what is thrown at home is a failure there, and logged there', async (t) => {
  const wire = await openWire(t, { handle: async () => Promise.reject(new Error('inner')) });
  const frames = await framesOf(await wire.client.forward(wire.home, sentExchange(), NEVER));
  assert.deepEqual(frames[0], { fail: { code: 'internal', details: {}, era: 'legacy' } });
});

/** Says one thing, and then waits for its client to leave. */
async function waitingHome(
  t: TestContext,
  options: Omit<ReplicaWireOptions, 'handle'> = {},
  whenGone: (reason: unknown) => void = () => {},
) {
  const gone = Promise.withResolvers<void>();
  const wire = await openWire(t, {
    ...options,
    async handle({ reply, clientGone }) {
      await reply.send({ jsonrpc: '2.0', method: 'notifications/x' });
      await untilAborted(clientGone).catch(() => {});
      gone.resolve();
      whenGone(clientGone.reason);
    },
  });
  return { wire, gone: gone.promise };
}

test('a client that leaves is gone at home, whose line is told so, and which is no failure', async (t) => {
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const server = { logger: createLogger({ level: 'warn', secrets: [], destination }) };
  const { wire, gone } = await waitingHome(t, { server }, (reason) => {
    throw reason;
  });
  const leaving = new AbortController();
  const answer = await wire.client.forward(wire.home, sentExchange(), leaving.signal);
  await assert.rejects(async () => {
    for await (const frame of answer) if ('send' in frame) leaving.abort(new Error('left'));
  }, /left/);
  await gone;
  await eventually('it is over', () => wire.settled.has('exchange-1'));
  assert.equal(wire.settled.get('exchange-1'), 'cancelled');
  assert.deepEqual([wire.openReplies(), logged], [0, []]);
});

test('leaving the answer before its end cancels at home', async (t) => {
  const { wire, gone } = await waitingHome(t);
  for await (const _ of await wire.client.forward(wire.home, sentExchange(), NEVER)) break;
  await gone;
});

test('a client that reads slowly holds up its own answer, in bounded memory, and nobody else', async (t) => {
  const text = 'x'.repeat(64 * 1024);
  const total = 400;
  let said = 0;
  const wire = await openWire(t, {
    async handle({ id, reply }) {
      if (id === 'quick') return reply.respond('1', { result: {} });
      for (; said < total; said += 1) {
        await reply.send({ jsonrpc: '2.0', method: 'notifications/x', params: { text, said } });
      }
      reply.respond('1', { result: {} });
    },
  });
  const slow = await wire.client.forward(wire.home, sentExchange(), NEVER);
  const reading = slow[Symbol.asyncIterator]();
  await reading.next();
  await eventually('the home waits', async () => {
    const before = said;
    const quick = sentExchange({ id: 'quick' });
    assert.ok('respond' in ((await framesOf(await wire.client.forward(wire.home, quick, NEVER)))[0] ?? {}));
    return said > 0 && said === before;
  });
  assert.ok(said < total, `the home waits, after ${said} messages`);
  assert.ok(wire.budgets.home.usedBytes < 1024 * 1024, `${wire.budgets.home.usedBytes} bytes at home`);
  assert.ok(wire.budgets.edge.usedBytes < 1024 * 1024);
  let seen = 0;
  for (let next = await reading.next(); !next.done; next = await reading.next()) {
    if (!('send' in next.value)) continue;
    assert.deepEqual((next.value.send.message as { params?: unknown }).params, { text, said: seen });
    seen += 1;
  }
  assert.equal(seen, total);
});

test('a client that reads nothing at all loses its answer, and the home what it held for it', async (t) => {
  const wire = await openWire(t, {
    server: { timing: { stallTimeoutMs: 50 } },
    async handle({ reply, clientGone }) {
      const text = 'x'.repeat(256 * 1024);
      while (!clientGone.aborted) await reply.send({ jsonrpc: '2.0', method: 'x', params: { text } });
    },
  });
  await wire.client.forward(wire.home, sentExchange(), NEVER);
  await eventually('it is over', () => wire.settled.has('exchange-1'));
  assert.equal(wire.settled.get('exchange-1'), 'no-capacity');
  assert.equal(wire.budgets.home.usedBytes, 0);
});

test('F44 a home that ends says so to what is still open, and takes nothing more', async (t) => {
  const wire = await openWire(t, { handle: async ({ reply }) => reply.openStream() });
  const open = await wire.client.forward(wire.home, sentExchange(), NEVER);
  const reading = open[Symbol.asyncIterator]();
  await reading.next();
  await wire.end();
  const rest: unknown[] = [];
  for (let next = await reading.next(); !next.done; next = await reading.next()) rest.push(next.value);
  assert.deepEqual(rest[0], { end: true });
  await assert.rejects(wire.client.forward(wire.home, sentExchange(), NEVER), ReplicaUnreachable);
});

test('F44 what still comes on an open connection of a home that ends is refused as by one that is gone', async (t) => {
  const [running, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const wire = await openWire(t, {
    async handle({ reply }) {
      running.resolve();
      await done.promise;
      reply.accept();
    },
  });
  const socket = connect(Number(new URL(wire.url).port), '127.0.0.1');
  socket.write(signedRequest());
  await running.promise;
  const ended = wire.end();
  const arrived = nextRequest();
  socket.write(signedRequest());
  await arrived;
  done.resolve();
  const answer = await text(socket);
  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*"fail"[\s\S]*^HTTP\/1\.1 503 /m);
  assert.deepEqual(wire.refused, ['draining']);
  await ended;
});

test('an answer that there is no room for is a failure of its own call', async (t) => {
  const budget = new BufferBudget(100_000);
  const text = 'x'.repeat(200_000);
  const wire = await openWire(t, {
    server: { budget },
    handle: async ({ reply }) => reply.respond('1', { result: { text } }),
  });
  const [frame] = await framesOf(await wire.client.forward(wire.home, sentExchange(), NEVER));
  const fail = { code: 'no-capacity', details: { reason: 'buffers_full' }, idText: '1', era: 'legacy' };
  assert.deepEqual(frame, { fail });
  assert.equal(budget.usedBytes, 0);
});

test('a home that says nothing for long shows that it is there', async (t) => {
  const done = Promise.withResolvers<void>();
  const wire = await openWire(t, {
    server: { timing: { keepAliveCommentMs: 100 } },
    async handle({ reply }) {
      await done.promise;
      reply.accept();
    },
  });
  const socket = connect(Number(new URL(wire.url).port), '127.0.0.1');
  socket.write(signedRequest());
  let heard = '';
  socket.on('data', (chunk) => {
    heard += String(chunk);
  });
  await eventually('two empty lines', () => /(?:1\r\n\n\r\n){2}/.test(heard));
  done.resolve();
  await eventually('the answer', () => heard.includes('{"accept":202}'));
  socket.destroy();
});
