// Which headers reach a server: those of the leg, those configured for it, and nothing else, on any way there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  baseHeaders,
  isReservedHeader,
  legacyPostHeaders,
  modernPostHeaders,
  notificationHeaders,
  streamHeaders,
} from '../../../src/servers/http/upstream-headers.ts';
import { failure, legacyRig, modernMeta, modernRig, sseRig } from '../../support/http-rig.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';

const SPOOFED = {
  'MCP-Protocol-Version': '1999-01-01',
  'mcp-protocol-version': '1999-01-01',
  'Mcp-Method': 'tools/list',
  'MCP-NAME': 'other',
  'mcp-session-ID': 'stolen',
  'Last-Event-ID': '7',
  'Mcp-Param-Region': 'mars',
  'content-TYPE': 'text/plain',
  Accept: 'text/html',
  'Content-Length': '3',
  'Transfer-Encoding': 'chunked',
  Connection: 'upgrade',
};

/** What Node's client and HTTP itself add. */
const FRAMING = ['host', 'connection', 'content-length'];

test('F33: configured headers, in any letter case, cannot stand in for those of the leg (modern)', async (t) => {
  const rig = await modernRig(t, { config: { headers: { ...SPOOFED, 'X-Api-Key': 'k' } } });
  const paramHeaders = { 'mcp-param-region': 'eu', authorization: 'Bearer of-the-client', cookie: 'c' };
  await rig.tool('echo', { text: 'x' }, { paramHeaders });
  const {
    host: _host,
    connection: _connection,
    'content-length': _length,
    ...headers
  } = rig.server.received[0]?.headers ?? {};
  assert.deepEqual(headers, {
    'x-api-key': 'k',
    'user-agent': 'portico',
    'accept-encoding': 'identity',
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'echo',
    'mcp-param-region': 'eu',
  });
});

test('F33: the same on a legacy leg, for every kind of message', async (t) => {
  const rig = await legacyRig(t, { config: { headers: { ...SPOOFED, 'X-Api-Key': 'k' } } }, '2025-06-18');
  await rig.tool('echo', { text: 'x' }, { paramHeaders: { 'mcp-param-region': 'eu' } });
  await rig.transport.respond(1, { result: {} });
  rig.transport.startEventStream();
  await rig.server.until(() => rig.server.listening === 1);
  await rig.transport.close();
  const [sessionId] = new Set(rig.server.received.map(({ headers }) => headers['mcp-session-id'])).values();
  assert.equal(sessionId, undefined, 'initialize carries none');
  for (const { http, headers, message } of rig.server.received) {
    const expected = [
      ...['accept-encoding', 'user-agent', 'x-api-key'],
      ...(http === 'DELETE' ? [] : ['accept']),
      ...(http === 'POST' ? ['content-type'] : []),
      ...(message?.method === 'initialize' ? [] : ['mcp-protocol-version', 'mcp-session-id']),
    ];
    const present = Object.keys(headers).filter((name) => !FRAMING.includes(name));
    assert.deepEqual(present.sort(), expected.sort(), `${http} ${message?.method}`);
    if (message?.method !== 'initialize') assert.equal(headers['mcp-protocol-version'], '2025-06-18');
  }
});

test('F35: Mcp-Name mirrors the body that is sent, encoded where it must be', async (t) => {
  const rig = await modernRig(t);
  for (const name of ['plain', 'ünïcode', ' padded ', '=?base64?eA==?=', 'a\nb']) {
    await rig.request('tools/call', { name, arguments: {}, _meta: modernMeta() });
    const outcome = await rig.request('resources/read', { uri: `test://${name}`, _meta: modernMeta() });
    assert.ok('result' in outcome, 'the server compares header and body');
  }
  await rig.request('tools/list', { _meta: modernMeta() });
  assert.equal(rig.server.received.at(-1)?.headers['mcp-name'], undefined);
});

test('credentials in the URL become Basic credentials, and never part of the request line', async (t) => {
  const rig = await modernRig(t, {
    url: ({ origin }) => `${origin.replace('//', '//me:pa%40ss@')}/mcp?tenant=a%20b#part`,
  });
  await rig.tool('echo');
  const [request] = rig.server.received;
  assert.equal(request?.path, '/mcp?tenant=a%20b');
  assert.equal(request.headers.authorization, `Basic ${Buffer.from('me:pa@ss').toString('base64')}`);
  assert.ok(!request.headers.host?.includes('me'));
  const { authorization } = baseHeaders({
    url: 'http://u:p@h/',
    headers: { Authorization: 'Bearer configured' },
  });
  assert.equal(authorization, 'Bearer configured');
});

test('reserved names are recognised in any letter case', () => {
  for (const name of Object.keys(SPOOFED)) assert.ok(isReservedHeader(name), name);
  for (const name of ['authorization', 'cookie', 'X-Mcp', 'mcp', 'host'])
    assert.ok(!isReservedHeader(name), name);
});

test('the version is said on every legacy request once it is agreed on, and not before', () => {
  const base = baseHeaders(httpServerConfig('http://127.0.0.1/'));
  const agreed = { version: '2025-03-26', sessionId: 's' };
  const nothing = { version: undefined, sessionId: undefined };
  assert.equal(legacyPostHeaders(base, nothing)['mcp-protocol-version'], undefined);
  assert.equal(legacyPostHeaders(base, agreed)['mcp-protocol-version'], '2025-03-26');
  assert.equal(legacyPostHeaders(base, agreed)['mcp-method'], undefined);
  const notification = { jsonrpc: '2.0', method: 'notifications/x' } as const;
  assert.equal(notificationHeaders(base, agreed, notification)['mcp-method'], undefined);
  const modern = { version: '2026-07-28', sessionId: undefined };
  assert.equal(notificationHeaders(base, modern, notification)['mcp-method'], 'notifications/x');
  assert.equal(notificationHeaders(base, modern, notification)['mcp-protocol-version'], '2026-07-28');
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: modernMeta() } } as const;
  assert.equal(modernPostHeaders(base, request, {})['mcp-session-id'], undefined);
});

test('an event id goes back byte by byte, and one that no header can carry is left out', () => {
  const base = baseHeaders(httpServerConfig('http://127.0.0.1/'));
  const leg = { version: undefined, sessionId: undefined };
  const sent = (id: string | undefined) => streamHeaders(base, leg, id)['last-event-id'];
  assert.equal(sent('a_7'), 'a_7');
  assert.equal(Buffer.from(sent('é€') ?? '', 'latin1').toString('utf8'), 'é€');
  for (const id of [undefined, '', 'a\u0001b', 'tab\there\u007f']) assert.equal(sent(id), undefined);
});

for (const status of [307, 308]) {
  test(`a ${status} within the origin is followed at most three times, with method, headers and body`, async (t) => {
    for (const openLeg of [modernRig, legacyRig]) {
      const rig = await openLeg(t, {
        url: ({ origin }) => `${origin}/hop/${status}/3`,
        config: { headers: { K: 'v' } },
      });
      assert.equal(await rig.text('echo', { text: 'carried' }), 'carried');
      const calls = rig.server.requests('tools/call');
      assert.ok(calls.every(({ http, headers }) => http === 'POST' && headers.k === 'v'));
      assert.equal(new Set(calls.map(({ body }) => body)).size, 1);
      assert.equal(calls.at(-1)?.path, `/hop/${status}/0`);
      await rig.text('echo', { text: 'again' });
      const again = rig.server.requests('tools/call').length - calls.length;
      assert.equal(again, status === 308 ? 1 : 4, 'only a permanent one is remembered');
    }
    const tooMany = await modernRig(t, { url: ({ origin }) => `${origin}/hop/${status}/4` });
    await assert.rejects(tooMany.tool('echo'), failure('server-unavailable', 'redirect-refused'));
    assert.equal(tooMany.server.received.length, 4);
  });
}

test('F52: a redirect to another origin is not followed: no header of ours gets there', async (t) => {
  const elsewhere = await modernRig(t);
  const targets = (port: number) => [
    elsewhere.server.url,
    `http://localhost:${port}/mcp`,
    `https://127.0.0.1:${port}/mcp`,
    `//127.0.0.1:${elsewhere.server.port}/mcp`,
    '',
    'http://',
    'file:///etc/passwd',
  ];
  for (const status of [307, 308]) {
    for (const [index] of targets(0).entries()) {
      const rig = await modernRig(t, {
        config: { headers: { Authorization: 'Bearer secret' } },
        url: ({ origin, port }) =>
          `${origin}/elsewhere?status=${status}&to=${encodeURIComponent(targets(port)[index] ?? '')}`,
      });
      await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'redirect-refused'));
      assert.equal(rig.server.received.length, 1);
    }
  }
  assert.equal(elsewhere.server.received.length, 0);
});

test('F52: other redirects are not followed, to wherever they lead', async (t) => {
  for (const status of [300, 301, 302, 303]) {
    const rig = await modernRig(t, {
      url: ({ origin }) => `${origin}/elsewhere?status=${status}&to=${encodeURIComponent('/mcp')}`,
    });
    await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'redirect-refused'));
    assert.equal(rig.server.received.length, 1);
  }
});

test('F52: HTTP+SSE sends the configured headers, to its own origin alone', async (t) => {
  const rig = await sseRig(t, { config: { headers: { ...SPOOFED, Authorization: 'Bearer configured' } } });
  await rig.tool('echo');
  for (const { headers } of rig.server.received) {
    assert.equal(headers.authorization, 'Bearer configured');
    assert.equal(headers['mcp-session-id'], undefined);
    assert.notEqual(headers['mcp-protocol-version'], '1999-01-01');
  }
});
