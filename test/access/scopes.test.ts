import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasScopes, readScopes, withImpliedScopes } from '../../src/access/scopes.ts';

test('F50 a broader scope includes all that it implies, however many steps away, also in a circle', () => {
  const hierarchy = { admin: ['write'], write: ['read', 'admin'] };
  assert.deepEqual([...withImpliedScopes(['admin'], hierarchy)].sort(), ['admin', 'read', 'write']);
  assert.deepEqual([...withImpliedScopes(['read'], hierarchy)], ['read']);
  assert.equal(hasScopes(['admin'], ['read', 'write'], hierarchy), true);
  assert.equal(hasScopes(['read'], ['read', 'write'], hierarchy), false);
  assert.equal(hasScopes([], [], hierarchy), true);
});

test('names that every object has are scopes like others', () => {
  assert.equal(hasScopes(['constructor'], ['toString'], {}), false);
  assert.deepEqual(readScopes('constructor __proto__'), ['constructor', '__proto__']);
});

test('F50 what is no scope (RFC 6749, section 3.3) is left out', () => {
  assert.deepEqual(readScopes('a  b a "c" d\\e caf\u00e9'), ['a', 'b']);
  assert.deepEqual(readScopes(['a', 'b c', '', null, 1, 'd:e/f']), ['a', 'd:e/f']);
  for (const value of [undefined, null, 7, true, {}]) assert.deepEqual(readScopes(value), []);
});
