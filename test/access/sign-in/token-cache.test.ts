import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenCache } from '../../../src/access/sign-in/token-cache.ts';

test('what is remembered of tokens is bounded: the one that was used longest ago goes first', () => {
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
