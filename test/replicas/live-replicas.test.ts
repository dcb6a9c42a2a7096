// Which replicas count as live, and what belongs to which.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAnnouncement, sealAnnouncement } from '../../src/replicas/announcement.ts';
import { openEvent, sealEvent } from '../../src/replicas/event-text.ts';
import { COUNTS_FOR_MS, type Heard, LiveReplicas } from '../../src/replicas/live-replicas.ts';
import { rendezvous } from '../../src/replicas/rendezvous.ts';
import { macOf, replicaKeys } from '../../src/replicas/replica-keys.ts';
import type { ReplicaEvent } from '../../src/replicas/replicas.ts';
import { signText } from '../../src/replicas/signed-text.ts';
import { SECRET } from '../support/replica-wire.ts';

const keys = replicaKeys(SECRET);
const SELF = { id: 'self', url: 'http://self:1', since: 1 };
const EVERY_MS = 5_000;

function said(id: string, saidAt: number, leaving = false): Heard {
  return { id, url: `http://${id}:1`, since: 1, leaving, saidAt };
}

const ids = (known: LiveReplicas) => known.all.map(({ id }) => id);

test('this replica is live before anybody has been heard', () => {
  const known = new LiveReplicas(SELF);
  assert.deepEqual(known.all, [{ ...SELF, self: true }]);
  assert.deepEqual(known.homes, ['self']);
});

test('F01 a replica that is not heard any more is gone after a while, and not before', () => {
  const known = new LiveReplicas(SELF);
  known.heard([said('self', 0), said('a', 0), said('b', 0)], 0);
  assert.deepEqual(ids(known), ['self', 'a', 'b']);
  for (let now = EVERY_MS; now <= COUNTS_FOR_MS; now += EVERY_MS)
    known.heard([said('b', now), said('a', 0)], now);
  assert.deepEqual(ids(known), ['self', 'a', 'b']);
  known.heard([said('b', 20_000)], 20_000);
  assert.deepEqual(ids(known), ['self', 'b']);
});

test('F55 the list outlives an absence of Redis, and an empty Redis after it', () => {
  const known = new LiveReplicas(SELF);
  known.heard([said('a', 0), said('b', 0)], 0);
  // An hour without an answer; then Redis is empty, and replicas come back to it one by one.
  const back = 3_600_000;
  known.heard([], back);
  assert.deepEqual(ids(known), ['self', 'a', 'b']);
  for (let now = back; now <= back + COUNTS_FOR_MS; now += EVERY_MS) known.heard([said('a', now)], now);
  assert.deepEqual(ids(known), ['self', 'a', 'b']);
  known.heard([said('a', back + 20_000)], back + 20_000);
  assert.deepEqual(ids(known), ['self', 'a']);
});

test('F44 whoever says that it leaves is gone at once, and stays so', () => {
  const known = new LiveReplicas(SELF);
  known.heard([said('a', 0)], 0);
  known.left('a');
  known.heard([said('a', 0)], EVERY_MS);
  assert.deepEqual(ids(known), ['self']);
  known.left('self');
  assert.deepEqual(ids(known), ['self']);
});

test('a replica that could not be reached is left out until it says something new', () => {
  const known = new LiveReplicas(SELF);
  known.heard([said('a', 7)], 0);
  known.failed('a');
  known.failed('unknown');
  known.heard([said('a', 7)], 100);
  assert.equal(known.find('a'), undefined);
  assert.deepEqual(known.homes, ['self']);
  known.heard([said('a', 8)], EVERY_MS);
  assert.equal(known.find('a')?.url, 'http://a:1');
});

test('F44 where one is about to leave nothing new lives, and what does is still found', () => {
  const known = new LiveReplicas(SELF);
  // The later word comes first.
  known.heard([said('a', 9, true), said('a', 7)], 0);
  assert.deepEqual(known.homes, ['self']);
  assert.equal(known.find('a')?.id, 'a');
  known.leave();
  assert.deepEqual(known.homes, []);
});

test('keys spread evenly over replicas; when one leaves only its own move, when one joins only to it', () => {
  const replicas = ['r1', 'r2', 'r3', 'r4', 'r5'];
  const someKeys = Array.from({ length: 5_000 }, (_, index) => `server principal-${index}`);
  const homes = someKeys.map((key) => rendezvous(key, replicas));
  const counts = replicas.map((id) => homes.filter((home) => home === id).length);
  for (const count of counts) assert.ok(count > 850 && count < 1_150, `${counts}`);
  const without = replicas.filter((id) => id !== 'r3');
  for (const [index, key] of someKeys.entries()) {
    const home = rendezvous(key, without);
    if (homes[index] !== 'r3') assert.equal(home, homes[index]);
    assert.equal(rendezvous(key, [...without].reverse()), home, 'in any order');
    const withAnother = rendezvous(key, [...replicas, 'r6']);
    assert.ok(withAnother === homes[index] || withAnother === 'r6');
  }
  assert.equal(rendezvous('key', []), undefined);
});

test('an announcement is taken from whoever knows the secret, and from nobody else', () => {
  const announcement = { id: 'a', url: 'http://10.0.0.5:9091', since: 5, leaving: false };
  const text = sealAnnouncement(announcement, keys.announcement);
  assert.deepEqual(openAnnouncement(text, keys.announcement), announcement);
  const forged = text.replace('10.0.0.5', '10.6.6.6');
  const swapped = `${macOf(keys.event, text.slice(44))} ${text.slice(44)}`;
  for (const wrong of [forged, swapped, text.slice(44), '', ' ', 'x y', `${text} `]) {
    assert.equal(openAnnouncement(wrong, keys.announcement), undefined, wrong);
  }
  assert.equal(openAnnouncement(text, replicaKeys(`${SECRET}!`).announcement), undefined);
  for (const change of [{ url: 'nowhere' }, { id: 1 }, { since: 'now' }, { leaving: undefined }]) {
    const odd = signText({ ...announcement, ...change }, keys.announcement);
    assert.equal(openAnnouncement(odd, keys.announcement), undefined, JSON.stringify(change));
  }
});

test('news is taken from replicas, while it is new, and of known kinds', () => {
  const events: ReplicaEvent[] = [
    { kind: 'session-ended', key: 'k' },
    { kind: 'session-moved', key: 'k', owner: 'a' },
    { kind: 'list-changed', server: 's', method: 'm' },
    { kind: 'list-changed', server: 's', method: 'm', person: 'p' },
    { kind: 'keys-changed', issuer: 'https://idp.example.com' },
    { kind: 'replica-joined' },
    { kind: 'replica-left' },
  ];
  const now = 1_800_000_000_000;
  for (const event of events) {
    const text = sealEvent(event, { from: 'a', key: keys.event, now });
    assert.deepEqual(openEvent(text, { key: keys.event, now: now + 20_000 }), { event, from: 'a' });
    assert.equal(openEvent(text, { key: keys.event, now: now + 31_000 }), undefined);
    assert.equal(openEvent(text, { key: keys.record, now }), undefined);
    assert.equal(openEvent(text.replace('"a"', '"b"'), { key: keys.event, now }), undefined);
  }
  for (const event of [
    { kind: 'shut-down' },
    { kind: 'session-ended' },
    { kind: 'list-changed', server: 's' },
    { kind: 'keys-changed' },
    { kind: 'keys-changed', issuer: 1 },
  ]) {
    const text = sealEvent(event as ReplicaEvent, { from: 'a', key: keys.event, now });
    assert.equal(openEvent(text, { key: keys.event, now }), undefined);
  }
  const event = { kind: 'replica-joined' };
  const ofVersion = (v: number) =>
    openEvent(signText({ v, from: 'a', at: now, event }, keys.event), { key: keys.event, now });
  assert.deepEqual([ofVersion(1)?.event, ofVersion(2)], [event, undefined]);
});
