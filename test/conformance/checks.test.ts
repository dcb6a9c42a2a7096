import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Check, lostChecks, type SuiteRun, tally } from './checks.ts';

function run(scenarios: Record<string, [id: string, status: Check['status']][]>): SuiteRun {
  return new Map(
    Object.entries(scenarios).map(([name, checks]) => [name, checks.map(([id, status]) => ({ id, status }))]),
  );
}

test('a check that passes both ways is not lost', () => {
  const both = run({ ping: [['ping', 'SUCCESS']] });
  assert.deepEqual(lostChecks(both, both), []);
});

for (const status of ['FAILURE', 'WARNING', 'SKIPPED', 'INFO'] as const) {
  test(`a check that passes directly and ends as ${status} through Portico is lost`, () => {
    const lost = lostChecks(run({ ping: [['ping', 'SUCCESS']] }), run({ ping: [['ping', status]] }));
    assert.deepEqual(lost, [{ name: 'ping/ping', times: 1, message: status }]);
  });
}

test('a check that was never made is lost, and so is every check of a scenario that was never run', () => {
  const direct = run({
    ping: [
      ['ping', 'SUCCESS'],
      ['wire', 'SUCCESS'],
    ],
    list: [['list', 'SUCCESS']],
  });
  const lost = lostChecks(direct, run({ ping: [['ping', 'SUCCESS']] }));
  assert.deepEqual(
    lost.map(({ name }) => name),
    ['ping/wire', 'list/list'],
  );
});

test('a check made several times is lost as often as it passes less', () => {
  const three: [string, Check['status']][] = [
    ['reject', 'SUCCESS'],
    ['reject', 'SUCCESS'],
    ['reject', 'SUCCESS'],
  ];
  const lost = lostChecks(run({ headers: three }), run({ headers: [['reject', 'SUCCESS']] }));
  assert.deepEqual(lost, [{ name: 'headers/reject', times: 2, message: undefined }]);
});

test('only successes and failures are scored', () => {
  const mixed = run({
    a: [
      ['1', 'SUCCESS'],
      ['2', 'FAILURE'],
      ['3', 'WARNING'],
      ['4', 'INFO'],
      ['5', 'SKIPPED'],
    ],
  });
  assert.deepEqual(tally(mixed), { passed: 1, scored: 2 });
});
