import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../src/protocol/json-text.ts';
import {
  buildParamHeaders,
  type ParamHeader,
  paramHeaderMismatch,
  readParamHeaders,
} from '../../src/protocol/param-headers.ts';
import { decodeHeaderValue, encodeHeaderValue } from '../../src/protocol/request-headers.ts';

const RUNS = { numRuns: 500 };

/** Every character there is, with a liking for those that the encoding is about. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom('=?base64?', '?=', '=', '?', 'QQ==', 'A', ' ', '\t', '\n', 'é'),
    maxLength: 8,
  }),
);

test('what is encoded decodes to what it was', () => {
  fc.assert(
    fc.property(text, (value) => assert.equal(decodeHeaderValue(encodeHeaderValue(value)), value)),
    RUNS,
  );
});

test('what is encoded is a header value that arrives as it was sent', () => {
  fc.assert(
    fc.property(text, (value) => {
      const encoded = encodeHeaderValue(value);
      validateHeaderValue('mcp-name', encoded);
      assert.match(encoded, /^[\x20-\x7e\t]*$/);
      assert.equal(encoded.trim(), encoded);
    }),
    RUNS,
  );
});

test('different values never share an encoding', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(encodeHeaderValue(a) === encodeHeaderValue(b), a === b);
    }),
    RUNS,
  );
});

test('any header decodes to one value or to none; a plain one to itself', () => {
  const anything = fc.string({
    unit: fc.integer({ min: 0, max: 0xffff }).map((c) => String.fromCharCode(c)),
  });
  fc.assert(
    fc.property(fc.oneof(text, anything), (value) => {
      const decoded = decodeHeaderValue(value);
      if (decoded === undefined || value.startsWith('=?base64?')) return;
      assert.equal(decoded, value);
    }),
    RUNS,
  );
});

const primitive = fc.oneof(
  text,
  fc.integer(),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
  fc.double(),
);

/** Some properties, at the root or one below, each with its annotation; and arguments that may or may not fit. */
const call = fc
  .uniqueArray(fc.string({ unit: fc.constantFrom(...'abcXYZ-09_.'), minLength: 1, maxLength: 10 }), {
    maxLength: 8,
    selector: (name) => name.toLowerCase(),
  })
  .chain((names) =>
    fc.record({
      names: fc.constant(names),
      types: fc.array(fc.constantFrom('string', 'integer', 'boolean'), { minLength: 8, maxLength: 8 }),
      args: fc.record({
        ...Object.fromEntries(names.map((name) => [name, fc.option(primitive, { nil: undefined })])),
        inner: fc.option(fc.dictionary(fc.constantFrom(...names, 'x'), primitive), { nil: undefined }),
      }),
    }),
  )
  .map(({ names, types, args }) => {
    const properties = Object.fromEntries(
      names.map((name, i) => [name, { type: types[i], 'x-mcp-header': name }]),
    );
    const read = readParamHeaders({ properties });
    assert.ok('headers' in read);
    return { declared: read.headers, args: args as JsonObject };
  });

test('headers that are built for arguments agree with them', () => {
  fc.assert(
    fc.property(call, ({ declared, args }) => {
      const headers = buildParamHeaders(declared, args);
      assert.equal(mismatch(declared, args, headers), undefined);
    }),
    RUNS,
  );
});

test('a header that is taken away, added or changed is found', () => {
  fc.assert(
    fc.property(call, text, ({ declared, args }, other) => {
      const headers = buildParamHeaders(declared, args);
      for (const { header, type } of declared) {
        const { [header]: sent, ...without } = headers;
        if (sent !== undefined) assert.notEqual(mismatch(declared, args, without), undefined);
        // An integer may be spelt in more ways than one.
        const isSame = type === 'integer' || decodeHeaderValue(other) === decodeHeaderValue(sent ?? '');
        if (sent !== undefined && isSame) continue;
        assert.notEqual(mismatch(declared, args, { ...headers, [header]: other }), undefined);
      }
    }),
    RUNS,
  );
});

test('any schema has its headers, each a token of its own, or a reason why not', () => {
  const key = fc.constantFrom(
    'properties',
    'items',
    'anyOf',
    '$defs',
    'type',
    'x-mcp-header',
    'default',
    'a',
    'b',
  );
  const leaf = fc.oneof(fc.constantFrom('string', 'integer', 'A', 'a', '', 'a b', 'Region'), fc.boolean());
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof({ depthSize: 'medium' }, leaf, fc.array(tie('schema'), { maxLength: 3 }), tie('object')),
    object: fc.dictionary(key, tie('schema'), { maxKeys: 5 }),
  }));
  fc.assert(
    fc.property(schema, (inputSchema) => {
      const read = readParamHeaders(inputSchema);
      if ('invalid' in read) {
        assert.match(read.invalid, /x-mcp-header/);
        return;
      }
      const names = read.headers.map(({ header }) => header);
      assert.equal(new Set(names).size, names.length);
      for (const name of names) assert.match(name, /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]+$/);
    }),
    RUNS,
  );
});

function mismatch(
  declared: readonly ParamHeader[],
  args: JsonObject,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  return paramHeaderMismatch(declared, args, (name) => headers[name]);
}
