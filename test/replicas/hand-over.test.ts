// A client's message handed to another replica, and its answer back: real sockets, both ends of the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../src/errors.ts';
import { readJson, writeJson } from '../../src/protocol/json-text.ts';
import { aborted, framesOf, openWire, sentExchange } from '../support/replica-wire.ts';

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

test('a client that leaves is gone at home, whose line is told so', async (t) => {
  const gone = Promise.withResolvers<void>();
  const wire = await openWire(t, {
    async handle({ reply, clientGone }) {
      await reply.send({ jsonrpc: '2.0', method: 'notifications/x' });
      await aborted(clientGone);
      gone.resolve();
      throw clientGone.reason;
    },
  });
  const leaving = new AbortController();
  const answer = await wire.client.forward(wire.home, sentExchange(), leaving.signal);
  await assert.rejects(async () => {
    for await (const frame of answer) if ('send' in frame) leaving.abort(new Error('left'));
  }, /left/);
  await gone.promise;
});

test('leaving the answer before its end cancels at home', async (t) => {
  const gone = Promise.withResolvers<void>();
  const wire = await openWire(t, {
    async handle({ reply, clientGone }) {
      await reply.send({ jsonrpc: '2.0', method: 'notifications/x' });
      await aborted(clientGone);
      gone.resolve();
    },
  });
  for await (const _ of await wire.client.forward(wire.home, sentExchange(), NEVER)) break;
  await gone.promise;
});
