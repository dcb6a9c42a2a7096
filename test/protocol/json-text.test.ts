import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isJsonObject, MAX_NESTING, rawNumber, readJson, writeJson } from '../../src/protocol/json-text.ts';
import { LongText } from '../../src/protocol/long-text.ts';

/** Numbers that a double gives back as other text. */
const FRAGILE = [
  '9007199254740993',
  '-9007199254740993',
  '12345678901234567890',
  '0.12345678901234567890',
  '3.14159265358979323846',
  '1.0',
  '-1.0',
  '100.50',
  '1.00',
  '0.0',
  '-0.0',
  '-0',
  '1e2',
  '1E2',
  '1e+2',
  '1.5e-3',
  '1e21',
  '1e400',
  '-1e400',
  '1e-400',
  '0.0000001',
  '-0.00000012',
  '1000000000000000000000',
];

/** Numbers that are their double's own text. */
const PLAIN = [
  '0',
  '1',
  '-1',
  '10',
  '100',
  '1.5',
  '-0.5',
  '0.000001',
  '9007199254740991',
  '9007199254740992',
  '123456789012345',
  '0.1234567890123456',
  '1e+21',
  '1e-7',
  '5e-324',
  '1.7976931348623157e+308',
];

describe('readJson', () => {
  for (const source of FRAGILE) {
    test(`keeps ${source} to the digit, wherever it stands`, () => {
      for (const text of [
        source,
        `[${source}]`,
        `[1,${source},2]`,
        `{"a":${source}}`,
        `{"a":{"b":[{"c":${source},"d":"${source}"}]}}`,
      ]) {
        assert.equal(writeJson(readJson(text)), text);
      }
      assert.equal(rawNumber(readJson(source)), source);
      assert.deepEqual(
        rawNumber((readJson(`[ \n${source}\t ]`) as unknown[])[0]),
        source,
        'between white space',
      );
    });
  }

  for (const source of PLAIN) {
    test(`gives ${source} as a number`, () => {
      assert.equal(readJson(source), Number(source));
      assert.equal(rawNumber(readJson(source)), undefined);
      assert.equal(writeJson(readJson(`{"a":[${source}]}`)), `{"a":[${source}]}`);
    });
  }

  test('leaves numbers in strings alone, behind quotes and backslashes of any number', () => {
    const strings = [
      '1.0',
      ', 1.0,',
      '"1.0"',
      '\\',
      '\\\\',
      '\\"',
      ': 9007199254740993]',
      '\\\\",1.0',
      '\u2028 1.0 ',
    ];
    for (const value of [strings, { 'a": 1.0, "b': 1 }, strings.join(',')]) {
      assert.deepEqual(readJson(JSON.stringify(value)), value);
      const beside = JSON.stringify([value, '#']).replace('"#"', '1.0');
      assert.equal(writeJson(readJson(beside)), beside);
    }
  });

  test('gives raw numbers their place among keys that JavaScript puts in an order of its own', () => {
    const value = readJson('{"b":1.0,"2":2.0,"1":3.0,"b":4.0}');
    assert.equal(writeJson(value), '{"1":3.0,"2":2.0,"b":4.0}');
  });

  test('makes __proto__ a key like any other, also beside raw numbers', () => {
    for (const text of ['{"__proto__":{"a":1}}', '{"__proto__":1.0}', '{"__proto__":{"a":1.0}}']) {
      const value = readJson(text) as object;
      assert.deepEqual(Object.keys(value), ['__proto__'], text);
      assert.equal(Object.getPrototypeOf(value), Object.prototype, text);
      assert.equal(writeJson(value), text);
      assert.equal(writeJson({ ...value }), text, 'and in a copy');
    }
  });

  const BROKEN = [
    '',
    ' ',
    '1.',
    '.5',
    '01',
    '01.0',
    '+1',
    '--1.0',
    '1.0.0',
    '1e',
    '- 1',
    '1.0 1.0',
    '[1.0',
    '1.0]',
  ];
  for (const text of [
    ...BROKEN,
    '{1.0:2}',
    '{"a":1.0,}',
    '[1.0 2.0]',
    '["a" 1.0]',
    '"a"1.0',
    '[1.0"]',
    'Infinity',
  ]) {
    test(`does not take ${JSON.stringify(text)} for JSON`, () => {
      assert.throws(() => readJson(text), SyntaxError);
    });
  }

  test('nests as deep as can be written again, and no deeper', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1.0${'}]'.repeat(depth / 2)}`;
    assert.equal(writeJson(readJson(nested(MAX_NESTING))), nested(MAX_NESTING));
    assert.throws(() => readJson(nested(MAX_NESTING + 2)), RangeError);
    assert.throws(() => readJson('['.repeat(MAX_NESTING + 1)), RangeError);
    assert.throws(() => readJson('['.repeat(MAX_NESTING)), SyntaxError);
    assert.doesNotThrow(() => readJson(`[${'[],'.repeat(2 * MAX_NESTING)}1]`), 'siblings do not add up');
    assert.doesNotThrow(() => readJson(JSON.stringify('['.repeat(2 * MAX_NESTING))), 'text is not nesting');
  });
});

describe('isJsonObject', () => {
  test('is true of objects alone', () => {
    for (const text of ['{}', '{"rawJSON":"1.0"}', '{"length":0}'])
      assert.ok(isJsonObject(readJson(text)), text);
    for (const text of ['null', '[]', '"{}"', '1', '1.0', 'true'])
      assert.ok(!isJsonObject(readJson(text)), text);
    assert.ok(!isJsonObject(undefined));
    assert.ok(!isJsonObject(new LongText([Buffer.from('"a"')])));
  });

  test('cannot be had by an object that looks like a raw number', () => {
    assert.equal(rawNumber(readJson('{"rawJSON":"1.0"}')), undefined);
    assert.equal(writeJson(readJson('{"rawJSON":"1.0"}')), '{"rawJSON":"1.0"}');
  });
});

describe('F18: readJson is linear', () => {
  const SIZE = 5_000_000;
  const filled = (unit: string) => unit.repeat(SIZE / unit.length);
  const texts: Readonly<Record<string, string>> = {
    digits: filled('1'),
    'digits in a string': `"${filled('1')}"`,
    'digits and points': filled('1.'),
    'digits and points in a string': `"${filled(' 1.')}"`,
    exponents: filled('1e'),
    'minus signs': filled('-'),
    backslashes: `"${filled('\\\\')}"`,
    'backslashes that never end': `"${filled('\\')}`,
    'escaped quotes': `"${filled('\\"')}"`,
    'quotes that open and close': filled('"'),
    spaces: `[0${filled(' ')}]`,
    'lists of lists': filled('[]'),
    base64: `{"data":"${Buffer.alloc(SIZE, 'gateway').toString('base64')}"}`,
    'short numbers in a string': `"${filled(' -0 ')}"`,
  };
  for (const [title, text] of Object.entries(texts)) {
    test(`in 5 MB of ${title}`, () => {
      const startedAt = performance.now();
      try {
        readJson(text);
      } catch (thrown) {
        assert.ok(thrown instanceof SyntaxError);
      }
      // What is quadratic takes minutes; what is linear, a twentieth of this on a slow machine.
      assert.ok(performance.now() - startedAt < 2_000);
    });
  }

  test('and a payload in base64 costs hardly more than JSON.parse', () => {
    const text = `{"data":"${Buffer.alloc(SIZE, 'gateway').toString('base64')}"}`;
    const fastest = (parse: (text: string) => unknown) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const startedAt = performance.now();
          parse(text);
          return performance.now() - startedAt;
        }),
      );
    // The slow path costs some forty times as much; which of the two was taken is told whatever else is at work.
    assert.ok(fastest(readJson) < 15 * fastest(JSON.parse) + 5);
  });
});
