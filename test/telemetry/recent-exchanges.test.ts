import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchangeLine } from '../../src/telemetry/exchange-log.ts';
import { newRecord } from '../../src/telemetry/exchange-record.ts';
import { RecentExchanges } from '../../src/telemetry/recent-exchanges.ts';

function line(id: string, outcome: string) {
  return exchangeLine({ ...newRecord(id, 0), outcome });
}

const ids = (exchanges: readonly { readonly exchange: string }[]) =>
  exchanges.map(({ exchange }) => exchange);

test('the last hundred are kept, the newest first, each with its time', () => {
  let now = 0;
  const recent = new RecentExchanges(() => now);
  assert.deepEqual(recent.read(), { all: [], failures: [] });
  for (const id of ['a', 'b', 'c']) {
    now += 1_000;
    recent.note(line(id, 'ok'));
  }
  assert.deepEqual(ids(recent.read().all), ['c', 'b', 'a']);
  assert.equal(recent.read().all[0]?.at, '1970-01-01T00:00:03.000Z');
  for (let number = 0; number < 250; number += 1) recent.note(line(String(number), 'ok'));
  const { all } = recent.read();
  assert.deepEqual([all.length, all[0]?.exchange, all[99]?.exchange], [100, '249', '150']);
});

test('failures are still there when a hundred calls have gone well since; a caller who left is none', () => {
  const recent = new RecentExchanges();
  for (const [id, outcome] of [
    ['left', 'cancelled'],
    ['answered', 'error'],
    ['refused', 'rate-limited'],
  ] as const) {
    recent.note(line(id, outcome));
  }
  for (let number = 0; number < 100; number += 1) recent.note(line(String(number), 'ok'));
  const { all, failures } = recent.read();
  assert.deepEqual([ids(failures), all.length], [['refused', 'answered'], 100]);
});
