// `portico audit verify`: what it says, and with which exit code.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { auditVerify } from '../../src/cli/audit-verify.ts';
import { addToChain, CHAIN_START } from '../../src/telemetry/audit/audit-chain.ts';
import { createTextDigest } from '../../src/telemetry/audit/text-digest.ts';

const KEY = 'a key that only the operator has';

async function verified(t: TestContext, spoil: (lines: string[]) => string[], head?: 'last' | string) {
  const folder = await mkdtemp(join(tmpdir(), 'portico-verify-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [file, keyFile] = [join(folder, 'audit.jsonl'), join(folder, 'key')];
  let at = { seq: 0, hash: CHAIN_START };
  const lines = Array.from({ length: 5 }, (_, n) => {
    // What others take for the end of a line is none here.
    const link = addToChain(
      at,
      JSON.stringify({ n, target: 'a\u2028b\u2029c\u0085d' }),
      createTextDigest(KEY),
    );
    at = link.head as typeof at;
    return link.line;
  });
  await writeFile(file, `${spoil(lines).join('\n')}\n`);
  await writeFile(keyFile, `${KEY}\n`);
  let [stdout, stderr] = ['', ''];
  const exitCode = await auditVerify({
    files: [file],
    keyFile,
    head: head === 'last' ? at.hash : head,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  });
  return { exitCode, stdout: stdout.replaceAll(folder, '.'), stderr, text: await readFile(file, 'utf8') };
}

test('files in order are said to be, with the head that they end at', async (t) => {
  const { exitCode, stdout } = await verified(t, (lines) => lines, 'last');
  assert.match(stdout, /^5 records in order, 1 to 5, up to [\w-]{43}\n$/);
  assert.equal(exitCode, 0);
});

const SPOILT: readonly (readonly [string, (lines: string[]) => string[], RegExp])[] = [
  [
    'a flipped byte',
    (lines) => lines.with(2, String(lines[2]).replace('"n":2', '"n":3')),
    /audit\.jsonl:3: .*changed/,
  ],
  ['a removed record', (lines) => lines.toSpliced(1, 1), /audit\.jsonl:2: record 2 is missing/],
  ['a cut tail', (lines) => lines.slice(0, -2), /audit\.jsonl: no record has the hash .*cut off/],
];

for (const [name, spoil, says] of SPOILT) {
  test(`${name} is named with its place`, async (t) => {
    const { exitCode, stdout } = await verified(t, spoil, 'last');
    assert.match(stdout, says);
    assert.equal(exitCode, 1);
  });
}

test('a beginning that is missing is told: old files may have been deleted, or somebody took it', async (t) => {
  const { exitCode, stdout, stderr } = await verified(t, (lines) => lines.slice(2), 'last');
  assert.match(stdout, /^3 records in order, 3 to 5, /);
  assert.match(stderr, /what came before record 3 is not among these files/);
  assert.equal(exitCode, 0);
});

test('a file that is not there is one line, not a stack', async () => {
  let stderr = '';
  const silent = { write: () => {} };
  const said = { write: (text: string) => (stderr += text) };
  const options = { files: ['/no/such/audit.jsonl'], head: undefined, keyFile: undefined };
  assert.equal(await auditVerify({ ...options, stdout: silent, stderr: said }), 1);
  assert.match(stderr, /^portico: there is no file \/no\/such\/audit\.jsonl\n$/);
});
