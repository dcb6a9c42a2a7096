import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  isSameId,
  type JsonRpcMessage,
  readExactId,
  readId,
  readMessage,
  type ShapeError,
} from '../../src/protocol/json-rpc.ts';
import { readJson, writeJson } from '../../src/protocol/json-text.ts';

function kindOf(text: string): JsonRpcMessage | ShapeError {
  return readMessage(readJson(text));
}

describe('readMessage', () => {
  test('tells a request, with its id as a value and as text', () => {
    assert.deepEqual(kindOf('{"jsonrpc":"2.0","id":1.0,"method":"m","params":{"a":1}}'), {
      kind: 'request',
      id: 1,
      idText: '1.0',
      method: 'm',
      params: { a: 1 },
    });
    assert.deepEqual(kindOf('{"jsonrpc":"2.0","id":"","method":"m"}'), {
      kind: 'request',
      id: '',
      idText: '""',
      method: 'm',
      params: undefined,
    });
  });

  test('tells a notification, which has no id', () => {
    const params = { x: [] };
    assert.deepEqual(kindOf('{"jsonrpc":"2.0","method":"m","params":{"x":[]}}'), {
      kind: 'notification',
      method: 'm',
      params,
    });
  });

  test('tells a response, and keeps whatever its outcome holds', () => {
    assert.deepEqual(kindOf('{"jsonrpc":"2.0","id":0,"result":{"unknown":[1]}}'), {
      kind: 'response',
      id: 0,
      idText: '0',
      outcome: { result: { unknown: [1] } },
    });
    assert.deepEqual(
      kindOf('{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"m","data":{},"more":1}}'),
      {
        kind: 'response',
        id: 'a',
        idText: '"a"',
        outcome: { error: { code: -1, message: 'm', data: {}, more: 1 } },
      },
    );
  });

  const MALFORMED: readonly [rest: string, problem: RegExp, idText: string | undefined][] = [
    ['"id":1', /response/, '1'],
    ['"id":1,"method":7', /"method"/, '1'],
    ['"id":1,"method":""', /"method"/, '1'],
    ['"id":1,"method":"m","params":[]', /"params"/, '1'],
    ['"id":1,"method":"m","params":null', /"params"/, '1'],
    ['"id":1,"method":"m","result":{}', /neither/, '1'],
    ['"id":null,"method":"m"', /"id"/, undefined],
    ['"id":1.5,"result":{}', /"id"/, undefined],
    ['"id":1,"result":[]', /response/, '1'],
    ['"id":1,"result":{},"error":null', /response/, '1'],
    ['"id":1,"error":{"code":1}', /response/, '1'],
    ['"id":1,"error":{"code":1e2,"message":""}', /response/, '1'],
    ['"result":{}', /needs/, undefined],
  ];
  for (const [rest, problem, idText] of MALFORMED) {
    test(`says what is wrong with ${rest}`, () => {
      const message = kindOf(`{"jsonrpc":"2.0",${rest}}`);
      assert.ok(message.kind === 'malformed');
      assert.match(message.problem, problem);
      assert.equal(message.idText, idText);
    });
  }

  test('takes no other version of JSON-RPC, but reads its id', () => {
    for (const version of ['', '"jsonrpc":"1.0",', '"jsonrpc":2,', '"jsonrpc":2.0,', '"jsonrpc":["2.0"],']) {
      const message = kindOf(`{${version}"id":5,"method":"m"}`);
      assert.ok(message.kind === 'malformed', version);
      assert.equal(message.idText, '5');
    }
  });

  test('takes nothing but objects', () => {
    for (const text of ['[]', 'null', '"m"', '1', '1.0', 'true']) {
      assert.equal(kindOf(text).kind, 'malformed', text);
    }
    assert.equal(readMessage(undefined).kind, 'malformed');
  });
});

describe('F21: readId', () => {
  test('keeps apart what is one number to JavaScript', () => {
    const texts = ['9007199254740992', '9007199254740993', '9007199254740992.0', '9.007199254740992e15'];
    const ids = texts.map((text) => readId(readJson(text)));
    assert.deepEqual(
      ids.map((id) => id?.idText),
      texts,
    );
    assert.equal(new Set(ids.map((id) => id?.id)).size, 1);
  });

  test('keeps a number and its digits as a string apart', () => {
    assert.deepEqual(readId(1), { id: 1, idText: '1' });
    assert.deepEqual(readId('1'), { id: '1', idText: '"1"' });
  });

  test('writes -0 as it was', () => {
    assert.equal(readId(-0)?.idText, '-0');
    assert.equal(readId(readJson('-0'))?.idText, '-0');
  });

  test('takes nothing but strings and integers', () => {
    const others = [
      'null',
      'true',
      '[]',
      '{}',
      '0.5',
      '1e-1',
      '1e400',
      '4503599627370496.5',
      '1.00000000000000000001',
      '1e-400',
    ];
    for (const text of others) assert.equal(readId(readJson(text)), undefined, text);
    for (const value of [undefined, Number.NaN, Number.POSITIVE_INFINITY])
      assert.equal(readId(value), undefined);
  });
});

test('ids of one sender are the same when they are written the same', () => {
  const [big, bigger] = ['9007199254740992', '9007199254740993'].map((text) => readExactId(readJson(text)));
  assert.ok(big !== undefined && bigger !== undefined);
  assert.ok(isSameId(bigger, readExactId(readJson('9007199254740993')) ?? ''));
  assert.equal(isSameId(big, bigger), false, 'a double would take them for one');
  assert.ok(isSameId('a', 'a'));
  assert.equal(isSameId(1, '1'), false);
  assert.equal(writeJson({ id: bigger }), '{"id":9007199254740993}');
});
