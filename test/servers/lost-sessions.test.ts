// A legacy HTTP server that loses its sessions, or seems to: how often it is greeted.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from '../../src/servers/server.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { failure } from '../support/http-rig.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { callTool, openServer } from '../support/server-rig.ts';

async function opened(t: TestContext): Promise<{ upstream: FaultyHttpServer; server: Server }> {
  const upstream = await startFaultyHttpServer({ era: 'legacy' });
  t.after(() => upstream.close());
  return { upstream, ...openServer(t, httpServerConfig(upstream.url)) };
}

test('F03: a server without GET is greeted once, and serves every call in that session', async (t) => {
  const { upstream, server } = await opened(t);
  upstream.fault('GET', { answer: { status: 404 } });
  for (const text of ['one', 'two', 'three']) {
    assert.equal(await callTool(await server.catalogueLink(), 'echo', { text }), text);
    if (text === 'one') await upstream.request('ping');
  }
  assert.equal(upstream.requests('initialize').length, 1);
  assert.deepEqual([server.status().failures, server.status().lastError], [0, null]);
});

test('F12: a server that loses each session at once is greeted ever more seldom, whoever asks for it', async (t) => {
  const { upstream, server } = await opened(t);
  upstream.fault((request) => {
    if (request.http === 'GET') upstream.forgetSessions();
    return false;
  }, {});
  const over = AbortSignal.timeout(2_500);
  while (!over.aborted) {
    await server.catalogueLink().catch(() => undefined);
    await delay(10);
  }
  const greeted = upstream.requests('initialize').length;
  assert.ok(greeted <= 8, `${greeted} times`);
  assert.match(String(server.status().lastError), /session-lost|backing-off/);
});

test('F12: a link that ends again and again is not told to every client as a change each time', async (t) => {
  const { upstream, server } = await opened(t);
  const announced: string[] = [];
  server.onSharedMessage(({ method }) => announced.push(method));
  // Each session serves a call before it is lost, so no start is held back.
  for (let round = 0; round < 5; round += 1) {
    const link = await server.catalogueLink();
    await callTool(link, 'echo', { text: 'well' });
    upstream.forgetSessions();
    await callTool(link, 'echo').catch(() => undefined);
    await link.closed;
  }
  await eventually('it is open again, which is told', () => server.openLinks === 1 && announced.length > 0);
  assert.ok(announced.length <= 9, `${announced.length} announcements`);
});

test('F14: a server that never takes `initialized` fails its start in the time of a start', async (t) => {
  const upstream = await startFaultyHttpServer({ era: 'legacy' });
  t.after(() => upstream.close());
  upstream.fault('notifications/initialized', { stall: 'at-once' });
  const { server } = openServer(t, httpServerConfig(upstream.url, { startTimeoutMs: 300 }));
  const startedAt = performance.now();
  await assert.rejects(server.catalogueLink(), failure('server-unavailable', 'start-timeout'));
  assert.ok(performance.now() - startedAt < 15_000, 'it was waited for as long as for any notification');
  assert.equal(upstream.requests('DELETE').length, 1, 'the session that was opened is ended');
});
