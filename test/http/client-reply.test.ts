import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import { keepWritten } from '../../src/protocol/json-rpc.ts';
import type { StopSignal } from '../../src/runtime/stop.ts';
import { post, startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const PROGRESS = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } } as const;
const COMMENT = ': keep-alive\n\n';
const PROGRESS_EVENT = `data: ${JSON.stringify(PROGRESS)}\n\n`;
const RESULT_EVENT = 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n';

function eventHeadersOf(response: Response): Record<string, string | null> {
  const names = ['content-type', 'cache-control', 'x-accel-buffering', 'content-encoding'];
  return Object.fromEntries(names.map((name) => [name, response.headers.get(name)]));
}

test('a response that comes first is JSON, with its length and its status', async (t) => {
  const { url } = await startEdge(t, {
    handle: ({ reply }) => {
      reply.holdFor(5_000, 'unused');
      const error = { code: -32601, message: 'Method not found' };
      reply.respond('"abc"', { error }, { status: 404 });
    },
  });
  const response = await post(`${url}/mcp`, '{}');
  const text = await response.text();
  assert.equal(response.status, 404);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('content-length'), String(text.length));
  assert.equal(text, '{"jsonrpc":"2.0","id":"abc","error":{"code":-32601,"message":"Method not found"}}');
});

test('an answer beyond ASCII has the length of its bytes, as JSON and as the last event', async (t) => {
  const answerBytes: (number | undefined)[] = [];
  const { url } = await startEdge(t, {
    handle: ({ reply, record }) => {
      reply.setHeader('X-Of-This-Answer', 'yes');
      reply.respond('"ü"', { result: { text: 'aé€😀\u2028' } });
      answerBytes.push(record.answerBytes);
    },
  });
  const message = '{"jsonrpc":"2.0","id":"ü","result":{"text":"aé€😀\u2028"}}';
  const bytes = Buffer.byteLength(message);
  const json = await post(`${url}/mcp`, '{}');
  assert.equal(json.headers.get('content-length'), String(bytes));
  assert.equal(json.headers.get('x-of-this-answer'), 'yes');
  assert.equal(await json.text(), message);
  const events = await post(`${url}/mcp`, '{}', { accept: 'text/event-stream' });
  assert.equal(await events.text(), `${COMMENT}data: ${message}\n\n`);
  assert.deepEqual(answerBytes, [bytes, bytes]);
});

test('a message ahead of the response turns the answer into an event stream', async (t) => {
  const { url } = await startEdge(t, {
    handle: ({ reply }) => {
      reply.holdFor(5_000);
      assert.equal(reply.committed, false);
      reply.send(PROGRESS, 'first');
      assert.equal(reply.committed, true);
      reply.respond('1', { result: {} }, { status: 404, eventId: 'second' });
    },
  });
  const response = await post(`${url}/mcp`, '{}');
  assert.equal(response.status, 200);
  assert.deepEqual(eventHeadersOf(response), {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'content-encoding': null,
  });
  assert.equal(await response.text(), `${COMMENT}id: first\n${PROGRESS_EVENT}id: second\n${RESULT_EVENT}`);
});

test('a stream opens by itself when the hold is over, with the priming event first', async (t) => {
  const { url } = await startEdge(t, {
    handle: async ({ reply }) => {
      reply.holdFor(10, 'stream-1:0');
      while (!reply.committed) await new Promise((resolve) => setTimeout(resolve, 5));
      reply.respond('1', { result: {} });
    },
  });
  const response = await post(`${url}/mcp`, '{}', { 'Accept-Encoding': 'gzip, br' });
  assert.equal(response.headers.get('content-encoding'), null);
  assert.equal(await response.text(), `${COMMENT}id: stream-1:0\nretry: 1000\ndata:\n\n${RESULT_EVENT}`);
});

test('the hold never opens a stream for a client that takes JSON alone; its messages are dropped', async (t) => {
  const { url } = await startEdge(t, {
    handle: async ({ reply }) => {
      reply.holdFor(1);
      assert.equal(reply.send(PROGRESS), undefined);
      reply.openStream();
      await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal(reply.committed, false);
      reply.respond('1', { result: {} });
    },
  });
  const response = await post(`${url}/mcp`, '{}', { Accept: 'application/json' });
  assert.equal(await response.text(), '{"jsonrpc":"2.0","id":1,"result":{}}');
});

test('a client that takes events alone still gets a status other than 200 as JSON', async (t) => {
  const { url } = await startEdge(t, {
    handle: ({ reply }) => reply.respond('1', { error: { code: -32601, message: 'no' } }, { status: 404 }),
  });
  const response = await post(`${url}/mcp`, '{}', { Accept: 'text/event-stream' });
  assert.equal(response.status, 404);
  assert.equal(response.headers.get('content-type'), 'application/json');
  await response.text();
});

test('headers set before the answer go out with it, whatever kind it is', async (t) => {
  const { url } = await startEdge(t, {
    handle: ({ reply, view }) => {
      reply.setHeader('Mcp-Session-Id', 'abc');
      if (view === 'streamed') reply.openStream();
      reply.setHeader('Too-Late', view ?? '');
      reply.respond('1', { result: {} });
    },
  });
  for (const view of ['plain', 'streamed']) {
    const response = await post(`${url}/mcp/${view}`, '{}');
    assert.equal(response.headers.get('mcp-session-id'), 'abc');
    assert.equal(response.headers.get('too-late'), view === 'plain' ? 'plain' : null);
    await response.text();
  }
});

for (const [status, text] of [
  [202, 'HTTP/1.1 202 Accepted\r\nVary: Origin\r\nContent-Length: 0\r\n'],
  [204, 'HTTP/1.1 204 No Content\r\nVary: Origin\r\n'],
] as const) {
  test(`F37: ${status} has no body and no content type`, async (t) => {
    const { port } = await startEdge(t, { handle: ({ reply }) => reply.accept(status) });
    const client = await RawClient.open(t, port);
    client.send(`${head('POST /mcp HTTP/1.1', 'Content-Length: 2', 'Connection: close')}{}`);
    const answer = await client.closed();
    assert.ok(answer.startsWith(text), answer);
    assert.doesNotMatch(answer, /Content-Type|Transfer-Encoding/i);
    assert.ok(answer.endsWith('\r\n\r\n'));
  });
}

test('a stream may end without a response', async (t) => {
  const { url } = await startEdge(t, {
    handle: ({ reply }) => {
      reply.send(PROGRESS);
      reply.end();
    },
  });
  assert.equal(await (await post(`${url}/mcp`, '{}')).text(), COMMENT + PROGRESS_EVENT);
});

test('only the first answer counts', async (t) => {
  const { url, nextSettled } = await startEdge(t, {
    handle: ({ reply }) => {
      reply.respond('1', { result: {} });
      reply.respond('2', { result: {} });
      reply.send(PROGRESS);
      reply.accept();
      reply.end();
      throw new Error('after all was said');
    },
  });
  const settling = nextSettled();
  assert.equal(await (await post(`${url}/mcp`, '{}')).text(), '{"jsonrpc":"2.0","id":1,"result":{}}');
  assert.equal((await settling).outcome, 'ok');
});

test('line ends and separators inside a message never split its event', async (t) => {
  const text = 'one\ntwo\r\nthree\u2028four\u2029\n\ndata: forged';
  const { url } = await startEdge(t, {
    handle: ({ reply }) => {
      reply.openStream();
      reply.respond('1', { result: { text } });
    },
  });
  const [comment, event, ...rest] = (await (await post(`${url}/mcp`, '{}')).text()).split('\n\n');
  assert.equal(comment, ': keep-alive');
  assert.deepEqual(JSON.parse(event?.replace('data: ', '') ?? ''), {
    jsonrpc: '2.0',
    id: 1,
    result: { text },
  });
  assert.deepEqual(rest, ['']);
});

test('F42: a silent stream carries a comment at once and then again and again, on POST and GET', async (t) => {
  const { port, server, nextSettled } = await startEdge(t, {
    handle: ({ reply }) => reply.openStream(),
    timing: { keepAliveCommentMs: 15 },
  });
  for (const method of ['POST', 'GET']) {
    const client = await RawClient.open(t, port);
    client.send(head(`${method} /mcp HTTP/1.1`, 'Content-Length: 0'));
    while (client.received.split(COMMENT).length < 5) await client.more();
    assert.doesNotMatch(client.received, /data/);
    assert.equal(server.openStreams, 1);
    const settling = nextSettled();
    client.socket.destroy();
    await settling;
    assert.equal(server.openStreams, 0);
  }
});

test('a client that leaves in the middle of a stream aborts its exchange and leaves nothing behind', async (t) => {
  let exchange: Exchange | undefined;
  const { port, server, nextSettled } = await startEdge(t, {
    handle: (opened) => {
      exchange = opened;
      opened.reply.send(PROGRESS);
    },
  });
  const client = await RawClient.open(t, port);
  const settling = nextSettled();
  client.send(`${head('POST /mcp HTTP/1.1', 'Content-Length: 2')}{}`);
  await client.until(PROGRESS_EVENT);
  assert.equal(exchange?.clientGone.aborted, false);
  client.socket.destroy();
  const { outcome, reason, httpStatus } = await settling;
  assert.deepEqual(
    { outcome, reason, httpStatus },
    { outcome: 'cancelled', reason: 'client_left', httpStatus: 200 },
  );
  assert.equal(exchange?.clientGone.aborted, true);
  assert.equal(server.openStreams, 0);
  assert.equal(server.bufferedBytes, 0);

  // Late answers are nobody's fault: none of these throws, none is sent.
  const { reply } = exchange as Exchange;
  assert.equal(reply.send(PROGRESS), undefined);
  reply.holdFor(1);
  reply.openStream();
  reply.respond('1', { result: {} });
  reply.accept();
  reply.end();
});

test('F26: an exchange that has answered is not aborted when its connection is used again, or closed', async (t) => {
  const signals: StopSignal[] = [];
  const { port } = await startEdge(t, {
    handle: ({ reply, clientGone }) => {
      signals.push(clientGone);
      reply.respond('1', { result: {} });
    },
  });
  const client = await RawClient.open(t, port);
  for (let round = 0; round < 2; round += 1) {
    client.received = '';
    await client.send(`${head('POST /mcp HTTP/1.1', 'Content-Length: 2')}{}`).until('}}');
  }
  client.socket.end();
  await client.closed();
  assert.deepEqual(
    signals.map((signal) => signal.aborted),
    [false, false],
  );
});

test('a result goes out in the bytes that its server wrote, and the record counts the message alone', async (t) => {
  const written = Buffer.from(`{"text":"${'é '.repeat(20_000)}" }`);
  const answerBytes: (number | undefined)[] = [];
  const { url } = await startEdge(t, {
    handle: ({ reply, record }) => {
      const result = {};
      keepWritten(result, [written]);
      reply.respond('1', { result }, reply.accepts.json ? {} : { eventId: 'last' });
      answerBytes.push(record.answerBytes);
    },
  });
  const message = `{"jsonrpc":"2.0","id":1,"result":${written}}`;
  const json = await post(`${url}/mcp`, '{}');
  assert.equal(json.headers.get('content-length'), String(Buffer.byteLength(message)));
  assert.equal(await json.text(), message);
  const events = await post(`${url}/mcp`, '{}', { accept: 'text/event-stream' });
  assert.equal(await events.text(), `${COMMENT}id: last\ndata: ${message}\n\n`);
  assert.deepEqual(answerBytes, [Buffer.byteLength(message), Buffer.byteLength(message)]);
});
