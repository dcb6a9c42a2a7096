import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exchangeLine, logExchange } from '../../src/telemetry/exchange-log.ts';
import { type ExchangeRecord, newRecord } from '../../src/telemetry/exchange-record.ts';
import { adjustLogger, createLogger } from '../../src/telemetry/logger.ts';

function lineOf(fields: Partial<ExchangeRecord>): Record<string, unknown> {
  const written: string[] = [];
  const destination = { write: (line: string) => written.push(line) };
  const logger = createLogger({ level: 'info', secrets: [], destination });
  logExchange(logger, exchangeLine({ ...newRecord('the-id', 0), ...fields }));
  assert.equal(written.length, 1);
  const { time, ...line } = JSON.parse(written[0] ?? '');
  assert.ok(Math.abs(time - Date.now()) < 10_000);
  return line;
}

test('an exchange is one line that says who was asked what, and how it went', () => {
  const line = lineOf({
    era: 'modern',
    method: 'tools/call',
    view: 'docs',
    server: 'docs',
    target: 'search',
    protocolVersion: '2026-07-28',
    httpStatus: 200,
    outcome: 'ok',
    upstreamMs: 1.23456,
    durationMs: 2.005,
  });
  assert.deepEqual(line, {
    level: 30,
    exchange: 'the-id',
    era: 'modern',
    method: 'tools/call',
    view: 'docs',
    server: 'docs',
    target: 'search',
    version: '2026-07-28',
    status: 200,
    outcome: 'ok',
    ms: 2.01,
    upstreamMs: 1.23,
    msg: 'exchange',
  });
});

test('what is not known is not in the line', () => {
  assert.deepEqual(lineOf({ outcome: 'cancelled', reason: 'client_left' }), {
    level: 30,
    exchange: 'the-id',
    outcome: 'cancelled',
    reason: 'client_left',
    msg: 'exchange',
  });
});

test('failures of ours are warnings', () => {
  assert.equal(lineOf({ httpStatus: 503, outcome: 'no-capacity' }).level, 40);
  assert.equal(lineOf({ httpStatus: 404, outcome: 'session-unknown' }).level, 30);
});

test('the line is what pino makes of the same members, redacted as all others', () => {
  const written: string[] = [];
  const destination = { write: (line: string) => written.push(line) };
  const logger = createLogger({ level: 'info', secrets: ['canary'], destination });
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"canary"', '\\', '\n', '\u2028'));
  fc.assert(
    fc.property(text, text, fc.double({ min: 0, noNaN: true }), (target, reason, ms) => {
      const record = { ...newRecord('id', 0), target, reason, durationMs: ms, httpStatus: 500 };
      const line = exchangeLine(record);
      written.length = 0;
      logExchange(logger, line);
      logger.warn(line, 'exchange');
      const [ours, pinos] = written.map((json) => json.replace(/"time":\d+/, '"time":0'));
      assert.equal(ours, pinos);
      assert.doesNotMatch(String(ours), /canary/);
    }),
  );
});

test('a line below the level is not written', () => {
  const written: string[] = [];
  const destination = { write: (line: string) => written.push(line) };
  const logger = createLogger({ level: 'warn', secrets: [], destination });
  const line = exchangeLine({ ...newRecord('id', 0), httpStatus: 200 });
  logExchange(logger, line);
  assert.equal(written.length, 0);
  adjustLogger(logger, { level: 'info', secrets: [] });
  logExchange(logger, line);
  assert.equal(written.length, 1);
});

test('F58: a URI is logged without its query, its fragment and its userinfo, and cut where it is endless', () => {
  for (const [target, logged] of [
    ['https://host/path?access_token=x', 'https://host/path'],
    ['file:///a#b', 'file:///a'],
    ['https://user:pass@host/a', 'https://[redacted]@host/a'],
    ['x'.repeat(500), `${'x'.repeat(200)}...`],
  ] as const) {
    assert.equal(lineOf({ target }).target, logged);
  }
});
