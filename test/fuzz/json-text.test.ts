import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_NESTING, readJson, writeJson } from '../../src/protocol/json-text.ts';
import { scanJson } from '../../src/protocol/scan-json.ts';

const RUNS = { numRuns: 400 };

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 22 });
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits.map((text) => text.replace(/^0+(?=\d)/, '')),
    fc.option(digits),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), fc.integer({ min: 0, max: 400 }))),
  )
  .map(([sign, whole, fraction, exponent]) =>
    [sign, whole, fraction === null ? '' : `.${fraction}`, exponent === null ? '' : exponent.join('')].join(
      '',
    ),
  );
const string = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '1.0', ',', ':', '[', '{', '0'), maxLength: 8 }),
  fc.constantFrom('__proto__', 'constructor', '0', '1', 'a'),
);
const space = fc.constantFrom('', '', '', ' ', '\n', '\t ');

/** JSON texts with numbers of every spelling, white space and keys that come twice. */
const { value: jsonText } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    string.map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null'),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
  object: fc
    .array(fc.tuple(string, space, tie('value'), space), { maxLength: 5 })
    .map((members) => `{${members.map(([key, a, value, b]) => `${JSON.stringify(key)}${a}:${value}${b}`)}}`),
}));

interface JsonWithSource {
  rawJSON(text: string): object;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
}

/** The slow way to the same end, which the language itself offers. */
function oracle(text: string): string {
  const json = JSON as unknown as JsonWithSource;
  return JSON.stringify(
    json.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined ? json.rawJSON(source) : value,
    ),
  );
}

test('every number comes out as it went in, and all else as JSON.parse has it', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      assert.equal(writeJson(readJson(text)), oracle(text));
    }),
    RUNS,
  );
});

test('what JSON.parse refuses is refused, and what it takes is taken', () => {
  const cut = fc
    .tuple(jsonText, fc.nat(), fc.constantFrom('', '1.0', '"', '\\', ',', '-', '1e5', ':', '{', ']'))
    .map(
      ([text, at, more]) =>
        text.slice(0, at % (text.length + 1)) + more + text.slice((at % (text.length + 1)) + 1),
    );
  fc.assert(
    fc.property(
      fc.oneof(cut, fc.string({ unit: fc.constantFrom(...'[]{}:,"\\1.0e- '), maxLength: 30 })),
      (text) => {
        let expected: string | undefined;
        try {
          expected = oracle(text);
        } catch {
          expected = undefined;
        }
        if (expected === undefined) assert.throws(() => readJson(text), SyntaxError);
        else assert.equal(writeJson(readJson(text)), expected);
      },
    ),
    RUNS,
  );
});

test('a text is too deep exactly where a walk of its value finds it so', () => {
  const { nested } = fc.letrec((tie) => ({
    nested: fc.oneof(
      { depthSize: 'large' },
      fc.constant('[[{"a":"['),
      fc.array(tie('nested'), { maxLength: 4 }),
    ),
  }));
  fc.assert(
    fc.property(nested, fc.integer({ min: 0, max: 8 }), (value, limit) => {
      assert.equal(scanJson(JSON.stringify(value), limit).tooDeep, depthOf(value) > limit);
    }),
    RUNS,
  );
  assert.ok(MAX_NESTING > 100);
});

function depthOf(value: unknown): number {
  return Array.isArray(value) ? 1 + Math.max(0, ...value.map(depthOf)) : 0;
}
