import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FleetingMap } from '../../src/runtime/fleeting-map.ts';

test('values are found by their keys until they are deleted', () => {
  const map = new FleetingMap<string, { readonly name: string }>();
  const [one, two, three] = [{ name: 'one' }, { name: 'two' }, { name: 'three' }];
  assert.deepEqual([map.size, map.get('a'), map.values()], [0, undefined, []]);
  map.delete('a');
  map.set('a', one);
  map.set('b', two);
  assert.equal(map.get('a'), one);
  assert.deepEqual(map.values(), [one, two]);
  assert.deepEqual(map.entries(), [
    ['a', one],
    ['b', two],
  ]);
  map.set('a', three);
  assert.equal(map.get('a'), three);
  assert.equal(map.size, 2);
  map.delete('a');
  map.delete('a');
  assert.equal(map.get('a'), undefined);
  assert.deepEqual(map.values(), [two]);
  assert.equal(map.size, 1);
});

test('whoever goes while others are gone through disturbs nobody', () => {
  const map = new FleetingMap<string, { readonly key: string }>();
  for (const key of ['a', 'b', 'c']) map.set(key, { key });
  const seen: string[] = [];
  for (const { key } of map.values()) {
    seen.push(key);
    map.delete(key);
  }
  assert.deepEqual(seen, ['a', 'b', 'c']);
  assert.equal(map.size, 0);
});
