// The deprecated HTTP+SSE wire: opening, the named endpoint, calls, and the ends that it can come to.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createOutbound } from '../../../src/servers/http/outbound.ts';
import { openSseTransport } from '../../../src/servers/http/sse-transport.ts';
import type { ServerMessage } from '../../../src/servers/transport.ts';
import { BufferBudget } from '../../../src/state/buffer-budget.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../../support/faulty-http-server.ts';
import { failure, sseRig } from '../../support/http-rig.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';

/** Only the opening, which is expected to fail. */
async function open(t: TestContext, server: FaultyHttpServer, signal = AbortSignal.timeout(5_000)) {
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  t.after(() => outbound.close());
  const closed: string[] = [];
  const events = { onUnsolicited: () => {}, onClosed: (reason: string) => void closed.push(reason) };
  const logger = createLogger({ level: 'silent', secrets: [] });
  const config = httpServerConfig(server.url, { type: 'sse' });
  const budget = new BufferBudget(Number.POSITIVE_INFINITY);
  const opening = openSseTransport(config, { outbound, events, logger, budget, signal });
  return { opening, closed };
}

async function sseServer(t: TestContext): Promise<FaultyHttpServer> {
  const server = await startFaultyHttpServer({ era: 'sse' });
  t.after(() => server.close());
  return server;
}

test('a server of 2024-11-05 is greeted and called, with progress and questions', async (t) => {
  const rig = await sseRig(t, {
    onUnsolicited(message) {
      if ('id' in message) void rig.transport.respond(message.id, { result: { roots: [] } });
    },
  });
  assert.equal(rig.transport.kind, 'sse');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => rig.text('echo', { text: `é${n}` })),
  );
  assert.deepEqual(
    answers,
    answers.map((_, n) => `é${n}`),
  );
  const progress: unknown[] = [];
  const onMessage = ({ params }: ServerMessage) =>
    void progress.push([params?.progressToken, params?.progress]);
  await rig.tool('progress', {}, { token: 'p', onMessage });
  assert.deepEqual(
    progress,
    [1, 2, 3].map((step) => ['p', step]),
  );
  assert.equal(await rig.text('ask', { method: 'roots/list', params: {} }), '{"roots":[]}');
  assert.equal(rig.unsolicited[0]?.method, 'roots/list');
  assert.deepEqual(await rig.tool('protocol-error', { code: -32001 }), {
    error: { code: -32001, message: 'as you wish' },
  });
  rig.transport.startEventStream();
  assert.equal(rig.server.requests('GET').length, 1);
  await rig.transport.close();
  await rig.server.until(() => rig.server.listening === 0);
  assert.deepEqual(rig.closed, ['closed']);
});

test('F19: every legal spelling of the stream is read', async (t) => {
  for (const eol of ['\n', '\r\n', '\r'] as const) {
    const server = await sseServer(t);
    server.fault('GET', { spelling: { eol, chatter: true, dataLines: 'one', cutEvery: 3, bom: true } });
    const rig = await sseRig(t, { url: () => server.url });
    assert.equal(await rig.text('echo', { text: 'é\u2028' }), 'é\u2028');
    assert.equal(rig.transport.strayMessages, 0);
  }
});

test('an endpoint on the same origin may be named in any way', async (t) => {
  for (const name of [
    () => undefined,
    (server: FaultyHttpServer) => `${server.origin}/messages?sessionId=`,
    (server: FaultyHttpServer) => `//127.0.0.1:${server.port}/messages?sessionId=`,
    () => 'messages?sessionId=',
  ]) {
    const server = await sseServer(t);
    const named = name(server);
    // Known before it is named, so that the test can name it.
    server.sessions.add('fixed');
    server.endpoint = named === undefined ? undefined : `${named}fixed`;
    const rig = await sseRig(t, { url: () => server.url });
    assert.equal(await rig.text('echo', { text: 'there' }), 'there');
  }
});

test('a stream behind a redirect names its endpoint from where it really is', async (t) => {
  const server = await sseServer(t);
  server.sessions.add('fixed');
  server.endpoint = '../../messages?sessionId=fixed';
  const rig = await sseRig(t, { url: () => `${server.origin}/hop/307/1` });
  assert.equal(await rig.text('echo', { text: 'there' }), 'there');
});

test('an endpoint of another origin fails the link, and nothing is sent there', async (t) => {
  const elsewhere = await sseServer(t);
  const server = await sseServer(t);
  for (const endpoint of [
    `${elsewhere.origin}/messages`,
    `http://localhost:${server.port}/messages`,
    `https://127.0.0.1:${server.port}/messages`,
    `//127.0.0.1:${elsewhere.port}/messages`,
    'http://',
    'data:text/plain,hello',
  ]) {
    server.endpoint = endpoint;
    const { opening, closed } = await open(t, server);
    await assert.rejects(opening, failure('server-unavailable', 'endpoint-refused'));
    assert.deepEqual(closed, [], 'it never was open');
    await server.until(() => server.listening === 0);
  }
  assert.equal(elsewhere.received.length, 0);
});

test('F28: what is no event stream fails the opening', async (t) => {
  const server = await sseServer(t);
  for (const [answer, code, reason] of [
    [{ status: 200, type: 'text/html', body: '<p>' }, 'server-unavailable', 'media-type'],
    [{ status: 405 }, 'server-unavailable', 'http-status'],
    [{ status: 401 }, 'credential-refused', 'http-status'],
    [{ status: 200, type: 'text/event-stream', body: ': bye\n\n' }, 'server-unavailable', 'connection-lost'],
  ] as const) {
    server.fault('GET', { answer }, 1);
    const { opening } = await open(t, server);
    await assert.rejects(opening, failure(code, reason));
  }
});

test('F43: an opening without an end is given up with its signal', async (t) => {
  const server = await sseServer(t);
  const silent = { answer: { status: 200, type: 'text/event-stream' }, stall: 'after-headers' } as const;
  for (const fault of [{ stall: 'at-once' } as const, silent]) {
    server.fault('GET', fault, 1);
    const { opening } = await open(t, server, AbortSignal.timeout(50));
    await assert.rejects(opening, { name: 'TimeoutError' });
    assert.equal(await server.requests('GET').at(-1)?.ended, 'broken');
  }
  const { opening } = await open(t, server, AbortSignal.abort(new Error('no')));
  await assert.rejects(opening, /no/);
});

test('F09: when the stream ends every open call fails, once, and the link is gone', async (t) => {
  for (const end of ['endStreams', 'breakConnections'] as const) {
    const rig = await sseRig(t);
    const open = Promise.allSettled([rig.tool('never'), rig.tool('never')]);
    await rig.server.request('tools/call', 2);
    rig.server[end]();
    for (const outcome of await open) {
      assert.ok(
        outcome.status === 'rejected' && failure('server-unavailable', 'connection-lost')(outcome.reason),
      );
    }
    assert.deepEqual(rig.closed, ['stream-ended']);
    assert.equal(rig.transport.open, false);
    await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'connection-lost'));
    await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/x' });
    await rig.transport.close();
    assert.deepEqual(rig.closed, ['stream-ended']);
  }
});

test('F03: a session that the message endpoint does not know is lost; that call may be sent again', async (t) => {
  for (const way of ['call', 'notification'] as const) {
    const rig = await sseRig(t);
    const accepted = assert.rejects(rig.tool('never'), failure('server-unavailable', 'connection-lost'));
    await rig.server.request('tools/call');
    rig.server.forgetSessions();
    if (way === 'call') await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'session-lost'));
    else await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/x' });
    await accepted;
    assert.deepEqual(rig.closed, ['session-lost']);
    await rig.server.until(() => rig.server.listening === 0);
  }
});

test('a call that the message endpoint refuses fails alone', async (t) => {
  const rig = await sseRig(t);
  rig.server.fault('tools/call:echo', { answer: { status: 503 } }, 1);
  await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'http-status'));
  rig.server.fault('tools/call:echo', { reset: 'at-once' }, 1);
  await assert.rejects(rig.tool('echo'), failure('server-unavailable', 'connection-lost'));
  assert.equal(await rig.text('echo', { text: 'fine' }), 'fine');
});

test('F26: a cancelled call is cancelled at the server, with its own id', async (t) => {
  const rig = await sseRig(t);
  const stop = new AbortController();
  const call = rig.tool('never', {}, { signal: stop.signal });
  const request = await rig.server.request('tools/call');
  stop.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
  await rig.server.until(() => rig.server.cancelled.length === 1);
  assert.deepEqual(rig.server.cancelled, [request.message?.id]);
  assert.equal(await rig.text('echo', { text: 'fine' }), 'fine');
});

test('F18: a message over the cap ends the link: the stream is everybody’s', async (t) => {
  const rig = await sseRig(t, { config: { maxMessageBytes: 8_192 } });
  assert.equal((await rig.text('big', { bytes: 4_000 })).length, 4_000);
  await assert.rejects(rig.tool('big', { bytes: 10_000 }), failure('server-unavailable', 'connection-lost'));
  assert.deepEqual(rig.closed, ['stream-ended']);
});

test('closing breaks the stream and every open call', async (t) => {
  const rig = await sseRig(t);
  const open = assert.rejects(rig.tool('never'), failure('server-unavailable', 'closed'));
  await rig.server.request('tools/call');
  await Promise.all([rig.transport.close(), rig.transport.close()]);
  await open;
  await rig.server.until(() => rig.server.listening === 0);
  assert.deepEqual(rig.closed, ['closed']);
});
