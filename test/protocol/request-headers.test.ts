import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  METHOD_HEADER,
  NAME_HEADER,
  nameSourceOf,
  standardHeaders,
} from '../../src/protocol/request-headers.ts';

/** The specification's own table, row by row. */
const EXAMPLES: readonly [original: string, encoded: string][] = [
  ['us-west1', 'us-west1'],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
];

/** Values that a header carries as they are. */
const PLAIN = [
  '',
  'a',
  'two words',
  'tab\tinside',
  '!~',
  '"quoted", (listed); a=b',
  'file:///a b/%20?q=1#f',
  '=?base64?open',
  'closed?=',
  '=?BASE64?eA==?=',
  '=?base64',
  '?=',
  '?base64?eA==?=',
  '42',
  'true',
];

/** Values that it cannot carry, or that would not arrive as they were. */
const UNSAFE = [
  ' ',
  '\t',
  ' leading',
  'trailing ',
  '\tleading',
  'trailing\t',
  '\r\nX-Injected: 1',
  'nul\u0000',
  'del\u007f',
  'esc\u001b[0m',
  'caf\u00e9',
  '\u0080',
  '\u2028',
  '\ufeff',
  '\u{1f600}',
  'x'.repeat(100_000).concat('\u20ac'),
  '=?base64?=',
  '=?base64??=',
  '=?base64?!?=',
  '=?base64?eA==?=',
];

describe('encodeHeaderValue', () => {
  for (const [original, encoded] of EXAMPLES) {
    test(`encodes ${JSON.stringify(original)} as the specification does`, () => {
      assert.equal(encodeHeaderValue(original), encoded);
      assert.equal(decodeHeaderValue(encoded), original);
    });
  }

  for (const value of PLAIN) {
    test(`leaves ${JSON.stringify(value)} plain`, () => {
      assert.equal(encodeHeaderValue(value), value);
      assert.equal(decodeHeaderValue(value), value);
    });
  }

  for (const value of UNSAFE) {
    test(`encodes ${JSON.stringify(value.slice(-20))}`, () => {
      const encoded = encodeHeaderValue(value);
      assert.match(encoded, /^=\?base64\?[A-Za-z0-9+/]+=*\?=$/);
      assert.equal(decodeHeaderValue(encoded), value);
    });
  }
});

describe('F34: decodeHeaderValue', () => {
  const MALFORMED: readonly [title: string, value: string][] = [
    ['base64 without padding', '=?base64?eA?='],
    ['base64 with half a padding', '=?base64?eA=?='],
    ['base64 with too much padding', '=?base64?eA===?='],
    ['padding in the middle', '=?base64?eA==eA==?='],
    ['a single character', '=?base64?e?='],
    ['the alphabet of URLs', '=?base64?-_-_?='],
    ['a space in base64', '=?base64?eA ==?='],
    ['a line break in base64', '=?base64?eHh4\neHh4?='],
    ['a question mark in base64', '=?base64?eA==?x?='],
    ['no base64 at all', '=?base64?literal!?='],
    ['bytes that start no character', '=?base64?gA==?='],
    ['half a character', '=?base64?4oI=?='],
    ['an overlong form', '=?base64?wIA=?='],
    ['an encoded surrogate', '=?base64?7aCA?='],
    ['beyond the last character', '=?base64?9JCAgA==?='],
    ['overlapping markers', '=?base64?='],
    ['a byte beyond ASCII in the plain form', 'caf\u00e9'],
    ['UTF-8 in the plain form, as Node hands it on', Buffer.from('\u20ac').toString('latin1')],
    ['a control character in the plain form', 'a\u0001b'],
    ['a delete character in the plain form', '\u007f'],
  ];
  for (const [title, value] of MALFORMED) {
    test(`refuses ${title}`, () => assert.equal(decodeHeaderValue(value), undefined));
  }

  test('takes markers in another case for text', () => {
    for (const value of ['=?Base64?eA==?=', '=?BASE64?eA==?=']) assert.equal(decodeHeaderValue(value), value);
  });

  test('decodes once', () => {
    const once = encodeHeaderValue('\u20ac');
    assert.equal(decodeHeaderValue(encodeHeaderValue(once)), once);
  });

  test('keeps a byte order mark, and the empty string', () => {
    assert.equal(decodeHeaderValue('=?base64?77u/eA==?='), '\ufeffx');
    assert.equal(decodeHeaderValue('=?base64??='), '');
  });

  test('is linear in what it is given', () => {
    const startedAt = performance.now();
    for (const filler of ['A', ' ', '=', '?=', '=?base64?', 'a ']) {
      const long = filler.repeat(1_000_000 / filler.length);
      for (const value of [long, `=?base64?${long}?=`, `a${long}\u20ac`, `${long}a`]) {
        decodeHeaderValue(value);
        encodeHeaderValue(value);
      }
    }
    assert.ok(performance.now() - startedAt < 5_000);
  });
});

describe('standardHeaders', () => {
  const ROWS: readonly [
    method: string,
    params: Record<string, string | number> | undefined,
    name?: string,
  ][] = [
    ['tools/call', { name: 'echo', uri: 'x:y' }, 'echo'],
    ['prompts/get', { name: 'gru\u00df' }, '=?base64?Z3J1w58=?='],
    ['resources/read', { uri: 'file:///a', name: 'n' }, 'file:///a'],
    ['tasks/get', { taskId: 't1' }, 't1'],
    ['tools/call', { name: '' }, ''],
    ['tools/call', { name: 42 }],
    ['tools/call', {}],
    ['tools/call', undefined],
    ['tools/list', { name: 'echo' }],
    ['constructor', { name: 'echo' }],
    ['__proto__', { name: 'echo' }],
  ];
  for (const [method, params, name] of ROWS) {
    test(`of ${method} ${JSON.stringify(params)}`, () => {
      const expected = { [METHOD_HEADER]: method, ...(name === undefined ? {} : { [NAME_HEADER]: name }) };
      assert.deepEqual(standardHeaders(method, params), expected);
    });
  }

  test('never carry what would break out of a header', () => {
    for (const value of Object.values(standardHeaders('a\r\nb', undefined)))
      assert.match(value, /^[\x20-\x7e]*$/);
  });

  test('name a source only for methods that have one', () => {
    assert.deepEqual(nameSourceOf('resources/read'), { member: 'uri', required: true });
    for (const method of ['tools/list', 'toString', '__proto__', ''])
      assert.equal(nameSourceOf(method), undefined);
  });
});

test('F34: an encoded value arrives through a real connection as it was', async () => {
  const values = [
    ...EXAMPLES.map(([original]) => original),
    ...PLAIN,
    ...UNSAFE.filter(({ length }) => length < 100),
  ];
  const server = createServer((request, response) => {
    response.end(JSON.stringify(decodeHeaderValue(request.headers[NAME_HEADER] as string)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    for (const value of values) {
      const headers = { [NAME_HEADER]: encodeHeaderValue(value) };
      const answer = await fetch(`http://127.0.0.1:${port}/`, { headers });
      assert.equal(await answer.json(), value);
    }
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
