// The audit log on a real disk: one writer, one chain, through restarts, kills and rotation.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type { AuditConfig } from '../../../src/config/audit-config.ts';
import { type AuditLog, createAuditLog, timeText } from '../../../src/telemetry/audit/audit-log.ts';
import { verifyAudit } from '../../../src/telemetry/audit/verify-audit.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';

const KEY = 'a key that only the operator has';
const WRITER = fileURLToPath(new URL('audit-writer.ts', import.meta.url));

async function auditFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-audit-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface Heads {
  readonly lines: { readonly auditHead?: string; readonly msg: string }[];
}

async function open(path: string, heads: Heads, changes: Partial<AuditConfig> = {}): Promise<AuditLog> {
  const destination = { write: (line: string) => void heads.lines.push(JSON.parse(line)) };
  const log = createAuditLog({
    config: { path, key: KEY, arguments: 'digest', onFailure: 'refuse', maxBytes: 0, ...changes },
    version: '1.2.3',
    logger: createLogger({ level: 'debug', secrets: [], destination }),
    redact: (text) => text,
    onDropped: () => {},
  });
  await log.open();
  return log;
}

const verdictOf = (files: readonly string[], expectedHead?: string) =>
  verifyAudit({ files, key: KEY, expectedHead });

test('records stand in the file in the order in which they came, and the chain outlives the process', async (t) => {
  const path = join(await auditFolder(t), 'audit.jsonl');
  const heads: Heads = { lines: [] };
  for (const run of [1, 2]) {
    const log = await open(path, heads);
    for (let n = 0; n < 100; n += 1) log.write({ run, n });
    await log.close();
  }
  const { records, fault, head } = await verdictOf([path]);
  assert.deepEqual([records, fault], [204, undefined]);
  const written = (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(written.map(({ kind }) => kind).filter(Boolean), ['start', 'stop', 'start', 'stop']);
  assert.deepEqual(
    written.flatMap(({ n }) => n ?? []),
    [...Array(100).keys(), ...Array(100).keys()],
  );
  assert.equal(heads.lines.findLast(({ auditHead }) => auditHead)?.auditHead, head?.hash);
});

test('what is made at the end of a turn is there before the log ends, though that comes first', async (t) => {
  const path = join(await auditFolder(t), 'audit.jsonl');
  const log = await open(path, { lines: [] });
  log.write({ n: 1 });
  log.writeLater(() => ({ n: 2 }));
  await log.close();
  const written = (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    written.map(({ kind, n }) => kind ?? n),
    ['start', 1, 2, 'stop'],
  );
});

test('times of records are those of Date, in whatever order they come', () => {
  const near = fc.integer({ min: 0, max: 3_000 }).map((ms) => Date.UTC(2026, 11, 31, 23, 59, 58) + ms);
  fc.assert(
    fc.property(fc.array(near), (times) => {
      assert.deepEqual(
        times.map(timeText),
        times.map((ms) => new Date(ms).toISOString()),
      );
    }),
  );
});

test('a cut tail is found by the head that the log told', async (t) => {
  const path = join(await auditFolder(t), 'audit.jsonl');
  const heads: Heads = { lines: [] };
  const log = await open(path, heads);
  for (let n = 0; n < 10; n += 1) log.write({ n });
  await log.close();
  const told = heads.lines.findLast(({ auditHead }) => auditHead)?.auditHead ?? '';
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  await writeFile(path, `${lines.slice(0, -3).join('\n')}\n`);
  assert.equal((await verdictOf([path])).fault, undefined);
  assert.match((await verdictOf([path], told)).fault?.problem ?? '', /cut off/);
});

test('a second process does not get the file, and a lock of one that is gone holds nobody up', async (t) => {
  const path = join(await auditFolder(t), 'audit.jsonl');
  const heads: Heads = { lines: [] };
  const log = await open(path, heads);
  await assert.rejects(open(path, heads), new RegExp(`process ${process.pid} .* writes this audit log`));
  await log.close();
  await writeFile(`${path}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), startedAt: '1' }));
  await (await open(path, heads)).close();
});

test('a file of somebody else is left alone', async (t) => {
  const folder = await auditFolder(t);
  for (const [name, text] of [
    ['lines', 'one\ntwo\n'],
    ['text', 'no line feed at all'],
  ] as const) {
    const path = join(folder, name);
    await writeFile(path, text);
    await assert.rejects(open(path, { lines: [] }), /is no audit log/);
    assert.equal(await readFile(path, 'utf8'), text);
  }
});

test('a line that was never finished is gone after a restart, and the chain says so', async (t) => {
  const path = join(await auditFolder(t), 'audit.jsonl');
  const log = await open(path, { lines: [] });
  log.write({ n: 1 });
  await log.close();
  await appendFile(path, '{"seq":4,"prev":"half a li');
  await (await open(path, { lines: [] })).close();
  const { records, fault } = await verdictOf([path]);
  assert.deepEqual([records, fault], [6, undefined]);
  assert.match(await readFile(path, 'utf8'), /"kind":"torn","bytes":26/);
});

test('a process killed while it writes loses at most its last batch, and the chain goes on', async (t) => {
  const path = join(await auditFolder(t), 'audit.jsonl');
  for (let round = 0; round < 2; round += 1) {
    const writer = spawn(process.execPath, [WRITER, path, KEY], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => writer.kill('SIGKILL'));
    await once(writer.stdout, 'data');
    const wanted = 100_000 * (round + 1);
    await eventually('it has written', async () => (await stat(path)).size > wanted);
    writer.kill('SIGKILL');
    await once(writer, 'exit');
  }
  await (await open(path, { lines: [] })).close();
  const { records, fault } = await verdictOf([path]);
  assert.equal(fault, undefined);
  assert.ok(records > 1_000);
});

test('a full file is set aside, and the chain runs through all of them', async (t) => {
  const folder = await auditFolder(t);
  const path = join(folder, 'audit.jsonl');
  const log = await open(path, { lines: [] }, { maxBytes: 4_096 });
  for (let round = 0; round < 3; round += 1) {
    for (let n = 0; n < 40; n += 1) log.write({ round, n, text: 'x'.repeat(50) });
    await eventually('all is written', () => log.queued === 0);
  }
  await log.close();
  const older = (await readdir(folder)).filter((name) => name !== 'audit.jsonl').sort();
  assert.equal(older.length, 3);
  const files = [...older.map((name) => join(folder, name)), path];
  const { records, fault } = await verdictOf(files);
  assert.deepEqual([records, fault], [122, undefined]);
  assert.match((await verdictOf(files.toSpliced(1, 1))).fault?.problem ?? '', /is missing/);
});
