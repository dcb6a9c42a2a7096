// The session of a legacy server over Streamable HTTP: how it is lost, its own event stream, and its end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { HttpEndpoint } from '../../../src/servers/http/http-endpoint.ts';
import { followLegacyEventStream } from '../../../src/servers/http/legacy-event-stream.ts';
import { createOutbound } from '../../../src/servers/http/outbound.ts';
import { UpstreamHttpError } from '../../../src/servers/http/upstream-http-error.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import type { HttpFault } from '../../support/faulty-http-replies.ts';
import { startFaultyHttpServer } from '../../support/faulty-http-server.ts';
import { failure, legacyRig, openRig, shakeHands } from '../../support/http-rig.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';

const sdkRefusal = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32000, message: 'Bad Request: No valid session ID provided' },
});
const LOST: [name: string, refusal: { status: number; body: string }][] = [
  ['404', { status: 404, body: '' }],
  ['404 with a JSON-RPC error', { status: 404, body: sdkRefusal }],
  ['400 as the SDK examples say it', { status: 400, body: sdkRefusal }],
  [
    '400 as a restarted SDK server says it',
    { status: 400, body: sdkRefusal.replace('No valid session ID provided', 'Server not initialized') },
  ],
  ['400 in plain words', { status: 400, body: 'Bad Request: No valid session ID provided' }],
];
for (const [name, refusal] of LOST) {
  test(`F03: a session that the server has forgotten is lost, told by ${name}`, async (t) => {
    const rig = await legacyRig(t);
    rig.server.lostSession = refusal;
    rig.server.forgetSessions();
    await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'session-lost'));
    assert.deepEqual(rig.closed, ['session-lost']);
    assert.equal(rig.transport.open, false);
    const sent = rig.server.received.length;
    await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'session-lost'));
    await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/x' });
    await rig.transport.close();
    assert.equal(rig.server.received.length, sent, 'nothing more is sent, no DELETE either');
    assert.deepEqual(rig.closed, ['session-lost'], 'told once');
  });
}

test('F03: a 400 or 503 that speaks of something else loses no session', async (t) => {
  const rig = await legacyRig(t);
  const about = (id: unknown, message: string) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message } });
  for (const [status, body] of [
    [400, about(null, 'Unsupported protocol version')],
    [400, about(3, 'There is no training session of that name')],
    [503, about(null, 'session store is away')],
  ] as const) {
    rig.server.fault('tools/call', { answer: { status, type: 'application/json', body } }, 1);
    const outcome = await rig.tool('echo');
    assert.ok('error' in outcome && outcome.error.code === -32602);
  }
  rig.server.fault('tools/call', { answer: { status: 503, body: 'session backend down' } }, 1);
  await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'http-status'));
  assert.equal(await rig.text('echo', { text: 'same session' }), 'same session');
  assert.deepEqual(rig.closed, []);
});

test('F03: a 404 before there is a session is no lost session: it tells about the era', async (t) => {
  const rig = await openRig(t, 'legacy', {});
  rig.server.fault('initialize', { answer: { status: 404 } });
  await assert.rejects(rig.request('initialize', {}), (thrown) => {
    assert.ok(failure('server-unavailable', 'http-status')(thrown));
    assert.ok(thrown instanceof Error && thrown.cause instanceof UpstreamHttpError);
    return true;
  });
  assert.deepEqual(rig.closed, []);
});

test('F03: calls that were in flight when the session was lost each settle by themselves', async (t) => {
  const rig = await legacyRig(t);
  const accepted = rig.text('wait', { ms: 150 });
  await rig.server.request('tools/call:wait');
  rig.server.forgetSessions();
  const refused = await Promise.allSettled(Array.from({ length: 5 }, () => rig.tool('echo')));
  for (const outcome of refused) {
    assert.ok(outcome.status === 'rejected' && failure('server-unavailable', 'session-lost')(outcome.reason));
  }
  assert.equal(await accepted, 'waited');
  assert.deepEqual(rig.closed, ['session-lost']);
});

test('F03: calls that wait for their turn when the session is lost may all be sent again', async (t) => {
  const rig = await legacyRig(t, { config: { maxInFlight: 1 } });
  rig.server.forgetSessions();
  const outcomes = await Promise.allSettled([rig.tool('echo'), rig.tool('echo'), rig.tool('echo')]);
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && failure('server-unavailable', 'session-lost')(outcome.reason));
  }
  assert.equal(rig.server.requests('tools/call').length, 1);
});

test('F03: a notification, or the GET stream, may be the first to learn that the session is lost', async (t) => {
  for (const learn of ['notification', 'stream'] as const) {
    const rig = await legacyRig(t);
    rig.server.forgetSessions();
    if (learn === 'stream') rig.transport.startEventStream();
    else {
      const sent = rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/x' });
      await assert.doesNotReject(sent, 'the link is closed by then');
    }
    await rig.server.until(() => rig.closed.length === 1);
    assert.deepEqual(rig.closed, ['session-lost']);
  }
});

for (const status of [404, 400]) {
  test(`F03: a GET answered ${status} in a session that is alive means no stream, told once; the link stays`, async (t) => {
    const rig = await legacyRig(t);
    rig.server.fault('GET', { answer: { status } });
    rig.transport.startEventStream();
    const ping = await rig.server.request('ping');
    assert.equal(ping.headers['mcp-session-id'], [...rig.server.sessions][0]);
    const told = () => rig.logs.filter((line) => line.includes('no event stream of its own'));
    await eventually('it is told', () => told().length === 1);
    assert.equal(await rig.text('echo', { text: 'on' }), 'on');
    assert.deepEqual(rig.closed, []);
    assert.equal(rig.server.requests('GET').length, 1);
  });
}

test('F03: a GET answered 404 whose ping is not answered says nothing: the stream is asked for again', async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('GET', { answer: { status: 404 } }, 1);
  rig.server.fault('ping', { answer: { status: 503 } }, 1);
  rig.transport.startEventStream();
  await rig.server.until(() => rig.server.listening === 1);
  assert.deepEqual(rig.closed, []);
});

test('F02: a session id that cannot be sent back refuses the handshake', async (t) => {
  const rig = await openRig(t, 'legacy', { sessions: false });
  for (const id of ['with space', 'caf\u00e9', '']) {
    const headers = { 'mcp-session-id': id };
    const body = JSON.stringify({ jsonrpc: '2.0', id: rig.server.received.length + 1, result: {} });
    rig.server.fault('initialize', { answer: { status: 200, type: 'application/json', body, headers } }, 1);
    await assert.rejects(rig.request('initialize', {}), failure('server-unavailable', 'session-id-invalid'));
  }
});

test('closing ends the session with a DELETE, and every open call', async (t) => {
  const rig = await legacyRig(t);
  const [sessionId] = rig.server.sessions;
  const open = rig.tool('never');
  const request = await rig.server.request('tools/call');
  const failed = assert.rejects(open, failure('server-unavailable', 'closed'));
  await Promise.all([rig.transport.close(), rig.transport.close()]);
  await failed;
  assert.equal(await request.ended, 'broken');
  assert.equal(rig.server.requests('DELETE')[0]?.headers['mcp-session-id'], sessionId);
  assert.equal(rig.server.sessions.size, 0);
  assert.deepEqual(rig.closed, ['closed']);
  await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'closed'));
  await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/x' });
});

test('closing does not wait long for a server that does not answer the DELETE', async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('DELETE', { stall: 'at-once' });
  const startedAt = performance.now();
  await rig.transport.close();
  assert.ok(performance.now() - startedAt < 8_000);
  for (const status of [405, 404, 500]) {
    const other = await legacyRig(t);
    other.server.fault('DELETE', { answer: { status } });
    await other.transport.close();
    assert.deepEqual(other.closed, ['closed']);
  }
});

test("a legacy server's own stream brings what belongs to no call, and is taken up again", async (t) => {
  const rig = await legacyRig(t);
  rig.transport.startEventStream();
  rig.transport.startEventStream();
  await rig.server.until(() => rig.server.listening === 1);
  rig.server.announce({ method: 'notifications/tools/list_changed' });
  rig.server.announce({ id: 'q1', method: 'roots/list' });
  rig.server.announce({ id: 99, result: {} });
  await rig.server.until(() => rig.unsolicited.length === 2 && rig.transport.strayMessages === 1);
  assert.deepEqual(
    rig.unsolicited.map(({ method }) => method),
    ['notifications/tools/list_changed', 'roots/list'],
  );
  const [opened] = rig.server.requests('GET');
  assert.equal(opened?.headers.accept, 'text/event-stream');
  assert.equal(opened?.headers['mcp-protocol-version'], '2025-11-25');
  assert.equal(opened?.headers['mcp-session-id'], [...rig.server.sessions][0]);
  assert.equal(opened?.headers['content-type'], undefined);
  rig.server.endStreams();
  await rig.server.request('GET', 2);
  await rig.server.until(() => rig.server.listening === 1);
  rig.server.announce({ method: 'notifications/prompts/list_changed' });
  await rig.server.until(() => rig.unsolicited.length === 3);
  await rig.transport.close();
  await rig.server.until(() => rig.server.listening === 0);
});

test("the stream's reconnects honour `retry` and tell the last event id", async (t) => {
  const rig = await legacyRig(t);
  const body = 'retry: 30\nid: e7\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n';
  rig.server.fault('GET', { answer: { status: 200, type: 'text/event-stream', body } }, 1);
  rig.transport.startEventStream();
  const second = await rig.server.request('GET', 2);
  assert.equal(second.headers['last-event-id'], 'e7');
  assert.equal(rig.unsolicited[0]?.method, 'notifications/x');
});

test('`retry: 0` is no invitation: streams that end at once are asked for seldom', async (t) => {
  const asked = async (events: string) => {
    const rig = await legacyRig(t);
    const body = `retry: 0\n\n${events}`;
    rig.server.fault('GET', { answer: { status: 200, type: 'text/event-stream', body } });
    rig.transport.startEventStream();
    await delay(1_200);
    return rig.server.requests('GET').length;
  };
  const event = 'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n';
  const [silent, speaking] = await Promise.all([asked(''), asked(event)]);
  assert.ok(silent <= 7, `${silent} times without a message`);
  assert.ok(speaking <= 13, `${speaking} times with a message each`);
});

test('a stream that the server does not offer is not asked for again', { timeout: 10_000 }, async (t) => {
  const server = await startFaultyHttpServer();
  t.after(() => server.close());
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  t.after(() => outbound.close());
  const config = httpServerConfig(server.url);
  const stop = new AbortController();
  t.after(() => stop.abort());
  for (const answer of [
    { status: 405 },
    { status: 404 },
    { status: 400 },
    { status: 401 },
    { status: 501 },
    { status: 303, headers: { location: '/mcp' } },
    { status: 200, type: 'text/html', body: '<p>hello' },
  ]) {
    server.fault('GET', { answer });
    const asked = server.requests('GET').length;
    await followLegacyEventStream({
      endpoint: new HttpEndpoint(new URL(server.url), (use) => outbound.dispatcherFor(config, use)),
      limits: { maxBytes: 1_000 },
      logger: createLogger({ level: 'silent', secrets: [] }),
      signal: stop.signal,
      headers: () => ({}),
      onMessageData: () => {},
      checkSession: async () => 'alive',
    });
    assert.equal(server.requests('GET').length, asked + 1);
  }
});

test('a stream that fails is asked for again, and one that the server breaks too', async (t) => {
  const rig = await legacyRig(t);
  const body = 'retry: 20\n\n';
  rig.server.fault('GET', { answer: { status: 200, type: 'text/event-stream', body } }, 1);
  const later = (n: number, fault: HttpFault) =>
    rig.server.fault((request) => request.http === 'GET' && rig.server.requests('GET').length === n, fault);
  later(2, { answer: { status: 503 } });
  later(3, { reset: 'at-once' });
  later(4, { answer: { status: 429 } });
  rig.transport.startEventStream();
  await rig.server.until(() => rig.server.listening === 1);
  assert.equal(rig.server.requests('GET').length, 5);
});

test('a listener that throws costs neither the stream nor the call', async (t) => {
  const rig = await legacyRig(t, {
    onUnsolicited() {
      throw new Error('a slip of ours');
    },
  });
  rig.transport.startEventStream();
  await rig.server.until(() => rig.server.listening === 1);
  rig.server.announce({ method: 'notifications/one' });
  rig.server.announce({ method: 'notifications/two' });
  await rig.server.until(() => rig.unsolicited.length === 2);
  assert.ok(rig.logs.some((line) => line.includes('could not be handled')));
});

test('a new session after a lost one is a new transport, which shakes hands afresh', async (t) => {
  const rig = await legacyRig(t);
  rig.server.forgetSessions();
  await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'session-lost'));
  const next = await openRig(t, 'legacy', { url: () => rig.server.url });
  await shakeHands(next, '2025-11-25');
  assert.equal(await next.text('echo', { text: 'again' }), 'again');
});
