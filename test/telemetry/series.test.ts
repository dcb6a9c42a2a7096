// How many series a scrape has is for the config to say, never for clients: whatever they invent, it stays the same.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { openSession } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';

const REQUESTS = 10_000;
/** Sent down one connection without waiting for answers. */
const PIPELINED = 250;
const CONNECTIONS = 4;
const META = 'io.modelcontextprotocol/';

interface Hostile {
  readonly verb?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request of each kind, with a word in it that no other has. */
function hostileKinds(word: string, session: Readonly<Record<string, string>>): Hostile[] {
  const meta = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: { name: word, version: word },
    [`${META}clientCapabilities`]: { [word]: {} },
    traceparent: word,
  };
  const rpc = (method: string, params: object, id: unknown = word) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const modern = (method: string, params: object = {}, name?: string): Hostile => ({
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
    },
    body: rpc(method, { ...params, _meta: meta }),
  });
  return [
    modern(`invented/${word}`),
    modern('tools/call', { name: word, arguments: { [word]: word } }, word),
    modern('prompts/get', { name: word }, word),
    modern('resources/read', { uri: `file:///${word}` }, `file:///${word}`),
    modern('tools/call', { name: 'echo', arguments: { text: word }, requestState: word }, 'echo'),
    modern('tools/list', { cursor: word }),
    { ...modern('tools/list'), path: `/mcp/${word}` },
    { ...modern('tools/list'), path: `/mcp/~${word}` },
    { headers: { 'mcp-protocol-version': word }, body: rpc('tools/list', {}) },
    { headers: session, body: rpc(`invented/${word}`, {}) },
    { headers: session, body: rpc('tools/call', { name: word, arguments: {} }) },
    { headers: session, body: JSON.stringify({ jsonrpc: '2.0', method: `notifications/${word}` }) },
    { headers: { 'mcp-session-id': word }, body: rpc('tools/list', {}) },
    { body: rpc('initialize', { protocolVersion: word, clientInfo: { name: word } }) },
    { body: rpc('tools/list', {}, { [word]: 1 }) },
    { body: `{"${word}` },
    { headers: { 'content-type': `text/${word}` }, body: word },
    { headers: { accept: `text/${word}` }, body: '{}' },
    { headers: { origin: `https://${word}.example` }, body: '{}' },
    { headers: { host: `${word}.example` }, body: '{}' },
    { headers: { authorization: `Bearer ${word}`, [`x-${word}`]: word }, body: '{}' },
    { path: `/mcp?access_token=${word}`, body: '{}' },
    { verb: 'GET', headers: { 'last-event-id': word, 'mcp-session-id': word } },
    { verb: 'DELETE', headers: { 'mcp-session-id': word } },
    { verb: 'PUT', body: word },
  ];
}

function bytesOf({ verb = 'POST', path = '/mcp', headers = {}, body = '' }: Hostile): string {
  const all = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream;q=0.5',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${verb} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Resolves with the number of answers, once each request has one. */
async function pipeline(port: number, requests: readonly Hostile[]): Promise<number> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let answers = 0;
  let tail = '';
  socket.on('data', (chunk: string) => {
    const text = tail + chunk;
    answers += text.match(/HTTP\/1\.1 [2-5]\d\d /g)?.length ?? 0;
    tail = text.slice(-'HTTP/1.1 200'.length);
    if (answers >= requests.length) socket.end();
  });
  socket.write(requests.map(bytesOf).join(''));
  await once(socket, 'close');
  return answers;
}

test('10,000 hostile requests, all of them different, add no series', async (t) => {
  const gateway = await startGateway({ stdio: {} });
  t.after(() => gateway.close());
  const port = Number(new URL(gateway.url).port);
  const session = await openSession(gateway.url);
  t.after(() => session[Symbol.asyncDispose]());
  const series = async () => {
    const scrape = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const ours = scrape.split('\n').filter((line) => /^(?:portico|mcp)_/.test(line));
    return new Set(ours.map((line) => line.slice(0, line.lastIndexOf(' '))));
  };
  let invented = 0;
  const send = async (count: number): Promise<number> => {
    const requests: Hostile[] = [];
    while (requests.length < count) {
      invented += 1;
      requests.push(...hostileKinds(`evil${invented}`, session.headers));
    }
    return pipeline(port, requests.slice(0, count));
  };
  // Once each kind has been met, everything that they can lead to is there.
  const answered = await send(100);
  assert.equal(answered, 100);
  const before = await series();
  assert.equal(
    [...before].some((line) => line.includes('evil')),
    false,
  );
  let sent = answered;
  while (sent < REQUESTS) {
    const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => send(PIPELINED)));
    sent += answers.reduce((sum, count) => sum + count, 0);
  }
  assert.deepEqual([...(await series())].sort(), [...before].sort());
  assert.ok(before.size < 1_000, `${before.size} series`);
});
