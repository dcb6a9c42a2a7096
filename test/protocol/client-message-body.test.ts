import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classify, readClientMessage } from '../../src/protocol/client-message.ts';
import { MAX_NESTING, writeJson } from '../../src/protocol/json-text.ts';
import { outcomeOf, readText } from './modern-post.ts';

const MODERN = { 'mcp-protocol-version': '2026-07-28' };
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

function ping(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
}

describe('F21: an id', () => {
  const ACCEPTED: readonly [source: string, id: string | number][] = [
    ['0', 0],
    ['""', ''],
    ['"1"', '1'],
    ['1', 1],
    ['-5', -5],
    ['9007199254740992', 2 ** 53],
    ['9007199254740993', 2 ** 53],
    ['123456789012345678901234567890', Number('123456789012345678901234567890')],
    ['1.0', 1],
    ['-0', -0],
    ['1e2', 100],
    ['1E+2', 100],
    ['1.50e1', 15],
    ['"\\u0061\\/"', 'a/'],
    ['"\\n\\u0000"', '\n\u0000'],
    ['"\\ud800"', '\ud800'],
    ['"\u{1f600}"', '\u{1f600}'],
  ];
  for (const [source, id] of ACCEPTED) {
    test(`of ${source} is accepted and echoed as it came`, () => {
      const message = readText(ping(source));
      assert.ok(message.kind === 'request', outcomeOf(message));
      assert.ok(Object.is(message.id, id));
      assert.equal(message.idText, source);
    });
  }

  for (const source of [
    'null',
    'true',
    'false',
    '{}',
    '[]',
    '[1]',
    '1.5',
    '0.1',
    '1e-2',
    '1e400',
    '-1e400',
  ]) {
    test(`of ${source} is refused, and none is echoed`, () => {
      const message = readText(ping(source));
      assert.equal(outcomeOf(message), 'refused not-a-message');
      assert.equal('idText' in message && message.idText, undefined);
    });
  }

  test('that is the last of two is the one that counts', () => {
    const message = readText('{"jsonrpc":"2.0","id":1,"method":"ping","id":2}');
    assert.equal(message.kind === 'request' && message.idText, '2');
  });

  test('is echoed from a message that is refused for another reason', () => {
    for (const rest of ['"method":5', '"method":""', '"method":"x","params":[]', '"other":1']) {
      const message = readText(`{"jsonrpc":"2.0","id":9007199254740993,${rest}}`);
      assert.equal(outcomeOf(message), 'refused not-a-message', rest);
      assert.equal('idText' in message && message.idText, '9007199254740993', rest);
    }
  });
});

describe('a body', () => {
  const NOT_JSON: readonly [title: string, bytes: Buffer | string][] = [
    ['that is empty', ''],
    ['of spaces', ' \n'],
    ['that breaks off', PING.slice(0, -1)],
    ['with a comma too many', '{"jsonrpc":"2.0",}'],
    ['in single quotes', "{'jsonrpc':'2.0'}"],
    ['of two JSON texts (F39)', PING + PING],
    ['of two JSON texts in two lines (F39)', `${PING}\n${PING}`],
    ['that is no UTF-8', Buffer.from(PING.replace('ping', '\u00ff'), 'latin1')],
    ['with half a character at its end (F16)', Buffer.from(`${PING}\u20ac`).subarray(0, -1)],
    ['with an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['in UTF-16', Buffer.from(PING, 'utf16le')],
    ['of two byte order marks', `\ufeff\ufeff${PING}`],
    ['with a byte order mark inside', `{\ufeff${PING.slice(1)}`],
    ['with a number that JSON lacks', PING.replace('1', '01')],
    ['with a number for a key', PING.replace('{', '{1.0:2,')],
    ['with NaN', PING.replace('1', 'NaN')],
  ];
  for (const [title, bytes] of NOT_JSON) {
    test(`${title} is not JSON, in either era`, () => {
      for (const [headers, era] of [
        [{}, 'legacy'],
        [MODERN, 'modern'],
      ] as const) {
        const message = readClientMessage(Buffer.from(bytes as Buffer), headers);
        assert.equal(outcomeOf(message), 'refused not-json');
        assert.equal(message.era, era);
        assert.equal('idText' in message && message.idText, undefined);
      }
    });
  }

  const NOT_A_MESSAGE = [
    'null',
    'true',
    '42',
    '42.0',
    '9007199254740993',
    '"ping"',
    '{}',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":2.0,"id":1,"method":"ping"}',
    '{"id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":null}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":1e400}',
    '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
    '{"jsonrpc":"2.0","method":"ping","error":{"code":1,"message":""}}',
    '{"jsonrpc":"2.0","result":{}}',
    '{"jsonrpc":"2.0","id":1,"result":5}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}',
    '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}',
    '{"jsonrpc":"2.0","error":{"code":1,"message":""}}',
  ];
  for (const text of NOT_A_MESSAGE) {
    test(`of ${text} is not a message`, () => {
      assert.equal(outcomeOf(readText(text)), 'refused not-a-message');
      assert.equal(outcomeOf(readText(text, MODERN)), 'refused not-a-message');
    });
  }

  test('may start with a byte order mark and stand between white space', () => {
    assert.deepEqual(readText(`\ufeff \r\n\t${PING}\n`), readText(PING));
  });

  test('may carry members that nobody knows', () => {
    assert.equal(outcomeOf(readText(PING.replace('{', '{"x":1,'))), 'legacy request');
  });

  test('keeps its numbers to the digit', () => {
    const params = '{"a":9007199254740993,"b":[1.0,-0,1e2,0.1234567890123456789,1E400],"c":{"d":0.50}}';
    const message = readText(`{"jsonrpc":"2.0","id":1,"method":"x","params":${params}}`);
    assert.equal(message.kind === 'request' && writeJson(message.params), params);
  });

  test('with __proto__ keys changes no prototype and loses nothing', () => {
    const params = '{"__proto__":{"_meta":{"polluted":1.0}},"constructor":{"prototype":{"polluted":1}}}';
    const message = readText(`{"jsonrpc":"2.0","id":1,"method":"x","__proto__":{"id":2},"params":${params}}`);
    assert.ok(message.kind === 'request');
    assert.equal(message.idText, '1');
    assert.equal(writeJson(message.params), params);
    assert.equal(Object.getPrototypeOf(message.params), Object.prototype);
    assert.equal(message.params?._meta, undefined);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  test('takes no member from a __proto__ key', () => {
    assert.equal(
      outcomeOf(readText('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}')),
      'refused not-a-message',
    );
  });
});

describe('F39: an array', () => {
  test('without members is refused in either era', () => {
    assert.equal(outcomeOf(readText('[]')), 'refused not-a-message');
    assert.equal(outcomeOf(readText('[]', MODERN)), 'refused not-a-message');
  });

  for (const text of [`[${PING}]`, `[[${PING}]]`, '[1]', `[${Array(10_000).fill(PING).join()}]`]) {
    test(`of ${text.length < 60 ? text : '10,000 requests'} is for a session to judge, and refused when modern`, () => {
      const message = readText(text);
      assert.equal(outcomeOf(message), 'legacy batch');
      assert.deepEqual(message.kind === 'batch' && message.items, JSON.parse(text));
      assert.equal(outcomeOf(readText(text, MODERN)), 'refused not-a-message');
    });
  }

  test('is refused member by member where one is an array or no message', () => {
    for (const member of [[], [JSON.parse(PING)], 1, null, {}]) {
      assert.equal(outcomeOf(classify(member, {})), 'refused not-a-message');
    }
    assert.equal(outcomeOf(classify(JSON.parse(PING), {})), 'legacy request');
  });
});

describe('F18: deep nesting', () => {
  const DEPTH = 100_000;
  const brackets = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
  const braces = '{"a":'.repeat(DEPTH) + '1'.padEnd(DEPTH + 1, '}');
  const deep: readonly [title: string, text: string][] = [
    ['as the body', brackets],
    ['that never closes', '['.repeat(DEPTH)],
    ['in params', `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${brackets}}}`],
    ['of objects in params', `{"jsonrpc":"2.0","id":1,"method":"x","params":${braces}}`],
    [
      'beside a number that is kept raw',
      `{"jsonrpc":"2.0","id":1.0,"method":"x","params":{"a":${brackets}}}`,
    ],
    ['in the id', ping(brackets)],
    ['in the method', `{"jsonrpc":"2.0","id":1,"method":${brackets}}`],
  ];
  for (const [title, text] of deep) {
    test(`${title} is refused at once`, () => {
      const startedAt = performance.now();
      assert.equal(outcomeOf(readText(text)), 'refused not-a-message');
      assert.ok(performance.now() - startedAt < 5_000);
    });
  }

  test('up to the limit can be read and written again', () => {
    const atLimit = '['.repeat(MAX_NESTING - 2) + ']'.repeat(MAX_NESTING - 2);
    const message = readText(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${atLimit}}}`);
    assert.equal(message.kind === 'request' && writeJson(message.params), `{"a":${atLimit}}`);
  });

  test('inside a string is text', () => {
    assert.equal(outcomeOf(readText(ping(JSON.stringify(brackets)))), 'legacy request');
  });
});
