// docs/logs.md names every field of an exchange's line, and none that there is not.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { exchangeLine, logExchange } from '../../src/telemetry/exchange-log.ts';
import { newRecord } from '../../src/telemetry/exchange-record.ts';
import type { Logger } from '../../src/telemetry/logger.ts';

test('docs/logs.md and the line of an exchange have the same fields', async () => {
  let fields: string[] = [];
  const logger = { info: (line: object) => (fields = Object.keys(line)) } as unknown as Logger;
  logExchange(logger, exchangeLine(newRecord('id', 0)));
  const document = await readFile(new URL('../../docs/logs.md', import.meta.url), 'utf8');
  const rows = [...document.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name);
  assert.deepEqual(rows.sort(), fields.sort());
});
