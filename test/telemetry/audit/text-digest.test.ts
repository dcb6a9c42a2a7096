// Digests of texts, against the vectors of RFC 4231 and Node's own HMAC.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTextDigest } from '../../../src/telemetry/audit/text-digest.ts';

/** RFC 4231, section 4: test cases whose key and data are texts. */
const VECTORS: readonly (readonly [string, string, string])[] = [
  ['\x0b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    'Jefe',
    'what do ya want for nothing?',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
];

for (const [key, text, expected] of VECTORS) {
  test(`HMAC-SHA256 of "${text}" is that of RFC 4231`, () => {
    assert.equal(createTextDigest(key).of(text, 'hex'), expected);
  });
}

function assertLikeNode(key: string, text: string): void {
  const expected = createHmac('sha256', key).update(text).digest('base64url');
  // Not to be shown: a text may be long.
  assert.ok(createTextDigest(key).of(text, 'base64url') === expected, `${key}, ${text.length} characters`);
}

test('a digest with a key is the HMAC that everybody else makes, of short and long keys and texts', () => {
  for (const length of [1, 63, 64, 65, 200]) assertLikeNode('k'.repeat(length), 'text');
  for (const length of [0, 1, 55, 56, 64, 2_730, 2_731, 8_192, 8_193, 100_000]) {
    for (const character of ['a', 'ä', '€', '\ud83d']) assertLikeNode('key', character.repeat(length));
  }
  const text = fc.string({ unit: 'binary' });
  fc.assert(fc.property(text, text, assertLikeNode));
});

test('nothing is left in a digest of the text before', () => {
  const digest = createTextDigest('key');
  const [first] = ['a', 'a long text', 'ä'.repeat(100)].map((text) => digest.of(text, 'hex'));
  assert.equal(digest.of('a', 'hex'), first);
});

test('a digest without a key is the plain hash', () => {
  const digest = createTextDigest(undefined);
  assert.equal(digest.of('ä', 'hex'), createHash('sha256').update('ä').digest('hex'));
});

test('how a digest was made is said', () => {
  assert.equal(createTextDigest(undefined).algorithm, 'sha256');
  assert.equal(createTextDigest('key').algorithm, 'hmac-sha256');
});
