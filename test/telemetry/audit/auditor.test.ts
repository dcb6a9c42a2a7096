// What a record says of a call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashed } from '../../../src/state/session-id.ts';
import { Auditor } from '../../../src/telemetry/audit/auditor.ts';
import { type ExchangeRecord, newRecord } from '../../../src/telemetry/exchange-record.ts';

function recordOf(noted: Partial<ExchangeRecord>, sessionId?: string): Record<string, unknown> {
  const written: Record<string, unknown>[] = [];
  const log = {
    ...{ queued: 0, healthy: true, requireWritable() {} },
    async open() {},
    async close() {},
    write: (record: object) => void written.push(record as Record<string, unknown>),
    writeLater: (make: () => object) => void written.push(make() as Record<string, unknown>),
  };
  const config = {
    path: '',
    key: undefined,
    arguments: 'none' as const,
    onFailure: 'refuse' as const,
    maxBytes: 0,
  };
  const caller = { issuer: 'i', subject: 's', clientId: 'c', tokenId: undefined, claims: {} };
  new Auditor(log, config).noteCall(
    { ...newRecord('id', 0), ...noted },
    {
      ...{ caller, address: '::1', sessionId, traceId: undefined, arguments: undefined },
      ...{ outcome: 'ok', reason: undefined, totalMs: 1 },
    },
  );
  return written[0] ?? {};
}

test('a target that is too long for its record is told from another one that begins alike', () => {
  const [one, other] = ['a', 'b'].map((end) =>
    String(recordOf({ target: `file:///${'x'.repeat(1_000_000)}${end}` }).target),
  );
  assert.match(String(one), /^file:\/\/\/x{248}\.\.\. sha256:[0-9a-f]{64}$/);
  assert.notEqual(one, other);
  assert.equal(recordOf({ target: 'file:///a' }).target, 'file:///a');
});

test('the session of a call is told by the beginning of a hash, whether or not the session was met', () => {
  const id = 'an-id-that-only-its-client-has';
  const session = hashed(id).slice(0, 22);
  assert.equal(recordOf({}, id).session, session);
  assert.equal(recordOf({ sessionKey: hashed(id) }, id).session, session);
  assert.equal(recordOf({}).session, undefined);
});
