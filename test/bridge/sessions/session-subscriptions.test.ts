// A legacy session's resource subscriptions on a modern server: one listen stream upstream, replaced at each change.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SessionSubscriptions } from '../../../src/bridge/sessions/session-subscriptions.ts';
import type { JsonRpcNotification } from '../../../src/protocol/json-rpc.ts';
import type { JsonObject } from '../../../src/protocol/json-text.ts';
import { Stop } from '../../../src/runtime/stop.ts';
import type { Server } from '../../../src/servers/server.ts';
import type { ServerLink } from '../../../src/servers/server-link.ts';
import { failure } from '../../support/http-rig.ts';
import { type ScriptedCall, type ScriptedLink, scriptedLink } from '../../support/scripted-link.ts';

const LISTEN = 'subscriptions/listen';
const UPDATED = 'notifications/resources/updated';
const { signal: never } = new AbortController();

function rig(t: TestContext, first: ScriptedLink = scriptedLink({ era: 'modern' })) {
  const ended = new Stop();
  t.after(() => ended.abort());
  const subscriptions = new SessionSubscriptions(1);
  const delivered: JsonRpcNotification[] = [];
  const place: { link: ServerLink | undefined } = { link: first.link };
  subscriptions.bind({
    server: {} as Server,
    findLink: async () => place.link,
    ended,
    info: { name: 'old', version: '1' },
    deliver: (message) => delivered.push(message),
  });
  const updates = () => delivered.map(({ params }) => params?.uri);
  return { subscriptions, ended, delivered, updates, place, wire: first.wire };
}

function asked({ params = {} }: ScriptedCall): unknown {
  return (params.notifications as JsonObject).resourceSubscriptions;
}

/** The server agrees, to all of it or to these. */
function acknowledge(listen: ScriptedCall, uris: unknown = asked(listen)): void {
  const params = { notifications: { resourceSubscriptions: uris }, _meta: {} } as JsonObject;
  listen.onMessage({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params });
}

function update(listen: ScriptedCall, uri: string, more: JsonObject = {}): void {
  listen.onMessage({ jsonrpc: '2.0', method: UPDATED, params: { uri, ...more } });
}

test('the client is answered once the server has acknowledged the URI', async (t) => {
  const { subscriptions, wire } = rig(t);
  let answered = false;
  const added = subscriptions.add('a', never).then((agreed) => {
    answered = true;
    return agreed;
  });
  const listen = await wire.nth(LISTEN);
  assert.deepEqual(asked(listen), ['a']);
  assert.equal(listen.longLived, true);
  await new Promise(setImmediate);
  assert.equal(answered, false);
  acknowledge(listen);
  assert.equal(await added, true);
  assert.equal(subscriptions.size, 1);
});

test('each change opens a new listen for everything, and only then closes the one before', async (t) => {
  const { subscriptions, wire, updates, ended } = rig(t);
  const waits = t.mock.method(ended, 'addEventListener');
  const letsGo = t.mock.method(ended, 'removeEventListener');
  const first = subscriptions.add('a', never);
  const one = await wire.nth(LISTEN);
  acknowledge(one);
  await first;
  const second = subscriptions.add('b', never);
  const two = await wire.nth(LISTEN, 2);
  assert.deepEqual(asked(two), ['a', 'b']);
  update(one, 'a');
  assert.equal(one.signal.aborted, false);
  acknowledge(two);
  assert.equal(await second, true);
  assert.equal(one.signal.aborted, true);
  assert.equal(two.signal.aborted, false);
  update(two, 'b');
  assert.deepEqual(updates(), ['a', 'b']);
  await new Promise(setImmediate);
  assert.equal(
    waits.mock.callCount() - letsGo.mock.callCount(),
    1,
    'the session is waited for by one listen',
  );
});

test('a URI that the acknowledgement does not name is not there; what was there stays', async (t) => {
  const { subscriptions, wire } = rig(t);
  const first = subscriptions.add('a', never);
  const one = await wire.nth(LISTEN);
  acknowledge(one);
  await first;
  for (const [count, named] of [
    [2, ['a']],
    [3, undefined],
    [4, 'b'],
  ] as const) {
    const refused = subscriptions.add('b', never);
    const listen = await wire.nth(LISTEN, count);
    acknowledge(listen, named ?? []);
    assert.equal(await refused, false);
    assert.equal(listen.signal.aborted, true);
  }
  assert.equal(one.signal.aborted, false);
  assert.equal(subscriptions.size, 1);
});

test('what is subscribed already, or never was, asks nothing of the server', async (t) => {
  const { subscriptions, wire } = rig(t);
  const first = subscriptions.add('a', never);
  acknowledge(await wire.nth(LISTEN));
  await first;
  assert.equal(await subscriptions.add('a', never), true);
  assert.equal(await subscriptions.remove('other', never), true);
  assert.equal(wire.calls.length, 1);
});

test('taking one away opens a listen without it; taking the last away closes the stream', async (t) => {
  const { subscriptions, wire } = rig(t);
  for (const [index, uri] of ['a', 'b'].entries()) {
    const added = subscriptions.add(uri, never);
    acknowledge(await wire.nth(LISTEN, index + 1));
    await added;
  }
  const removed = subscriptions.remove('a', never);
  const without = await wire.nth(LISTEN, 3);
  assert.deepEqual(asked(without), ['b']);
  acknowledge(without);
  await removed;
  await subscriptions.remove('b', never);
  assert.equal(without.signal.aborted, true);
  assert.deepEqual([wire.calls.length, subscriptions.size], [3, 0]);
});

test('changes are made one after another, however fast they come', async (t) => {
  const { subscriptions, wire } = rig(t);
  const both = [subscriptions.add('a', never), subscriptions.add('b', never)];
  const one = await wire.nth(LISTEN);
  await new Promise(setImmediate);
  assert.equal(wire.calls.length, 1);
  acknowledge(one);
  acknowledge(await wire.nth(LISTEN, 2));
  assert.deepEqual(await Promise.all(both), [true, true]);
});

test('a stream that ends upstream is opened again, and everything counts as updated', async (t) => {
  const { subscriptions, wire, updates } = rig(t);
  for (const [index, uri] of ['a', 'b'].entries()) {
    const added = subscriptions.add(uri, never);
    acknowledge(await wire.nth(LISTEN, index + 1));
    await added;
  }
  (await wire.nth(LISTEN, 2)).answer({ resultType: 'complete' });
  const again = await wire.nth(LISTEN, 3);
  assert.deepEqual(asked(again), ['a', 'b']);
  assert.deepEqual(updates(), []);
  acknowledge(again);
  await new Promise(setImmediate);
  assert.deepEqual(updates(), ['a', 'b']);
  update(again, 'a');
  assert.deepEqual(updates(), ['a', 'b', 'a']);
});

test('it is tried until it works, on whichever link there is by then', async (t) => {
  const { subscriptions, wire, place, updates } = rig(t);
  const added = subscriptions.add('a', never);
  acknowledge(await wire.nth(LISTEN));
  await added;
  const next = scriptedLink({ era: 'modern' });
  place.link = undefined;
  await wire.close();
  await new Promise((resolve) => setTimeout(resolve, 5));
  place.link = next.link;
  (await next.wire.nth(LISTEN)).refuse(-32603);
  acknowledge(await next.wire.nth(LISTEN, 2));
  await new Promise(setImmediate);
  assert.deepEqual(updates(), ['a']);
});

test('a client that subscribes to more while the stream is gone gets one stream, not two', async (t) => {
  const { subscriptions, wire } = rig(t);
  const first = subscriptions.add('a', never);
  const one = await wire.nth(LISTEN);
  acknowledge(one);
  await first;
  one.answer({ resultType: 'complete' });
  const second = subscriptions.add('b', never);
  const two = await wire.nth(LISTEN, 2);
  assert.deepEqual(asked(two), ['a', 'b']);
  acknowledge(two);
  await second;
  // Whoever would open it again finds that it is open.
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(wire.calls.length, 2);
  assert.equal(two.signal.aborted, false);
});

test('the end of the session ends the stream, and nothing opens it again', async (t) => {
  const { subscriptions, wire, ended } = rig(t);
  const added = subscriptions.add('a', never);
  const listen = await wire.nth(LISTEN);
  acknowledge(listen);
  await added;
  ended.abort(new Error('over'));
  assert.equal(listen.signal.aborted, true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(wire.calls.length, 1);
});

test('a server that refuses to listen, or a client that gives up, leaves nothing behind', async (t) => {
  const { subscriptions, wire } = rig(t);
  const refused = subscriptions.add('a', never);
  (await wire.nth(LISTEN)).refuse(-32603);
  await assert.rejects(refused, failure('server-unavailable', 'listen-ended'));
  const leaving = new AbortController();
  const left = subscriptions.add('a', leaving.signal);
  const listen = await wire.nth(LISTEN, 2);
  leaving.abort(new Error('enough'));
  await assert.rejects(left, /enough/);
  assert.equal(listen.signal.aborted, true);
  assert.equal(subscriptions.size, 0);
});

test('what an update says besides is kept; the tag of the stream is not', async (t) => {
  const { subscriptions, wire, delivered } = rig(t);
  const added = subscriptions.add('a', never);
  const listen = await wire.nth(LISTEN);
  acknowledge(listen);
  await added;
  const tag = { 'io.modelcontextprotocol/subscriptionId': 4 };
  update(listen, 'a', { title: 'new', _meta: { ...tag, 'example.com/x': 1 } });
  update(listen, 'a', { _meta: tag });
  listen.onMessage({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  assert.deepEqual(
    delivered.map(({ params }) => params),
    [{ uri: 'a', title: 'new', _meta: { 'example.com/x': 1 } }, { uri: 'a' }],
  );
});

test('subscriptions of one session are bounded', async (t) => {
  const { subscriptions, wire } = rig(t);
  for (let index = 1; index <= 256; index += 1) {
    const added = subscriptions.add(`uri ${index}`, never);
    acknowledge(await wire.nth(LISTEN, index));
    await added;
  }
  await assert.rejects(subscriptions.add('one more', never), failure('no-capacity', 'subscriptions'));
});
