// What a client gets is the same whether the replica that it reached answers it, or another one by way of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { GatewayError } from '../../src/errors.ts';
import { readAccept } from '../../src/http/accept-header.ts';
import { FramedReply } from '../../src/http/framed-reply.ts';
import { KeepAliveComments } from '../../src/http/keep-alive-comments.ts';
import type { ClientReply, Exchange } from '../../src/pipeline/exchange.ts';
import { forwardedHeaders } from '../../src/replicas/forwarded-headers.ts';
import type { ReplyFrame } from '../../src/replicas/replicas.ts';
import { SignedLines } from '../../src/replicas/signed-lines.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { newRecord } from '../../src/telemetry/exchange-record.ts';
import { openWire } from '../support/replica-wire.ts';
import { type Edge, post, startEdge } from './edge.ts';

const NOTE = { jsonrpc: '2.0', method: 'notifications/x', params: { text: 'a\u2028b' } } as const;
const FAILURE = new GatewayError('rate-limited', { retryAfterMs: 2_000, data: { limit: 'fair' } });

type Script = (reply: ClientReply) => Promise<void> | void;

const SCRIPTS: Readonly<Record<string, Script>> = {
  'an answer': (reply) => reply.respond('7', { result: { a: 1 } }),
  'an answer of another status': (reply) =>
    reply.respond('"x"', { error: { code: -32601, message: 'No' } }, { status: 404 }),
  'headers, then an answer': (reply) => {
    reply.setHeader('Mcp-Session-Id', 'abc');
    reply.respond('7', { result: {} }, { eventId: 'e-1' });
    reply.setHeader('Too-Late', 'x');
  },
  'messages, then an answer': async (reply) => {
    await reply.send(NOTE, 'e-1');
    await reply.send(NOTE);
    reply.respond('9007199254740993', { result: {} }, { eventId: 'e-2' });
    await reply.send(NOTE, 'too-late');
  },
  'a stream with a priming event': async (reply) => {
    reply.openStream('e-0');
    await reply.send(NOTE, 'e-1');
    reply.end();
  },
  'a hold that runs out': async (reply) => {
    reply.holdFor(1, 'e-0');
    const until = performance.now() + 2_000;
    while (!reply.committed && reply.accepts.events && performance.now() < until) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    reply.respond('7', { result: {} }, { eventId: 'e-1' });
  },
  'a hold that an answer ends': (reply) => {
    reply.holdFor(60_000, 'e-0');
    reply.respond('7', { result: {} });
  },
  'a hold that a failure ends': (reply) => {
    reply.holdFor(60_000, 'e-0');
    reply.fail(new GatewayError('deadline-passed'), '7', 'legacy');
  },
  'a hold that a failure of its own status ends': (reply) => {
    reply.holdFor(60_000, 'e-0');
    reply.fail(FAILURE, '7', 'legacy');
  },
  'a failure': (reply) => reply.fail(FAILURE, '7', 'modern'),
  'a failure without an id': (reply) => reply.fail(FAILURE, undefined, 'legacy'),
  'a failure behind messages': async (reply) => {
    await reply.send(NOTE, 'e-1');
    reply.fail(FAILURE, '7', 'modern');
  },
  'a failure with a challenge': (reply) =>
    reply.fail(new GatewayError('scope-insufficient', { scopes: ['x'] }), '7', 'modern'),
  'an exception': () => Promise.reject(new GatewayError('method-unknown')),
  accepted: (reply) => reply.accept(),
  'accepted, and done with': (reply) => reply.accept(204),
  'the end of nothing': (reply) => reply.end(),
};

const ACCEPTS = ['application/json, text/event-stream', 'application/json', 'text/event-stream'];

async function throughAnother(t: TestContext, handle: (exchange: Exchange) => Promise<void>): Promise<Edge> {
  const wire = await openWire(t, { handle });
  return startEdge(t, {
    async handle({ id, httpMethod, view, headers, principal, arrival, body, clientGone, reply }) {
      const { address } = arrival;
      const kind = 'permitted' as const;
      const sent = {
        kind,
        id,
        httpMethod,
        view,
        principal,
        address,
        body,
        headers: forwardedHeaders(headers),
      };
      for await (const frame of await wire.client.forward(wire.home, sent, clientGone))
        await repeat(reply, frame);
    },
  });
}

function repeat(reply: ClientReply, frame: ReplyFrame): Promise<void> | undefined {
  if ('header' in frame) reply.setHeader(...frame.header);
  else if ('open' in frame) reply.openStream(frame.open.primingEventId);
  else if ('send' in frame) return reply.send(frame.send.message, frame.send.eventId);
  else if ('fail' in frame) {
    reply.fail(new GatewayError(frame.fail.code, frame.fail.details), frame.fail.idText, frame.fail.era);
  } else if ('accept' in frame) reply.accept(frame.accept);
  else if ('end' in frame) reply.end();
  else if ('respond' in frame) {
    const { idText, outcome, status, eventId } = frame.respond;
    reply.respond(idText, outcome, { ...(status && { status }), ...(eventId && { eventId }) });
  }
  return undefined;
}

async function answerOf(edge: Edge, script: string, accept: string): Promise<unknown> {
  const answer = await post(`${edge.url}/mcp/x`, script, { Accept: accept });
  const { date: _, ...headers } = Object.fromEntries(answer.headers);
  return { status: answer.status, headers, body: await answer.text() };
}

test('a client cannot tell whether another replica has answered', async (t) => {
  const handle = async ({ reply, body }: Exchange) => SCRIPTS[String(body)]?.(reply);
  const direct = await startEdge(t, { handle });
  const forwarded = await throughAnother(t, handle);
  for (const script of Object.keys(SCRIPTS)) {
    for (const accept of ACCEPTS) {
      await t.test(`${script}, for ${accept}`, async () => {
        assert.deepEqual(await answerOf(forwarded, script, accept), await answerOf(direct, script, accept));
      });
    }
  }
});

test('an answer that is over keeps nothing going, and who has it has not left', async (t) => {
  const heartbeats = new KeepAliveComments(1_000);
  const budget = new BufferBudget(1024 * 1024);
  const closed = Promise.withResolvers<void>();
  let isLeft = false;
  const server = createServer((_request, response) => {
    const reply = new FramedReply({
      ...{ response, heartbeats, record: newRecord('x', 0), accepts: readAccept('application/json') },
      signed: new SignedLines(Buffer.alloc(32), 'nonce'),
      ...{ hold: budget.open(), maxQueuedBytes: 1024, stallTimeoutMs: 1_000 },
      onFailure: () => {},
      onLeft: () => {
        isLeft = true;
      },
    });
    response.once('close', closed.resolve);
    assert.equal(heartbeats.size, 1);
    reply.respond('1', { result: { text: 'x'.repeat(100_000) } });
    void reply.close();
  });
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}`)).text();
  await closed.promise;
  assert.deepEqual([heartbeats.size, budget.usedBytes, isLeft], [0, 0, false]);
});
