import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rawStringMember } from '../../src/protocol/raw-member.ts';

const CASES: readonly (readonly [string, string | undefined])[] = [
  ['{"id":"A"}', '"A"'],
  [String.raw`{"id":"\u0041"}`, String.raw`"\u0041"`],
  [String.raw` { "a" : [ "]", {"id":"no"} ] , "id" : "a\"b\\" , "z":1e5 } `, String.raw`"a\"b\\"`],
  [String.raw`{"\u0069d":"by another name"}`, '"by another name"'],
  ['{"id":"first","id":"last"}', '"last"'],
  ['{"id":"first","id":7}', undefined],
  ['{"params":{"id":"inner"}}', undefined],
  ['{"x":"\\\\","id":"after a backslash"}', '"after a backslash"'],
  ['{"x":null,"y":true,"n":-1.5e+3,"id":"after scalars"}', '"after scalars"'],
  ['{}', undefined],
];

test('the text of a member is found where it stands', () => {
  for (const [text, expected] of CASES) assert.equal(rawStringMember(text, 'id'), expected, text);
});

test('in any object, what is found says what JSON.parse says', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.json()), fc.string(), fc.nat(3), (members, id, space) => {
      const entries = [...Object.entries(members), ['id', JSON.stringify(id)] as const];
      const text = `{${entries.map(([key, json]) => `${JSON.stringify(key)}:${' '.repeat(space)}${json}`).join(',')}}`;
      assert.equal(rawStringMember(text, 'id'), JSON.stringify(id));
    }),
  );
});
