// Patterns of access rules: what matches, what could, and that no text makes them slow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Glob } from '../../../src/access/rules/glob.ts';

const MATCHES: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
  ['search', ['search'], ['Search', 'searc', 'searchx', '', 'search ', 'search\n']],
  ['', [''], ['a']],
  ['*', ['', 'a', 'delete_all', 'a.b-c', '*'], ['a/b', '/']],
  ['**', ['', 'a', 'a/b', '/', 'a//b'], []],
  ['***', ['', 'a/b'], []],
  ['delete_*', ['delete_', 'delete_x', 'delete_x*'], ['delete', 'Delete_x', 'xdelete_x', 'delete_a/b']],
  ['*_all', ['_all', 'x_all', '_all_all'], ['x_alla', 'x/_all']],
  ['a*b*c', ['abc', 'aXbYc', 'abbcc', 'abcbc'], ['acb', 'ab', 'aX/bc']],
  ['a**c', ['ac', 'a/b/c', 'acc'], ['a', 'acb']],
  ['file:///srv/*', ['file:///srv/', 'file:///srv/a'], ['file:///srv', 'file:///srv/a/b', 'file:///srvx/a']],
  ['file:///srv/**', ['file:///srv/a/b', 'file:///srv/'], ['file:///srv', 'xfile:///srv/a']],
  ['**/x', ['/x', 'a/b/x'], ['x', 'a/xy']],
  ['a/**/b', ['a//b', 'a/x/y/b'], ['a/b']],
  // A later place for `**` has to be tried where `*` fails behind the first one.
  ['**a*b', ['ab', 'a/ab', 'a/a/axb'], ['a/b']],
  ['*/**/*', ['a//b', '/x/'], ['a/b', 'ab']],
  // Everything else stands for itself: no classes, no question mark, no escape, no expression.
  ['a?b', ['a?b'], ['axb']],
  ['[ab]', ['[ab]'], ['a']],
  ['a.c', ['a.c'], ['abc']],
  ['(a|b)+$', ['(a|b)+$'], ['a', 'aa']],
  ['\\*', ['\\', '\\x'], ['*']],
  ['naïve_*', ['naïve_x'], ['naive_x', 'nai\u0308ve_x']],
  ['*😀*', ['😀', 'a😀b'], ['\ud83d', 'a']],
];

for (const [pattern, yes, no] of MATCHES) {
  test(`the pattern ${JSON.stringify(pattern)}`, () => {
    const glob = new Glob(pattern);
    for (const text of yes) assert.ok(glob.matches(text), `matches ${JSON.stringify(text)}`);
    for (const text of no) assert.ok(!glob.matches(text), `does not match ${JSON.stringify(text)}`);
  });
}

test('what begins so could match, or matches in any case', () => {
  const glob = new Glob('file:///srv/*/public/**');
  for (const beginning of ['', 'file:', 'file:///srv/', 'file:///srv/a', 'file:///srv/a/public/x/y']) {
    assert.ok(glob.couldMatch(beginning), beginning);
  }
  for (const beginning of ['x', 'file:///srvx', 'file:///srv/a/private', 'file:///srv/a/b/public/']) {
    assert.ok(!glob.couldMatch(beginning), beginning);
  }
  assert.ok(glob.coversAll('file:///srv/a/public/'));
  assert.ok(!glob.coversAll('file:///srv/a/public'));
  assert.ok(new Glob('**').coversAll(''));
  assert.ok(!new Glob('*').coversAll(''), 'a name may have a slash');
  assert.ok(!new Glob('**x').coversAll(''));
});

test('it agrees with a regular expression made of the same pattern', () => {
  const pieces = fc.constantFrom('*', '**', 'a', 'b', '/', '.');
  const alphabet = fc.constantFrom('a', 'b', '/', '.', 'c');
  const texts = fc.array(alphabet, { maxLength: 9 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 7 }), texts, (parts, text) => {
      const pattern = parts.join('');
      const source = pattern
        .replaceAll('.', '\\.')
        .replace(/\*+/g, (stars) => (stars === '*' ? '[^/]*' : '[^]*'));
      const expression = new RegExp(`^${source}$`);
      const glob = new Glob(pattern);
      assert.equal(glob.matches(text), expression.test(text));
      if (glob.matches(text)) {
        for (let end = 0; end <= text.length; end += 1) assert.ok(glob.couldMatch(text.slice(0, end)));
      }
      if (glob.coversAll(text)) assert.ok(glob.matches(text) && glob.matches(`${text}/c/`));
    }),
    { numRuns: 3_000 },
  );
});

test('no pattern and no text make it slow', () => {
  const text = `${'a'.repeat(4_096)}b`;
  for (const pattern of ['*a'.repeat(200), '**a'.repeat(200), '*a*'.repeat(100), `${'a'.repeat(500)}**c`]) {
    // Trying every way would take longer than anyone waits; CPU time, so that a busy machine is no fault.
    const before = process.cpuUsage();
    assert.equal(new Glob(`${pattern}!`).matches(text), false);
    const tookMs = process.cpuUsage(before).user / 1_000;
    assert.ok(tookMs < 2_000, `${pattern.slice(0, 10)} took ${tookMs} ms`);
  }
});
