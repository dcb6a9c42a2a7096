import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEdge } from './edge.ts';
import { head, RawClient } from './raw-client.ts';

const REQUEST = `${head('POST /mcp HTTP/1.1', 'Content-Length: 2')}{}`;
/** A second request that must never be seen as one. */
const SMUGGLED = 'GET /mcp/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Bytes that two parsers could read in two ways, or that are no request at all: one 400, then nothing more. */
const MALFORMED: Readonly<Record<string, string>> = {
  'Content-Length and Transfer-Encoding together': `${head('POST /mcp HTTP/1.1', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${SMUGGLED}`,
  'two Content-Lengths that differ': `${head('POST /mcp HTTP/1.1', 'Content-Length: 2', 'Content-Length: 60')}{}${SMUGGLED}`,
  'two Content-Lengths that agree': `${head('POST /mcp HTTP/1.1', 'Content-Length: 2', 'Content-Length: 2')}{}${SMUGGLED}`,
  'a Content-Length that is no number': `${head('POST /mcp HTTP/1.1', 'Content-Length: 2, 2')}{}${SMUGGLED}`,
  'a negative Content-Length': `${head('POST /mcp HTTP/1.1', 'Content-Length: -1')}{}`,
  'chunked that is not the last coding': `${head('POST /mcp HTTP/1.1', 'Transfer-Encoding: chunked, gzip')}0\r\n\r\n${SMUGGLED}`,
  'an unknown transfer coding': `${head('POST /mcp HTTP/1.1', 'Transfer-Encoding: xchunked')}0\r\n\r\n${SMUGGLED}`,
  'a coding under chunked': `${head('POST /mcp HTTP/1.1', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
  'two Transfer-Encodings': `${head('POST /mcp HTTP/1.1', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n${SMUGGLED}`,
  'a space before the colon': `${head('POST /mcp HTTP/1.1', 'Transfer-Encoding : chunked')}0\r\n\r\n${SMUGGLED}`,
  'a folded header': `${head('POST /mcp HTTP/1.1', 'X-Folded: a', ' Content-Length: 5')}{}`,
  'a bare carriage return in a header': `${head('POST /mcp HTTP/1.1', 'X-Odd: a\rContent-Length: 5')}{}`,
  'lines that end with LF alone': REQUEST.replaceAll('\r\n', '\n'),
  'a NUL byte in a header': `${head('POST /mcp HTTP/1.1', 'X-Odd: a\0b', 'Content-Length: 2')}{}`,
  'a chunk size that is no number': `${head('POST /mcp HTTP/1.1', 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
  'a chunk size beyond any': `${head('POST /mcp HTTP/1.1', 'Transfer-Encoding: chunked')}fffffffffffffffff\r\n{}`,
  'no version': 'POST /mcp\r\n\r\n',
  'a version that is not ours': REQUEST.replace('HTTP/1.1', 'HTTP/3.7'),
  'TLS on a plain port': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'a method that does not exist': REQUEST.replace('POST', 'FROB'),
  'no Host': REQUEST.replace('Host: 127.0.0.1\r\n', ''),
  'two Hosts': REQUEST.replace('Host:', 'Host: localhost\r\nHost:'),
  'an empty Host': REQUEST.replace('Host: 127.0.0.1', 'Host:'),
};

for (const [name, bytes] of Object.entries(MALFORMED)) {
  test(`${name}: 400 in JSON, and nothing gets through`, async (t) => {
    const seen: string[] = [];
    const { port, refused, settled } = await startEdge(t, {
      handle: ({ reply, view }) => {
        seen.push(view ?? 'mcp');
        reply.respond('1', { result: {} });
      },
    });
    const client = await RawClient.open(t, port);
    client.send(bytes).socket.end();
    const answer = await client.closed();
    assert.match(answer, /^HTTP\/1.1 400 Bad Request\r\n/);
    assert.match(answer, /^Content-Type: application\/json\r$/m);
    assert.ok(
      answer.includes('{"jsonrpc":"2.0","error":{"code":-32600,"message":"The HTTP request is malformed"}}'),
      answer,
    );
    assert.equal(answer.match(/HTTP\/1.1 /g)?.length, 1);
    assert.deepEqual(seen, []);
    const told = [...refused, ...settled.map((record) => record.outcome)];
    assert.ok(told.includes('request-malformed'), String(told));
  });
}

test('headers over the limit are 431, in JSON; many small ones are all seen', async (t) => {
  let count = 0;
  const { port } = await startEdge(t, {
    handle: ({ reply, headers }) => {
      count = Object.keys(headers).filter((name) => name.startsWith('x-')).length;
      reply.respond('1', { result: {} });
    },
    timing: { maxHeaderBytes: 64 * 1024 },
  });
  const large = await RawClient.open(t, port);
  large.send(head('POST /mcp HTTP/1.1', `Authorization: Bearer ${'x'.repeat(70_000)}`));
  const answer = await large.closed();
  assert.match(
    answer,
    /^HTTP\/1.1 431 Request Header Fields Too Large\r\nContent-Type: application\/json\r\n/,
  );
  assert.match(answer, /"The request headers are over the limit"/);

  // Past a count of its own, Node would drop headers in silence, a late Origin among them.
  const many = await RawClient.open(t, port);
  const headers = Array.from({ length: 3000 }, (_, index) => `X-${index}: 1`);
  await many.send(`${head('POST /mcp HTTP/1.1', ...headers, 'Content-Length: 2')}{}`).until('}}');
  assert.equal(count, 3000);
});

test('a connection that says nothing, or only half a header, is not kept for ever', async (t) => {
  const { port } = await startEdge(t, {
    timing: { headersTimeoutMs: 30, requestTimeoutMs: 30, connectionsCheckMs: 10 },
  });
  for (const bytes of ['', 'POST /mcp HTTP/1.1\r\nHost: loc']) {
    const client = await RawClient.open(t, port);
    client.send(bytes);
    assert.match(
      await client.closed(),
      /^HTTP\/1.1 408 Request Timeout[\s\S]*"The request did not arrive in time"/,
    );
  }
});

test('bytes that break off an answer under way do not become part of it', async (t) => {
  const { port, nextSettled } = await startEdge(t, { handle: ({ reply }) => reply.openStream() });
  const client = await RawClient.open(t, port);
  const settling = nextSettled();
  await client.send(REQUEST).until(': keep-alive');
  client.send('this is no request\r\n\r\n');
  assert.doesNotMatch(await client.closed(), /400/);
  assert.equal((await settling).outcome, 'cancelled');
});

test('requests sent together are answered in their order', async (t) => {
  const { port } = await startEdge(t, {
    handle: async ({ reply, view }) => {
      if (view === 'slow') await new Promise((resolve) => setTimeout(resolve, 20));
      reply.respond(`"${view}"`, { result: {} });
    },
  });
  const client = await RawClient.open(t, port);
  client.send(REQUEST.replace('/mcp', '/mcp/slow') + REQUEST.replace('/mcp', '/mcp/quick'));
  const answers = await client.until('"quick"');
  assert.ok(answers.indexOf('"slow"') > 0 && answers.indexOf('"slow"') < answers.indexOf('"quick"'));
});

test('an upgrade that is offered is not taken', async (t) => {
  const { port } = await startEdge(t);
  const client = await RawClient.open(t, port);
  client.send(
    `${head('POST /mcp HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 2')}{}`,
  );
  assert.match(await client.until('}}'), /^HTTP\/1.1 200 /);
});

test('CONNECT gets no tunnel', async (t) => {
  const { port } = await startEdge(t);
  const client = await RawClient.open(t, port);
  client.send('CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.equal(await client.closed(), '');
});
