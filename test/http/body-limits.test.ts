import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const LIMIT = 1000;
const config = { bodyLimitBytes: LIMIT };
const TOO_LARGE =
  '{"jsonrpc":"2.0","error":{"code":-32600,"message":"The body is over the limit","data":{"maxBytes":1000}}}';
const NEXT = head('POST /mcp HTTP/1.1', 'Content-Length: 2');

function chunked(...chunks: readonly number[]): string {
  const framed = chunks.map((size) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
  return `${framed.join('')}0\r\n\r\n`;
}

for (const [size, status] of [
  [LIMIT - 1, 200],
  [LIMIT, 200],
  [LIMIT + 1, 413],
] as const) {
  test(`F20: a body of ${size} bytes at a limit of ${LIMIT} is answered ${status}, the connection lives on`, async (t) => {
    const { port } = await startEdge(t, { config });
    const client = await RawClient.open(t, port);
    client.send(head('POST /mcp HTTP/1.1', `Content-Length: ${size}`) + 'x'.repeat(size));
    const first = await client.until('}}');
    assert.match(first, new RegExp(`^HTTP/1.1 ${status} `));
    if (status === 413) assert.ok(first.endsWith(TOO_LARGE));
    client.received = '';
    assert.match(await client.send(`${NEXT}{}`).until('}}'), /^HTTP\/1.1 200 [\s\S]*"bytes":2\}\}$/);
  });

  test(`F20: ${size} bytes in chunks are answered ${status}, the connection lives on`, async (t) => {
    const { port } = await startEdge(t, { config });
    const client = await RawClient.open(t, port);
    client.send(head('POST /mcp HTTP/1.1', 'Transfer-Encoding: chunked') + chunked(600, size - 600));
    assert.match(await client.until('}}'), new RegExp(`^HTTP/1.1 ${status} `));
    client.received = '';
    assert.match(await client.send(`${NEXT}{}`).until('}}'), /^HTTP\/1.1 200 [\s\S]*"bytes":2\}\}$/);
  });
}

test('F20: a body whose length is over the limit is refused before any of it is sent', async (t) => {
  const { port } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  client.send(head('POST /mcp HTTP/1.1', 'Content-Length: 1000000000'));
  assert.match(await client.until(TOO_LARGE), /^HTTP\/1.1 413 /);
});

test('F20: a client that keeps sending a refused body is cut off after a while', async (t) => {
  const { port } = await startEdge(t, { config, timing: { lingerMs: 30 } });
  const client = await RawClient.open(t, port);
  client.send(head('POST /mcp HTTP/1.1', 'Content-Length: 1000000000'));
  assert.match(await client.closed(), /^HTTP\/1.1 413 [\s\S]*"maxBytes":1000\}\}\}$/);
});

test('F20: a client that sends a refused body without end is cut off after so many bytes', async (t) => {
  const { port } = await startEdge(t, { config, timing: { lingerBytes: 100_000 } });
  const client = await RawClient.open(t, port);
  client.send(head('POST /mcp HTTP/1.1', 'Content-Length: 1000000000'));
  await client.until(TOO_LARGE);
  const flood = setInterval(() => client.socket.writable && client.send('x'.repeat(50_000)), 1);
  t.after(() => clearInterval(flood));
  await client.closed();
});

test('F20: a body longer than its Content-Length ends there; the rest is no request', async (t) => {
  const { port, settled } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  client.send(`${head('POST /mcp HTTP/1.1', 'Content-Length: 2')}{}{"smuggled":true}`);
  const answers = await client.closed();
  assert.match(answers, /HTTP\/1.1 400 Bad Request[\s\S]*"The HTTP request is malformed"/);
  assert.ok(settled.length <= 1);
});

test('F20: a body shorter than its Content-Length is given up in time', async (t) => {
  const timing = { requestTimeoutMs: 50, headersTimeoutMs: 50, connectionsCheckMs: 10 };
  const { port, nextSettled } = await startEdge(t, { config, timing });
  const client = await RawClient.open(t, port);
  const settling = nextSettled();
  client.send(`${head('POST /mcp HTTP/1.1', 'Content-Length: 20')}{}`);
  const answer = await client.closed();
  assert.match(answer, /^HTTP\/1.1 408 Request Timeout\r\nContent-Type: application\/json\r\n/);
  assert.match(answer, /"The request did not arrive in time"/);
  assert.equal((await settling).outcome, 'cancelled');
});

test('F20: a compressed body is refused, however small', async (t) => {
  const { port } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  const bomb = gzipSync(Buffer.alloc(100_000));
  client
    .send(head('POST /mcp HTTP/1.1', 'Content-Encoding: gzip', `Content-Length: ${bomb.length}`))
    .send(bomb);
  assert.match(await client.until('}}'), /^HTTP\/1.1 415 [\s\S]*Content-Encoding/);
});

test('F20: identity is no encoding', async (t) => {
  const { port } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  client.send(`${head('POST /mcp HTTP/1.1', 'Content-Encoding: Identity', 'Content-Length: 2')}{}`);
  assert.match(await client.until('}}'), /^HTTP\/1.1 200 /);
});

test('F20: Expect: 100-continue is granted once the headers have passed', async (t) => {
  const { port } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  client.send(head('POST /mcp HTTP/1.1', 'Expect: 100-continue', 'Content-Length: 2'));
  assert.equal(await client.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n');
  assert.match(await client.send('{}').until('}}'), /\r\n\r\nHTTP\/1.1 200 /);
});

test('F20: Expect: 100-continue is not granted for a body that is refused, and the connection closes', async (t) => {
  const { port } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  client.send(head('POST /mcp HTTP/1.1', 'Expect: 100-continue', `Content-Length: ${LIMIT + 1}`));
  const answer = await client.closed();
  assert.match(answer, /^HTTP\/1.1 413 [\s\S]*Connection: close/);
  assert.ok(answer.endsWith(TOO_LARGE));
});

test('another expectation is none of ours, and no reason to refuse', async (t) => {
  const { port } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  client.send(`${head('POST /mcp HTTP/1.1', 'Expect: the-unexpected', 'Content-Length: 2')}{}`);
  assert.match(await client.until('}}'), /^HTTP\/1.1 200 /);
});

test('F20: Expect: 100-continue is granted to a client that sends its body all the same', async (t) => {
  const { port } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  client.send(`${head('POST /mcp HTTP/1.1', 'Expect: 100-continue', 'Content-Length: 2')}{}`);
  assert.match(
    await client.until('}}'),
    /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 [\s\S]*"bytes":2\}\}$/,
  );
});

const ARRIVALS = [
  ['no bytes', 'Content-Length: 0', '', ''],
  ['no bytes in chunks', 'Transfer-Encoding: chunked', chunked(), ''],
  ['one byte', 'Content-Length: 1', 'x', 'x'],
  ['chunks', 'Transfer-Encoding: chunked', chunked(1, 300, 20), 'x'.repeat(321)],
] as const;
for (const [what, framing, sent, body] of ARRIVALS) {
  test(`F20: ${what}: the same is read of what comes at once and of what comes later`, async (t) => {
    const arrived: string[] = [];
    const { port, server } = await startEdge(t, {
      handle: (exchange) => {
        arrived.push(exchange.body.toString());
        exchange.reply.respond('1', { result: {} });
      },
    });
    const client = await RawClient.open(t, port);
    await client.send(head('POST /mcp HTTP/1.1', framing) + sent).until('}}');
    client.received = '';
    await client.send(head('POST /mcp HTTP/1.1', framing, 'Expect: 100-continue')).until('100 Continue');
    await client.send(sent).until('}}');
    assert.deepEqual(arrived, [body, body]);
    assert.equal(server.bufferedBytes, 0);
  });
}

test('F26: a body that takes its time is not aborted', async (t) => {
  let wasGone: boolean | undefined;
  const { port } = await startEdge(t, {
    config,
    handle: async ({ reply, clientGone, body }) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      wasGone = clientGone.aborted;
      reply.respond('1', { result: { bytes: body.length } });
    },
  });
  const client = await RawClient.open(t, port);
  client.send(head('POST /mcp HTTP/1.1', 'Content-Length: 20'));
  for (let sent = 0; sent < 20; sent += 1) {
    client.send('x');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.match(await client.until('}}'), /^HTTP\/1.1 200 [\s\S]*"bytes":20\}\}$/);
  assert.equal(wasGone, false);
});

test('F16: a body arrives byte for byte, however its characters are cut', async (t) => {
  const sent = Buffer.from('{"text":"aé€😀\u2028"}');
  let arrived: Buffer = Buffer.alloc(0);
  const { port } = await startEdge(t, {
    handle: ({ reply, body }) => {
      arrived = body;
      reply.respond('1', { result: {} });
    },
  });
  const client = await RawClient.open(t, port);
  client.send(head('POST /mcp HTTP/1.1', `Content-Length: ${sent.length}`));
  for (const byte of sent) {
    client.send(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await client.until('}}');
  assert.deepEqual(arrived, sent);
});

test('all bodies together are bounded: one too many is told to come again', async (t) => {
  const bounded = { bodyLimitBytes: 2 * LIMIT, maxBufferedBytes: 1500 };
  const { port, server } = await startEdge(t, { config: bounded });
  const first = await RawClient.open(t, port);
  first.send(head('POST /mcp HTTP/1.1', `Content-Length: ${LIMIT}`) + 'x'.repeat(LIMIT - 1));
  while (server.bufferedBytes < LIMIT - 1) await new Promise((resolve) => setImmediate(resolve));

  const second = await RawClient.open(t, port);
  second.send(head('POST /mcp HTTP/1.1', `Content-Length: ${LIMIT}`) + 'x'.repeat(LIMIT));
  assert.match(await second.until('"}}'), /^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*"code":5030/);

  assert.match(await first.send('x').until('}}'), /^HTTP\/1.1 200 /);
  assert.equal(server.bufferedBytes, 0);
});

test('the bytes of a client that leaves in the middle of its body are given back', async (t) => {
  const { port, server, nextSettled } = await startEdge(t, { config });
  const client = await RawClient.open(t, port);
  const settling = nextSettled();
  client.send(head('POST /mcp HTTP/1.1', `Content-Length: ${LIMIT}`) + 'x'.repeat(500));
  while (server.bufferedBytes < 500) await new Promise((resolve) => setImmediate(resolve));
  client.socket.destroy();
  const { outcome, reason, httpStatus } = await settling;
  assert.deepEqual(
    { outcome, reason, httpStatus },
    { outcome: 'cancelled', reason: 'client_left', httpStatus: undefined },
  );
  assert.equal(server.bufferedBytes, 0);
});

const MEDIA_TYPES: readonly (readonly [string, number])[] = [
  ['application/json', 200],
  ['Application/JSON', 200],
  ['application/json;', 200],
  ['application/json; charset=utf-8', 200],
  ['application/json;charset="UTF-8"', 200],
  ['application/json; profile="x"; charset=utf8', 200],
  ['application/json; charset=iso-8859-1', 415],
  ['application/json; charset=utf-16', 415],
  ['application/json-patch+json', 415],
  ['application/vnd.api+json', 415],
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
  ['multipart/form-data; boundary=x', 415],
  ['text/plain; a=application/json', 415],
  ['', 415],
];

for (const [type, status] of MEDIA_TYPES) {
  test(`Content-Type ${JSON.stringify(type)} is answered ${status}`, async (t) => {
    const { port } = await startEdge(t);
    const client = await RawClient.open(t, port);
    const headers = ['POST /mcp HTTP/1.1', 'Host: localhost', 'Content-Length: 2', `Content-Type: ${type}`];
    client.send(`${headers.join('\r\n')}\r\n\r\n{}`);
    assert.match(await client.until('}}'), new RegExp(`^HTTP/1.1 ${status} `));
  });
}

test('a body without a Content-Type is refused', async (t) => {
  const { port } = await startEdge(t);
  const client = await RawClient.open(t, port);
  client.send('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');
  assert.match(await client.until('}}'), /^HTTP\/1.1 415 [\s\S]*"Content-Type must be application\/json"/);
});
