import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PrefixTable } from '../../src/federation/prefix-table.ts';
import { publicNameOf } from '../../src/federation/public-names.ts';

const OWNERS = ['a', 'a_', 'a__b', 'ab', 'b', ''].map((prefix) => [prefix, prefix || 'bare'] as const);

test('who could have a public name: all whose prefix it begins with, and none that it does not (F29)', async (t) => {
  const table = new PrefixTable(OWNERS);
  const cases: readonly [publicName: string, owners: readonly string[]][] = [
    ['a__echo', ['a']],
    ['a__b__echo', ['a', 'a__b']],
    ['a___echo', ['a', 'a_']],
    ['ab__echo', ['ab']],
    ['b__', ['b']],
    ['b_', []],
    ['c__echo', []],
    ['echo', []],
    ['', []],
  ];
  for (const [publicName, owners] of cases) {
    await t.test(publicName, () => {
      assert.deepEqual([...table.candidates(publicName)].sort(), [...owners, 'bare'].sort());
    });
  }
});

test('every owner is among the candidates for what it would be called (F29)', () => {
  const table = new PrefixTable(OWNERS);
  const names = ['echo', '_', '__', 'b__echo', 'naïve tool', 'long'.repeat(40)];
  for (const [prefix, owner] of OWNERS) {
    for (const name of names) {
      const publicName = publicNameOf(prefix, name);
      assert.ok(table.candidates(publicName).includes(owner), `${owner} of ${publicName}`);
    }
  }
});
