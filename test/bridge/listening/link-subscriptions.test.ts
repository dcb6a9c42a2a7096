// Several modern clients that listen to one resource of a legacy server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinkSubscriptions } from '../../../src/bridge/listening/link-subscriptions.ts';
import { scriptedLink } from '../../support/scripted-link.ts';

const { signal } = new AbortController();
const SUBSCRIBE = 'resources/subscribe';
const UNSUBSCRIBE = 'resources/unsubscribe';

function opened() {
  const { link, wire } = scriptedLink();
  const asked = (method: string) => wire.calls.filter((call) => call.method === method).length;
  return { link, wire, asked, subscriptions: new LinkSubscriptions(link) };
}

test('F24: the first who wants a resource tells the server, and the last one', async () => {
  const { link, wire, asked, subscriptions } = opened();
  const both = Promise.all([subscriptions.add('a', signal), subscriptions.add('a', signal)]);
  assert.equal(link.idle, false, 'subscriptions keep the link');
  (await wire.nth(SUBSCRIBE)).answer();
  assert.deepEqual(await both, [true, true]);
  assert.equal(await subscriptions.add('a', signal), true);
  assert.equal(asked(SUBSCRIBE), 1);
  subscriptions.remove('a');
  subscriptions.remove('a');
  assert.equal(asked(UNSUBSCRIBE), 0);
  subscriptions.remove('a');
  (await wire.nth(UNSUBSCRIBE)).answer();
  assert.equal(subscriptions.size, 0);
  subscriptions.remove('a');
  assert.equal(link.streams, 0);
  assert.equal(asked(UNSUBSCRIBE), 1, 'nothing of it is there any more');
});

test('F24: whoever comes while the server is asked is told what it says, be it no or nothing', async () => {
  const { link, wire, asked, subscriptions } = opened();
  const refused = Promise.all([subscriptions.add('a', signal), subscriptions.add('a', signal)]);
  (await wire.nth(SUBSCRIBE)).refuse(-32602);
  assert.deepEqual(await refused, [false, false]);
  const failed = Promise.allSettled([subscriptions.add('a', signal), subscriptions.add('a', signal)]);
  (await wire.nth(SUBSCRIBE, 2)).fail(new Error('lost'));
  assert.deepEqual(
    (await failed).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual([subscriptions.size, link.streams, asked(UNSUBSCRIBE)], [0, 0, 0]);
  const again = subscriptions.add('a', signal);
  (await wire.nth(SUBSCRIBE, 3)).answer();
  assert.equal(await again, true, 'the next one asks afresh');
});

test('F24: the first may leave before the server has answered; the second still hears', async () => {
  const { wire, asked, subscriptions } = opened();
  const leaving = new AbortController();
  const first = subscriptions.add('a', leaving.signal);
  const second = subscriptions.add('a', signal);
  leaving.abort(new Error('gone'));
  await assert.rejects(first, /gone/);
  (await wire.nth(SUBSCRIBE)).answer();
  assert.equal(await second, true);
  assert.equal(asked(UNSUBSCRIBE), 0);
});

test('F24: what nobody wants any more by the time it is agreed to is given up, then asked for afresh', async () => {
  const { link, wire, asked, subscriptions } = opened();
  const leaving = new AbortController();
  const first = subscriptions.add('a', leaving.signal);
  leaving.abort(new Error('gone'));
  await assert.rejects(first, /gone/);
  (await wire.nth(SUBSCRIBE)).answer();
  const unsubscribe = await wire.nth(UNSUBSCRIBE);
  assert.equal(link.streams, 0);
  const next = subscriptions.add('a', signal);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(asked(SUBSCRIBE), 1, 'not before the server has taken the end');
  unsubscribe.answer();
  (await wire.nth(SUBSCRIBE, 2)).answer();
  assert.equal(await next, true);
});
