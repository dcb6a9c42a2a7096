// Durations, sizes, slugs, suggestions: small pure readers of text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseByteSize } from '../../src/config/byte-size.ts';
import { parseDuration } from '../../src/config/duration.ts';
import { slugOf } from '../../src/config/slug.ts';
import { nearest } from '../../src/config/suggestion.ts';

test('durations become milliseconds', () => {
  const table: readonly (readonly [string, number | undefined])[] = [
    ...([
      ['250ms', 250],
      ['30s', 30_000],
      ['5m', 300_000],
      ['1h', 3_600_000],
      ['0s', 0],
      ['1.5s', 1500],
    ] as const),
    ...['', '5', 's', '5d', '5 s', ' 5s', '5s ', '-5s', '+5s', '1e3s', '.5s', '5.s', '5S', '5ms5s'].map(
      (text) => [text, undefined] as const,
    ),
  ];
  for (const [text, expected] of table) assert.equal(parseDuration(text), expected, JSON.stringify(text));
});

test('sizes become bytes, in powers of 1024', () => {
  const table: readonly (readonly [string, number | undefined])[] = [
    ...([
      ['512b', 512],
      ['512kb', 524_288],
      ['4mb', 4_194_304],
      ['1gb', 1_073_741_824],
      ['1.5KB', 1536],
    ] as const),
    ...['', '4', 'mb', '4mib', '4 mb', '-4mb', '4tb', '4m', '0x4b'].map((text) => [text, undefined] as const),
  ];
  for (const [text, expected] of table) assert.equal(parseByteSize(text), expected, JSON.stringify(text));
});

test('names become slugs', () => {
  const table: readonly (readonly [string, string])[] = [
    ['everything', 'everything'],
    ['GitHub', 'github'],
    ['My Docs (beta)', 'my-docs-beta'],
    ['api.github.com', 'api.github.com'],
    ['@scope/server', 'scope-server'],
    ['Café Zürich', 'cafe-zurich'],
    ['--x--', 'x'],
    ['..', slugOf('..')],
    ['1password', 'server-1password'],
    ['a'.repeat(40), 'a'.repeat(32)],
    [`${'a'.repeat(31)}-b`, 'a'.repeat(31)],
    ['__proto__', 'proto'],
  ];
  for (const [name, expected] of table) assert.equal(slugOf(name), expected, name);
  assert.match(slugOf('搜索'), /^server-[0-9a-f]{8}$|^[a-f][0-9a-f]{7}$/);
  assert.notEqual(slugOf('搜索'), slugOf('文档'));
});

test('every name becomes a slug that fits a path, and keeps it', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('.', '-', 'a', '1', 'É') })),
      (name) => {
        const slug = slugOf(name);
        assert.match(slug, /^[a-z]([a-z0-9.-]{0,30}[a-z0-9])?$/);
        assert.equal(slugOf(slug), slug);
      },
    ),
  );
});

test('a slip leads to the word that was meant, and nothing to nothing', () => {
  const known = ['command', 'args', 'env', 'cwd', 'publicUrl', 'hosts', 'port', 'maxLinks', 'mcpServers'];
  const table: readonly (readonly [string, string | undefined])[] = [
    ['comand', 'command'],
    ['commadn', 'command'],
    ['Args', 'args'],
    ['public_url', 'publicUrl'],
    ['PUBLICURL', 'publicUrl'],
    ['prot', 'port'],
    ['host', 'hosts'],
    ['max-link', 'maxLinks'],
    ['servers', 'mcpServers'],
    ['x', undefined],
    ['', undefined],
    ['somethingElse', undefined],
  ];
  for (const [word, expected] of table) assert.equal(nearest(word, known), expected, word);
});
