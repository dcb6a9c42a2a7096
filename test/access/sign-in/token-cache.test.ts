import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenCache } from '../../../src/access/sign-in/token-cache.ts';

test('what is remembered of tokens is bounded: the one that was kept longest and not used since goes first', () => {
  const cache = new TokenCache<{ untilMs: number; name: string }>(3);
  const names = () => ['a', 'b', 'c', 'd', 'e'].filter((name) => cache.get(name, 0) !== undefined);
  for (const name of ['a', 'b', 'c']) cache.set(name, { untilMs: 10, name });
  cache.get('a', 0);
  cache.set('d', { untilMs: 10, name: 'd' });
  assert.deepEqual(names(), ['a', 'c', 'd']);
  cache.set('c', { untilMs: 20, name: 'c' });
  assert.equal(cache.size, 3);
  for (let index = 0; index < 10_000; index += 1) cache.set(`flood-${index}`, { untilMs: 10, name: '' });
  assert.equal(cache.size, 3);
});

test('tokens that are in use stay, however many come that are used once', () => {
  const cache = new TokenCache<{ untilMs: number }>(10);
  for (let n = 0; n < 5; n += 1) cache.set(`used ${n}`, { untilMs: 10 });
  for (let n = 0; n < 1_000; n += 1) {
    cache.get(`used ${n % 5}`, 0);
    cache.set(`once ${n}`, { untilMs: 10 });
  }
  for (let n = 0; n < 5; n += 1) assert.ok(cache.get(`used ${n}`, 0), `${n}`);
  assert.equal(cache.size, 10);
});

test('where all were used since, one of them makes room', () => {
  const cache = new TokenCache<{ untilMs: number }>(3);
  for (const name of ['a', 'b', 'c']) cache.set(name, { untilMs: 10 });
  for (const name of ['a', 'b', 'c']) cache.get(name, 0);
  cache.set('d', { untilMs: 10 });
  assert.equal(cache.size, 3);
  assert.ok(cache.get('d', 0));
  assert.equal(cache.get('a', 0), undefined);
});

test('nothing is remembered past its time, or after all is forgotten', () => {
  const cache = new TokenCache<{ untilMs: number }>(3);
  cache.set('a', { untilMs: 10 });
  assert.deepEqual(cache.get('a', 9), { untilMs: 10 });
  assert.equal(cache.get('a', 10), undefined);
  assert.equal(cache.size, 0);
  cache.set('b', { untilMs: 10 });
  cache.clear();
  assert.equal(cache.get('b', 0), undefined);
});
