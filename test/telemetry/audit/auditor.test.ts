// What a record says of a call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Auditor } from '../../../src/telemetry/audit/auditor.ts';
import { newRecord } from '../../../src/telemetry/exchange-record.ts';

function recordOf(target: string): Record<string, unknown> {
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
    { ...newRecord('id', 0), target },
    {
      ...{ caller, address: '::1', sessionId: undefined, traceId: undefined, arguments: undefined },
      ...{ outcome: 'ok', reason: undefined, totalMs: 1 },
    },
  );
  return written[0] ?? {};
}

test('a target that is too long for its record is told from another one that begins alike', () => {
  const [one, other] = ['a', 'b'].map((end) =>
    String(recordOf(`file:///${'x'.repeat(1_000_000)}${end}`).target),
  );
  assert.match(String(one), /^file:\/\/\/x{248}\.\.\. sha256:[0-9a-f]{64}$/);
  assert.notEqual(one, other);
  assert.equal(recordOf('file:///a').target, 'file:///a');
});
