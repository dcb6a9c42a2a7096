import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type JsonObject, readJson } from '../../src/protocol/json-text.ts';
import {
  buildParamHeaders,
  type ParamHeader,
  paramHeaderMismatch,
  readParamHeaders,
} from '../../src/protocol/param-headers.ts';

const REGION = { type: 'string', 'x-mcp-header': 'Region' };
const COUNT = { type: 'integer', 'x-mcp-header': 'Count' };
const FORCE = { type: 'boolean', 'x-mcp-header': 'Force' };

function objectOf(properties: object): object {
  return { type: 'object', properties };
}

function declared(properties: object): readonly ParamHeader[] {
  const read = readParamHeaders(objectOf(properties));
  assert.ok('headers' in read, 'invalid' in read ? read.invalid : '');
  return read.headers;
}

function mismatch(
  properties: object,
  args: string | undefined,
  sent: Record<string, string>,
): string | undefined {
  const parsed = args === undefined ? undefined : (readJson(args) as JsonObject);
  return paramHeaderMismatch(declared(properties), parsed, (name) => sent[name]);
}

const HEADER = 'mcp-param-region';
const HUGE = 'x'.repeat(8_193);

type Row = readonly [
  title: string,
  property: object,
  value: string | undefined,
  header: string | undefined,
  ok: boolean,
];

const ROWS: readonly Row[] = [
  ['value and header', REGION, '"us-west1"', 'us-west1', true],
  ['value, no header', REGION, '"us-west1"', undefined, false],
  ['null, no header', REGION, 'null', undefined, true],
  ['null, a header', REGION, 'null', 'null', false],
  ['null, an empty header', REGION, 'null', '', false],
  ['no value, no header', REGION, undefined, undefined, true],
  ['no value, a header', REGION, undefined, 'us-west1', false],
  ['another value', REGION, '"us-west1"', 'us-west2', false],
  ['another case', REGION, '"us-west1"', 'US-WEST1', false],
  ['an empty value and header', REGION, '""', '', true],
  ['an encoded value', REGION, '"gr\u00fcn"', '=?base64?Z3LDvG4=?=', true],
  ['an encoded value of other text', REGION, '"rot"', '=?base64?Z3LDvG4=?=', false],
  ['bad base64', REGION, '"x"', '=?base64?x?=', false],
  ['bad base64, equal to the value', REGION, '"=?base64?x?="', '=?base64?x?=', false],
  ['bytes beyond ASCII', REGION, '"gr\u00fcn"', 'gr\u00fcn', false],
  ['a value of 8 KiB', REGION, JSON.stringify(HUGE.slice(1)), HUGE.slice(1), true],
  ['F35: a value beyond 8 KiB', REGION, JSON.stringify(HUGE), HUGE, false],
  ['a number where a string is declared', REGION, '42', '42', true],
  ['an object where a string is declared, no header', REGION, '{}', undefined, true],
  ['an object where a string is declared, a header', REGION, '{}', '[object Object]', false],
  ['a list, a header', REGION, '["a"]', 'a', false],
  ['true', { ...FORCE, 'x-mcp-header': 'Region' }, 'true', 'true', true],
  ['false', { ...FORCE, 'x-mcp-header': 'Region' }, 'false', 'false', true],
  ['false, as 0', { ...FORCE, 'x-mcp-header': 'Region' }, 'false', '0', false],
  ['true, in another case', { ...FORCE, 'x-mcp-header': 'Region' }, 'true', 'True', false],
];

const INTEGERS: readonly [value: string, header: string, ok: boolean][] = [
  ['42', '42', true],
  ['42', '42.0', true],
  ['42.0', '42', true],
  ['42.0', '42.00', true],
  ['4.2e1', '42', true],
  ['-7', '-7', true],
  ['-7', '-7.0', true],
  ['0', '-0', true],
  ['-0', '0', true],
  ['42', '43', false],
  ['42', '042', true],
  ['42', ' 42', false],
  ['42', '+42', false],
  ['42', '4.2e1', false],
  ['42', '0x2a', false],
  ['42', '42.', false],
  ['42', '42.00000000000000000001', false],
  ['42', '42,0', false],
  ['42', '', false],
  ['0', '', false],
  ['0', ' ', false],
  ['9007199254740991', '9007199254740991', true],
  ['9007199254740993', '9007199254740992', false],
  ['9007199254740993', '9007199254740993', true],
  ['9007199254740992', '9007199254740993', false],
  ['1.5', '1.5', true],
  ['1.5', '1', false],
  ['"abc"', 'abc', true],
  ['"42"', '42', true],
  ['"42"', '42.0', false],
  ['""', '0', false],
  ['true', '1', false],
];

describe('F34: an argument and its header', () => {
  for (const [title, property, value, header, ok] of ROWS) {
    test(`${ok ? 'agree' : 'differ'}: ${title}`, () => {
      const args = value === undefined ? '{}' : `{"region":${value}}`;
      const found = mismatch({ region: property }, args, header === undefined ? {} : { [HEADER]: header });
      assert.equal(found === undefined, ok, found);
      if (found !== undefined) assert.match(found, /mcp-param-region/);
    });
  }

  for (const [value, header, ok] of INTEGERS) {
    test(`${ok ? 'agree' : 'differ'}: the integer ${value} and ${JSON.stringify(header)}`, () => {
      const found = mismatch({ n: COUNT }, `{"n":${value}}`, { 'mcp-param-count': header });
      assert.equal(found === undefined, ok, found);
    });
  }

  test('agree where there are no arguments and no headers', () => {
    assert.equal(mismatch({ region: REGION }, undefined, {}), undefined);
  });

  test('are found at their exact path, never on a prototype, and never beside it', () => {
    const inner = { a: objectOf({ b: REGION }) };
    assert.equal(mismatch(inner, '{"a":{"b":"x"}}', { [HEADER]: 'x' }), undefined);
    for (const args of ['{"b":"x"}', '{"a":"x"}', '{"a":["x"]}', '{"a":null}', '{"a.b":"x"}', '{"a":1.0}']) {
      assert.notEqual(mismatch(inner, args, { [HEADER]: 'x' }), undefined, args);
      assert.equal(mismatch(inner, args, {}), undefined, args);
    }
    for (const name of ['constructor', 'toString', '__proto__']) {
      const properties = readJson(`{"${name}":{"type":"string","x-mcp-header":"Region"}}`) as object;
      assert.equal(mismatch(properties, '{}', {}), undefined, name);
      assert.equal(mismatch(properties, `{"${name}":"x"}`, { [HEADER]: 'x' }), undefined, name);
    }
  });

  test('differ in a way that the client is told', () => {
    const told = (args: string, header: string | undefined) =>
      mismatch({ region: REGION }, args, header === undefined ? {} : { [HEADER]: header });
    assert.equal(told('{"region":"a"}', undefined), 'The mcp-param-region header is missing');
    assert.equal(told('{}', 'a'), 'mcp-param-region is sent, but the argument is not');
    assert.equal(told('{"region":null}', 'a'), 'mcp-param-region is sent, but the argument is not');
    assert.equal(told('{"region":"a"}', '=?base64?!?='), 'The mcp-param-region header is malformed');
    assert.equal(told('{"region":"a"}', 'b'), 'mcp-param-region differs from the argument in the body');
  });

  test('F34: headers that no schema declares are not looked at', () => {
    assert.equal(mismatch({}, '{"a":1}', { 'mcp-param-a': '=?base64?!?=' }), undefined);
  });
});

describe('buildParamHeaders', () => {
  const ALL = { region: REGION, inner: objectOf({ n: COUNT }), force: FORCE };

  test('mirrors what is there, encoded where it must be', () => {
    const args = readJson('{"region":" gr\u00fcn","inner":{"n":-7},"force":false,"other":1}') as JsonObject;
    assert.deepEqual(buildParamHeaders(declared(ALL), args), {
      [HEADER]: '=?base64?IGdyw7xu?=',
      'mcp-param-count': '-7',
      'mcp-param-force': 'false',
    });
  });

  test('leaves out what is null, absent or no primitive', () => {
    const args = readJson('{"region":null,"inner":{"n":[1]},"force":{}}') as JsonObject;
    assert.deepEqual(buildParamHeaders(declared(ALL), args), {});
    assert.deepEqual(buildParamHeaders(declared(ALL), {}), {});
    assert.deepEqual(buildParamHeaders(declared(ALL), undefined), {});
  });

  test('writes integers in decimal, whatever their spelling in the body', () => {
    for (const [source, sent] of [
      ['42.0', '42'],
      ['1e2', '100'],
      ['-0', '0'],
      ['9007199254740993', '9007199254740993'],
    ]) {
      const args = readJson(`{"inner":{"n":${source}}}`) as JsonObject;
      assert.deepEqual(buildParamHeaders(declared(ALL), args), { 'mcp-param-count': sent });
    }
  });

  test('builds what it would accept itself', () => {
    for (const value of [
      '"x"',
      '"=?base64?eA==?="',
      '"\\r\\n"',
      '42.0',
      '1e2',
      '0.1',
      'true',
      'null',
      '{}',
      '""',
    ]) {
      const args = readJson(`{"region":${value},"inner":{"n":${value}},"force":${value}}`) as JsonObject;
      const headers = buildParamHeaders(declared(ALL), args);
      assert.equal(
        paramHeaderMismatch(declared(ALL), args, (name) => headers[name]),
        undefined,
        value,
      );
    }
  });
});
