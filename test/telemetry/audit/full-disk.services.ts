// A disk that is full: calls are refused while nothing can be written, nothing is lost, and it recovers by itself.
// Needs the right to mount.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createAuditLog } from '../../../src/telemetry/audit/audit-log.ts';
import { verifyAudit } from '../../../src/telemetry/audit/verify-audit.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';

const run = promisify(execFile);

test('a full disk refuses calls and recovers, with the chain whole', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
  t.after(async () => {
    await run('umount', [folder]);
    await rm(folder, { recursive: true });
  });
  const path = join(folder, 'audit.jsonl');
  const filler = join(folder, 'filler');
  const log = createAuditLog({
    config: { path, key: undefined, arguments: 'digest', onFailure: 'refuse', maxBytes: 0 },
    version: '0',
    logger: createLogger({ level: 'silent', secrets: [] }),
    redact: (text) => text,
    onDropped: () => {},
  });
  await log.open();
  await eventually('the start is written', () => log.queued === 0);
  log.requireWritable();

  await writeFile(filler, Buffer.alloc(256 * 1024)).catch(() => undefined);
  for (let n = 0; n < 100; n += 1) log.write({ n, text: 'x'.repeat(200) });
  await eventually('writing has failed', () => !log.healthy);
  assert.throws(() => log.requireWritable(), { code: 'audit-unavailable' });
  for (let n = 100; n < 200; n += 1) log.write({ n });

  await rm(filler);
  await eventually('all is written', () => log.queued === 0);
  log.requireWritable();
  await log.close();
  const { records, fault } = await verifyAudit({ files: [path], key: undefined, expectedHead: undefined });
  assert.deepEqual([records, fault], [202, undefined]);
});
