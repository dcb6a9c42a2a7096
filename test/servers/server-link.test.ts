// A link after its handshake, with a real child at its other end.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StdioServerConfig } from '../../src/config/config.ts';
import type { ServerLink } from '../../src/servers/server-link.ts';
import type { ServerMessage } from '../../src/servers/transport.ts';
import { failure } from '../support/http-rig.ts';
import { callTool, openServer } from '../support/server-rig.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

const never = () => new AbortController().signal;

async function openLink(
  t: TestContext,
  switches: readonly string[],
  config: Partial<StdioServerConfig> = {},
): Promise<{ link: ServerLink; heard: ServerMessage[] }> {
  const { server } = openServer(t, faultyConfig(switches, config));
  const heard: ServerMessage[] = [];
  const link = await server.ownLink({
    key: 'own',
    owner: 'a',
    pinned: false,
    clientCapabilities: { roots: {} },
    onUnsolicited: (message) => heard.push(message),
  });
  return { link, heard };
}

test('F15: what a server says before and right after its handshake is heard, in order', async (t) => {
  const { link, heard } = await openLink(t, [
    '--era=legacy',
    '--log-before-initialize',
    '--roots-after-initialized',
  ]);
  await callTool(link, 'log', { data: 'later' });
  assert.deepEqual(
    heard.map(({ method }) => method),
    ['notifications/message', 'roots/list', 'notifications/message'],
  );
});

test('a ping is answered at once, and is nobody else’s business', async (t) => {
  const { link, heard } = await openLink(t, ['--era=legacy']);
  assert.deepEqual(JSON.parse(await callTool(link, 'ask', { method: 'ping' })), {});
  assert.deepEqual(heard, []);
});

test('F23: where nobody listens, a question is refused at once', async (t) => {
  const { server } = openServer(t, faultyConfig(['--era=legacy']));
  const link = await server.ownLink({ key: 'mute', owner: 'a', pinned: false, clientCapabilities: {} });
  assert.equal(JSON.parse(await callTool(link, 'ask', { method: 'roots/list' })).code, -32601);
  const shared = await server.catalogueLink();
  assert.equal(JSON.parse(await callTool(shared, 'ask', { method: 'roots/list' })).code, -32601);
});

test('a link knows what is in use of it: calls, subscriptions, nothing', async (t) => {
  const { link } = await openLink(t, ['--era=modern']);
  assert.equal(link.idle, true);
  const stop = new AbortController();
  const options = { signal: stop.signal };
  const call = link.call('tools/call', link.withOwnMeta({ name: 'never', arguments: {} }), options);
  const params = link.withOwnMeta({ notifications: { toolsListChanged: true } });
  const listen = link.call('subscriptions/listen', params, { ...options, longLived: true });
  assert.deepEqual([link.inFlight, link.streams, link.idle], [1, 1, false]);
  stop.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
  await assert.rejects(listen, /enough/);
  assert.deepEqual([link.inFlight, link.streams, link.idle], [0, 0, true]);
  assert.ok(link.idleSince >= link.openedAt);
});

test('requests of Portico’s own carry what the revision demands, and say what a refusal means', async (t) => {
  const { link } = await openLink(t, ['--era=modern']);
  const { tools } = await link.ownCall('tools/list', {}, { signal: never() });
  assert.ok(Array.isArray(tools));
  await assert.rejects(
    link.ownCall('made/up', {}, { signal: never() }),
    failure('server-unavailable', 'method-not-found'),
  );
  await assert.rejects(
    link.ownCall('tools/call', { name: 'protocol-error', arguments: { code: 7 } }, { signal: never() }),
    failure('server-unavailable', 'own-call-refused'),
  );
});

test('F43: every call has its deadline, a subscription has none', async (t) => {
  const { link } = await openLink(t, ['--era=modern'], { callTimeoutMs: 100, maxCallTimeMs: 100 });
  const stop = new AbortController();
  const params = link.withOwnMeta({ notifications: { toolsListChanged: true } });
  const listen = link.call('subscriptions/listen', params, { signal: stop.signal, longLived: true });
  const call = link.call('tools/call', link.withOwnMeta({ name: 'never' }), { signal: never() });
  await assert.rejects(call, failure('deadline-passed'));
  assert.equal(link.streams, 1);
  stop.abort();
  await assert.rejects(listen);
});

test('F09: the end of the wire is told once, whoever caused it', async (t) => {
  const { link } = await openLink(t, ['--era=legacy']);
  await assert.rejects(callTool(link, 'crash'), failure('server-unavailable', 'process-ended'));
  await link.closed;
  assert.deepEqual([link.open, link.closing], [false, false]);
  await link.close();
  assert.equal(link.closing, false, 'it ended by itself');
  const other = await openLink(t, ['--era=legacy']);
  await other.link.close();
  assert.deepEqual([other.link.open, other.link.closing], [false, true]);
});
