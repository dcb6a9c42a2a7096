// What is sent to an HTTP server without an answer of its own: a server that does not take it in time.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { toGatewayError } from '../../../src/errors.ts';
import { HttpEndpoint } from '../../../src/servers/http/http-endpoint.ts';
import { Notices } from '../../../src/servers/http/notices.ts';
import { createOutbound } from '../../../src/servers/http/outbound.ts';
import { TransportLife } from '../../../src/servers/http/transport-life.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { startFaultyHttpServer } from '../../support/faulty-http-server.ts';
import { failure, legacyRig } from '../../support/http-rig.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';

async function noticesToSilence(t: TestContext, timeoutMs: number): Promise<Notices> {
  const server = await startFaultyHttpServer();
  t.after(() => server.close());
  server.fault('POST', { stall: 'at-once' });
  const outbound = createOutbound({ proxy: undefined, ca: undefined });
  t.after(() => outbound.close());
  const config = httpServerConfig(server.url);
  const logger = createLogger({ level: 'silent', secrets: [] });
  const events = { onUnsolicited: () => {}, onClosed: () => {} };
  const endpoint = new HttpEndpoint(new URL(server.url), (use) => outbound.dispatcherFor(config, use));
  return new Notices({
    life: new TransportLife(config, { events, logger }),
    logger,
    addressFor: () => ({ endpoint, headers: {}, inSession: false }),
    onSessionLost: () => {},
    timeoutMs,
  });
}

test('a notification that is not taken in time is a failure of the server, not of ours', async (t) => {
  const notices = await noticesToSilence(t, 50);
  const sent = notices.notify({ jsonrpc: '2.0', method: 'notifications/x' });
  await assert.rejects(sent, (thrown) => {
    assert.equal(toGatewayError(thrown).code, 'server-unavailable');
    return failure('server-unavailable', 'no-response')(thrown);
  });
});

test('F26: a cancellation reaches the server although the link is closed right behind it', async (t) => {
  const rig = await legacyRig(t);
  const stop = new AbortController();
  const call = rig.tool('never', {}, { signal: stop.signal });
  const request = await rig.server.request('tools/call');
  stop.abort(new Error('the session ended'));
  await Promise.all([assert.rejects(call, /session ended/), rig.transport.close()]);
  assert.deepEqual(rig.server.cancelled, [request.message?.id]);
  const order = rig.server.received.slice(-2).map(({ http, message }) => message?.method ?? http);
  assert.deepEqual(order, ['notifications/cancelled', 'DELETE']);
});

test('closing waits for cancellations no longer than for anything else', { timeout: 20_000 }, async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('notifications/cancelled', { stall: 'at-once' });
  const stop = new AbortController();
  const call = rig.tool('never', {}, { signal: stop.signal });
  await rig.server.request('tools/call');
  stop.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
  await rig.transport.close();
  assert.equal(rig.server.requests('DELETE').length, 1);
});
