import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerBody, LARGE_BODY_BYTES } from '../../src/http/answer-body.ts';

const LARGEST = 'é'.repeat(LARGE_BODY_BYTES / 2);

const BODIES: readonly [what: string, texts: readonly (string | Buffer)[], kinds: readonly string[]][] = [
  ['one small text', ['{"a":1}'], ['string']],
  ['small texts', ['{"result":', '{"text":"aé€😀"}', '}'], ['string']],
  ['the largest text that is not worth counting', [LARGEST], ['string']],
  ['a text of as many characters and more bytes', [`${LARGEST}é`], ['bytes']],
  ['texts that are large together', ['x', LARGEST], ['bytes']],
  ['texts around bytes', ['{"result":', Buffer.from('{"text":"é"}'), '}'], ['bytes', 'bytes', 'bytes']],
];

for (const [what, texts, kinds] of BODIES) {
  test(`${what}: what goes out is what was given, and counted in bytes`, () => {
    const { bytes, pieces } = answerBody(texts);
    assert.deepEqual(
      pieces.map((piece) => (typeof piece === 'string' ? 'string' : 'bytes')),
      kinds,
    );
    const given = Buffer.concat(texts.map((text) => Buffer.from(text)));
    assert.ok(Buffer.concat(pieces.map((piece) => Buffer.from(piece))).equals(given));
    assert.equal(bytes, given.length);
  });
}
