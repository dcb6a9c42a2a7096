import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  errorObject,
  FAILURES,
  type FailureCode,
  failureFor,
  GatewayError,
  toGatewayError,
} from '../src/errors.ts';
import * as errorCodes from '../src/protocol/error-codes.ts';

const CODES = Object.keys(FAILURES) as FailureCode[];
const ERAS = ['modern', 'legacy'] as const;

/** The contract: HTTP status and JSON-RPC code, for a modern and a legacy client where they differ. */
const CONTRACT: Readonly<Record<FailureCode, readonly [status: string, rpcCode: string]>> = {
  'not-json': ['400', '-32700'],
  'not-a-message': ['400', '-32600'],
  'meta-missing': ['400', '-32602'],
  'header-mismatch': ['400', '-32020'],
  'version-unsupported': ['400', '-32022'],
  'method-unknown': ['404 / 200', '-32601'],
  'params-invalid': ['200', '-32602'],
  'target-unknown': ['200', '-32602'],
  'resource-unknown': ['200', '-32602 / -32002'],
  'condition-refused': ['200', '4031'],
  'state-invalid': ['200', '-32602'],
  'server-rate-limited': ['200', '4290'],
  'http-method': ['405', '-32600'],
  'capability-missing': ['400', '-32021'],
  'token-missing': ['401', '4010'],
  'token-invalid': ['401', '4010'],
  'scope-insufficient': ['403', '4030'],
  'origin-refused': ['403', '-32600'],
  'host-refused': ['403', '-32600'],
  'session-unknown': ['404', '4040'],
  'session-missing': ['400', '-32600'],
  'resume-unknown': ['400', '-32600'],
  'not-acceptable': ['406', '-32600'],
  'media-type': ['415', '-32600'],
  'body-too-large': ['413', '-32600'],
  'rate-limited': ['429', '4290'],
  'no-capacity': ['503', '5030'],
  draining: ['503', '5030'],
  'server-unavailable': ['200', '5020'],
  'deadline-passed': ['200', '5040'],
  'store-unavailable': ['503', '5031'],
  'issuer-unavailable': ['503', '5032'],
  'audit-unavailable': ['503', '5033'],
  'request-malformed': ['400', '-32600'],
  'request-timeout': ['408', '-32600'],
  'headers-too-large': ['431', '-32600'],
  'view-unknown': ['404', '4041'],
  'path-unknown': ['404', '4041'],
  'credential-refused': ['200', '5021'],
  internal: ['500', '-32603'],
};

/** Failures that are never told with an id: it was not readable, or the failure is the transport's. */
const WITHOUT_ID: readonly FailureCode[] = [
  'not-json',
  'http-method',
  'origin-refused',
  'host-refused',
  'request-malformed',
  'request-timeout',
  'headers-too-large',
  'path-unknown',
];

function perEra(code: FailureCode, what: 'status' | 'rpcCode'): string {
  const [modern, legacy] = ERAS.map((era) => failureFor(code, era)[what]);
  return modern === legacy ? String(modern) : `${modern} / ${legacy}`;
}

describe('the error table', () => {
  for (const code of CODES) {
    test(`${code}: ${CONTRACT[code].join(', ')}`, () => {
      assert.deepEqual([perEra(code, 'status'), perEra(code, 'rpcCode')], CONTRACT[code]);
      for (const era of ERAS) assert.equal(failureFor(code, era).withoutId, WITHOUT_ID.includes(code));
    });
  }

  test('challenges where a token would help, and nowhere else', () => {
    const challenged = CODES.filter((code) => 'challenge' in FAILURES[code]);
    assert.deepEqual(challenged, ['token-missing', 'token-invalid', 'scope-insufficient']);
    const unauthorized = CODES.filter((code) => failureFor(code, 'modern').status === 401);
    assert.deepEqual(unauthorized, ['token-missing', 'token-invalid']);
  });

  test('says each failure in a few public words', () => {
    for (const code of CODES) {
      assert.match(FAILURES[code].text, /^[A-Z][\w\s;,._/-]{5,90}[^.\s]$/, code);
    }
  });
});

describe('the codes', () => {
  const isReserved = (code: number) => code >= -32_768 && code <= -32_000;
  const JSON_RPC = [-32_700, -32_600, -32_601, -32_602, -32_603];
  const OF_MCP: Readonly<Record<number, FailureCode>> = {
    [-32_020]: 'header-mismatch',
    [-32_021]: 'capability-missing',
    [-32_022]: 'version-unsupported',
  };
  const sent = (era: 'modern' | 'legacy') =>
    CODES.map((code) => [code, failureFor(code, era).rpcCode] as const);

  test('of our own are positive, outside what JSON-RPC and MCP reserve', () => {
    for (const era of ERAS) {
      for (const [failure, code] of sent(era))
        assert.ok(Number.isInteger(code) && (code > 0 || isReserved(code)), failure);
    }
  });

  test('of the reserved range are defined ones in their own meaning', () => {
    for (const [failure, code] of [...sent('modern'), ...sent('legacy')]) {
      if (!isReserved(code) || JSON_RPC.includes(code)) continue;
      assert.equal(
        code === errorCodes.LEGACY_RESOURCE_NOT_FOUND ? 'resource-unknown' : OF_MCP[code],
        failure,
      );
    }
  });

  test('of older revisions never reach a modern client', () => {
    const older: number[] = [
      errorCodes.LEGACY_RESOURCE_NOT_FOUND,
      errorCodes.LEGACY_URL_ELICITATION_REQUIRED,
    ];
    assert.deepEqual(
      sent('modern').filter(([, code]) => older.includes(code)),
      [],
    );
    assert.equal(failureFor('resource-unknown', 'legacy').rpcCode, -32_002);
  });

  test('of our own begin with the HTTP status that says the same, where that is the status', () => {
    for (const code of CODES) {
      const { status, rpcCode } = failureFor(code, 'modern');
      if (rpcCode > 0 && status !== 200) assert.equal(Math.floor(rpcCode / 10), status, code);
    }
  });

  test('have one meaning each, and each is in use', () => {
    const values = Object.values(errorCodes);
    assert.equal(new Set(values).size, values.length);
    const used = new Set([...sent('modern'), ...sent('legacy')].map(([, code]) => code));
    assert.deepEqual(
      values.filter((code) => !used.has(code)),
      [errorCodes.LEGACY_URL_ELICITATION_REQUIRED],
    );
  });
});

describe('GatewayError', () => {
  const SECRET = 'http://10.0.0.5/?token=canary';

  test('has the words of its row, or those that it was given', () => {
    assert.equal(new GatewayError('draining').message, FAILURES.draining.text);
    assert.equal(
      new GatewayError('params-invalid', { text: 'level is missing' }).message,
      'level is missing',
    );
  });

  test('keeps its cause, and tells it to nobody', () => {
    const cause = new Error(SECRET);
    const error = new GatewayError('server-unavailable', { cause, reason: 'refused' });
    assert.equal(error.cause, cause);
    assert.equal(error.name, 'GatewayError');
    for (const era of ERAS) {
      assert.deepEqual(errorObject(error, era), { code: 5020, message: 'The server is not available' });
    }
  });

  test('is told in the code of the client that hears it', () => {
    const error = new GatewayError('resource-unknown', { data: { uri: 'a:b' } });
    assert.deepEqual(errorObject(error, 'modern'), {
      code: -32_602,
      message: 'Resource not found',
      data: { uri: 'a:b' },
    });
    assert.equal(errorObject(error, 'legacy').code, -32_002);
  });

  test('tells when to come back', () => {
    const limited = new GatewayError('rate-limited', { retryAfterMs: 1500 });
    assert.deepEqual(errorObject(limited, 'modern').data, { retryAfterMs: 1500 });
    const both = new GatewayError('rate-limited', { retryAfterMs: 0, data: { limit: 'a', retryAfterMs: 5 } });
    assert.deepEqual(errorObject(both, 'modern').data, { limit: 'a', retryAfterMs: 0 });
  });

  test('is what anything thrown becomes, without its words', () => {
    const error = new GatewayError('draining');
    assert.equal(toGatewayError(error), error);
    for (const thrown of [new Error(SECRET), SECRET, undefined, null, { code: 'draining' }]) {
      const wrapped = toGatewayError(thrown);
      assert.equal(wrapped.code, 'internal');
      assert.equal(wrapped.cause, thrown);
      assert.deepEqual(errorObject(wrapped, 'modern'), { code: -32_603, message: 'Internal error' });
    }
  });
});

describe('docs/errors.md', () => {
  const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');

  test('lists every failure as the code has it, in its order, each with a meaning', () => {
    const expected = CODES.map((code) => {
      const status = `${perEra(code, 'status')}${WITHOUT_ID.includes(code) ? ', no id' : ''}`;
      return [`\`${code}\``, status, perEra(code, 'rpcCode'), FAILURES[code].text];
    });
    const rows = rowsUnder('## Failures');
    assert.deepEqual(
      rows.map((row) => row.slice(0, 4)),
      expected,
    );
    for (const [failure, , , , meaning = ''] of rows) assert.match(meaning, /^.{15,}\.$/, failure);
  });

  test('lists every code that a client may be sent, and no other', () => {
    const sent = CODES.flatMap((code) => ERAS.map((era) => failureFor(code, era).rpcCode));
    const rows = rowsUnder('## Codes');
    assert.deepEqual(new Set(rows.map(([code]) => Number(code))), new Set(sent));
    assert.equal(rows.length, new Set(sent).size);
    for (const [code, of] of rows) assert.equal(of === 'Portico', Number(code) > 0, code);
  });

  function rowsUnder(heading: string): string[][] {
    const section = page.split(heading)[1]?.split('\n## ')[0] ?? '';
    const lines = section.split('\n').filter((line) => line.startsWith('| '));
    return lines.slice(2).map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  }
});
