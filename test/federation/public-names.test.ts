import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  buildPublicNames,
  MAX_PUBLIC_NAME_CHARACTERS,
  publicNameOf,
} from '../../src/federation/public-names.ts';

const FITS_CLIENTS = /^[A-Za-z0-9_-]{1,64}$/;
const hashed = (kept: string) => new RegExp(`^${kept}_[0-9a-f]{8}$`);

const NAMES: readonly [prefix: string | undefined, name: string, expected: string | RegExp][] = [
  ['docs', 'search', 'docs__search'],
  ['docs', 'search__all', 'docs__search__all'],
  ['', 'search', 'search'],
  ['docs', 'Search', 'docs__Search'],
  ['docs', 'a'.repeat(58), `docs__${'a'.repeat(58)}`],
  ['docs', 'a'.repeat(59), hashed(`docs__${'a'.repeat(49)}`)],
  ['', 'a'.repeat(64), 'a'.repeat(64)],
  ['', 'a'.repeat(65), hashed('a'.repeat(55))],
  ['docs', 'files.read', hashed('docs__files_read')],
  ['docs', 'files/read', hashed('docs__files_read')],
  ['docs', 'suche ü', hashed('docs__suche__')],
  ['docs', '😀', hashed('docs___')],
  ['', '\0', hashed('_')],
  [undefined, 'files.read', 'files.read'],
  [undefined, 'a'.repeat(200), 'a'.repeat(200)],
];

for (const [prefix, name, expected] of NAMES) {
  test(`${JSON.stringify(name)} behind ${JSON.stringify(prefix) ?? 'no prefix'} is ${expected}`, () => {
    const publicName = publicNameOf(prefix, name);
    if (typeof expected === 'string') assert.equal(publicName, expected);
    else assert.match(publicName, expected);
  });
}

const prefix = fc.stringMatching(/^[A-Za-z0-9_-]{0,32}$/);
const name = fc
  .oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), fc.stringMatching(/^[a-z._/-]{1,70}$/))
  .filter((text) => text.isWellFormed());
const entry = fc.record({ server: fc.constantFrom('a', 'b', 'c'), prefix, name });

test('F30: every public name has the characters and the length that all clients take', () => {
  fc.assert(
    fc.property(prefix, name, (before, own) => {
      assert.match(publicNameOf(before, own), FITS_CLIENTS);
    }),
  );
});

test('names that differ stay apart, whatever is replaced or cut', () => {
  fc.assert(
    fc.property(prefix, name, name, (before, one, other) => {
      fc.pre(one !== other);
      assert.notEqual(publicNameOf(before, one), publicNameOf(before, other));
    }),
  );
  const twins = ['files.read', 'files/read', 'files read', 'files_read', 'files-read', 'Files_read'];
  assert.equal(new Set(twins.map((twin) => publicNameOf('docs', twin))).size, twins.length);
  const long = ['x', 'y'].map((end) => publicNameOf('docs', `${'a'.repeat(100)}${end}`));
  assert.notEqual(long[0], long[1]);
  assert.ok(long.every((cut) => cut.length === MAX_PUBLIC_NAME_CHARACTERS));
});

test('a public name leads back to its owner, and does not depend on what else is there', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 30 }), (entries) => {
      const names = buildPublicNames(entries);
      const withheld = new Set(names.clashes.map(({ publicName }) => publicName));
      for (const one of entries) {
        const publicName = publicNameOf(one.prefix, one.name);
        if (withheld.has(publicName)) {
          assert.equal(names.ownerOf(publicName), undefined);
        } else {
          assert.deepEqual(names.ownerOf(publicName), { server: one.server, name: one.name });
        }
      }
    }),
  );
});

test('F29: two things of one public name are both withheld and reported', () => {
  const names = buildPublicNames([
    { server: 'one', prefix: 'a', name: 'b__c' },
    { server: 'two', prefix: 'a__b', name: 'c' },
    { server: 'one', prefix: 'a', name: 'd' },
  ]);
  assert.deepEqual(names.clashes, [
    {
      publicName: 'a__b__c',
      owners: [
        { server: 'one', name: 'b__c' },
        { server: 'two', name: 'c' },
      ],
    },
  ]);
  assert.equal(names.ownerOf('a__b__c'), undefined);
  assert.equal(names.publicOf('one', 'b__c'), undefined);
  assert.equal(names.publicOf('two', 'c'), undefined);
  assert.equal(names.publicOf('one', 'd'), 'a__d');
});

test('names that differ in case alone are two names', () => {
  const names = buildPublicNames([
    { server: 'one', prefix: '', name: 'search' },
    { server: 'two', prefix: '', name: 'Search' },
  ]);
  assert.deepEqual(names.clashes, []);
  assert.equal(names.ownerOf('search')?.server, 'one');
  assert.equal(names.ownerOf('Search')?.server, 'two');
});

test('an entry that comes twice is one entry', () => {
  const twice = { server: 'one', prefix: 'a', name: 'b' };
  const names = buildPublicNames([twice, { ...twice }]);
  assert.deepEqual(names.clashes, []);
  assert.deepEqual(names.ownerOf('a__b'), { server: 'one', name: 'b' });
});

test('F30: a name that is none is left out and reported, the others are served', () => {
  const bad = [undefined, null, '', 7, {}, ['b'], '\ud800'];
  const names = buildPublicNames(
    [...bad, 'good', '__proto__', 'constructor'].map((own) => ({ server: 'one', prefix: 'a', name: own })),
  );
  assert.deepEqual(
    names.unnamed.map((one) => one.name),
    bad,
  );
  assert.deepEqual(names.ownerOf('a__good'), { server: 'one', name: 'good' });
  assert.deepEqual(names.ownerOf('a____proto__'), { server: 'one', name: '__proto__' });
  assert.equal(names.publicOf('constructor', 'constructor'), undefined);
  assert.equal(names.ownerOf('toString'), undefined);
});
