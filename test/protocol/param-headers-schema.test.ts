import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readParamHeaders } from '../../src/protocol/param-headers.ts';

const REGION = { type: 'string', 'x-mcp-header': 'Region' };
const COUNT = { type: 'integer', 'x-mcp-header': 'Count' };
const FORCE = { type: 'boolean', 'x-mcp-header': 'Force' };

function objectOf(properties: object, more: object = {}): object {
  return { type: 'object', properties, ...more };
}

function headersOf(properties: object): unknown {
  const read = readParamHeaders(objectOf(properties));
  return 'headers' in read ? read.headers : read.invalid;
}

describe('readParamHeaders', () => {
  test('finds what properties declare, at any depth, with the path to the argument', () => {
    const inner = objectOf({ count: COUNT, deeper: objectOf({ 'a.b/c': FORCE }) });
    assert.deepEqual(headersOf({ region: REGION, plain: { type: 'object' }, inner }), [
      { header: 'mcp-param-region', path: ['region'], type: 'string' },
      { header: 'mcp-param-count', path: ['inner', 'count'], type: 'integer' },
      { header: 'mcp-param-force', path: ['inner', 'deeper', 'a.b/c'], type: 'boolean' },
    ]);
  });

  test('finds none in what declares none, or is no schema', () => {
    for (const schema of [undefined, null, true, 5, 'x', [], {}, objectOf({}), { properties: [] }]) {
      assert.deepEqual(readParamHeaders(schema), { headers: [] });
    }
  });

  test('takes properties that are named like a keyword for properties', () => {
    const names = { properties: REGION, items: COUNT, 'x-mcp-header': FORCE };
    assert.deepEqual(headersOf(names), [
      { header: 'mcp-param-region', path: ['properties'], type: 'string' },
      { header: 'mcp-param-count', path: ['items'], type: 'integer' },
      { header: 'mcp-param-force', path: ['x-mcp-header'], type: 'boolean' },
    ]);
    const elsewhere = {
      anyOf: [objectOf({ 'x-mcp-header': { type: 'string' } })],
      $defs: { 'x-mcp-header': {} },
    };
    assert.deepEqual(readParamHeaders(objectOf({}, elsewhere)), { headers: [] });
  });

  test('takes data that looks like an annotation for data', () => {
    const data = { 'x-mcp-header': '' };
    for (const keyword of ['default', 'const', 'enum', 'examples']) {
      assert.deepEqual(readParamHeaders(objectOf({ a: { type: 'object', [keyword]: data } })), {
        headers: [],
      });
      assert.deepEqual(readParamHeaders(objectOf({ a: { items: { [keyword]: [data] } } })), { headers: [] });
    }
  });

  test('allows an annotation beside a $ref, whose own chain is properties alone', () => {
    assert.ok(
      'headers' in readParamHeaders(objectOf({ a: { ...REGION, $ref: '#/$defs/r' } }, { $defs: { r: {} } })),
    );
  });

  test('takes as many as 64, and no more', () => {
    const many = (count: number) =>
      objectOf(
        Object.fromEntries(
          Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string', 'x-mcp-header': `P${i}` }]),
        ),
      );
    assert.ok('headers' in readParamHeaders(many(64)));
    for (const count of [65, 200]) assert.ok('invalid' in readParamHeaders(many(count)), `F35: ${count}`);
  });

  test('takes them sixteen properties deep, and no deeper', () => {
    const nested = (depth: number): object =>
      depth === 1 ? objectOf({ region: REGION }) : objectOf({ inner: nested(depth - 1) });
    assert.ok('headers' in readParamHeaders(nested(16)));
    assert.ok('invalid' in readParamHeaders(nested(17)));
    assert.ok('invalid' in readParamHeaders(nested(400)));
  });

  test('takes deep schemas without annotations, but none beyond all measure', () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { items: nested(depth - 1) });
    assert.ok('headers' in readParamHeaders(nested(200)));
    assert.ok('invalid' in readParamHeaders(nested(500)));
  });
});

describe('F35: invalid is', () => {
  const NAMES = [
    '',
    ' ',
    'a b',
    'a:b',
    'a\r\nb',
    'a\tb',
    'a\u0000',
    'R\u00e9gion',
    'a/b',
    'a"b',
    '(a)',
    'a\n',
  ];
  for (const name of [...NAMES, 'x'.repeat(129), 5, null, true, {}, ['Region']]) {
    test(`the name ${JSON.stringify(name).slice(0, 30)}`, () => {
      assert.ok('invalid' in readParamHeaders(objectOf({ a: { type: 'string', 'x-mcp-header': name } })));
    });
  }

  for (const type of [
    'number',
    'object',
    'array',
    'null',
    'String',
    undefined,
    ['string'],
    ['string', 'null'],
  ]) {
    test(`the type ${JSON.stringify(type)}`, () => {
      assert.ok('invalid' in readParamHeaders(objectOf({ a: { type, 'x-mcp-header': 'A' } })));
    });
  }

  for (const other of ['Region', 'region', 'REGION']) {
    test(`a second Region, spelt ${other}, at another depth`, () => {
      const inner = objectOf({ b: { type: 'string', 'x-mcp-header': other } });
      assert.ok('invalid' in readParamHeaders(objectOf({ a: REGION, inner })));
    });
  }

  const UNREACHABLE: Readonly<Record<string, object>> = {
    root: REGION,
    items: { items: REGION },
    'properties of items': { items: objectOf({ a: REGION }) },
    prefixItems: { prefixItems: [{}, REGION] },
    contains: { contains: REGION },
    oneOf: { oneOf: [{}, objectOf({ a: REGION })] },
    anyOf: { anyOf: [objectOf({ a: REGION })] },
    allOf: { allOf: [objectOf({ a: REGION })] },
    not: { not: objectOf({ a: REGION }) },
    if: { if: objectOf({ a: REGION }) },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, on an object that nobody awaits
    then: { then: objectOf({ a: REGION }) },
    else: { else: objectOf({ a: REGION }) },
    $defs: { $defs: { r: REGION } },
    'a $ref into $defs': objectOf({ a: { $ref: '#/$defs/r' } }, { $defs: { r: REGION } }),
    definitions: { definitions: { r: REGION } },
    additionalProperties: { additionalProperties: REGION },
    unevaluatedProperties: { unevaluatedProperties: REGION },
    patternProperties: { patternProperties: { '^a': REGION } },
    dependentSchemas: { dependentSchemas: { a: objectOf({ b: REGION }) } },
    propertyNames: { propertyNames: REGION },
    'a keyword that nobody knows': { 'x-more': [{ deep: REGION }] },
    'properties that are a list': { properties: [REGION] },
  };
  for (const [place, schema] of Object.entries(UNREACHABLE)) {
    test(`an annotation under ${place}`, () => {
      const full = { type: 'object', ...schema };
      assert.ok('invalid' in readParamHeaders(place === 'root' ? REGION : full));
      if (place !== 'root') assert.ok('invalid' in readParamHeaders(objectOf({ nested: full })), 'deeper');
    });
  }
});
