import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../src/node-version.mjs', import.meta.url));

/** Runs the check in a process that believes to be another Node. */
async function checkUnder(version: string, typescript: unknown): Promise<{ code: unknown; stderr: string }> {
  const disguise = `
    Object.defineProperty(process.versions, 'node', { value: ${JSON.stringify(version)} });
    Object.defineProperty(process.features, 'typescript', { value: ${JSON.stringify(typescript)} });`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(disguise)}`, SCRIPT];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, _stdout, stderr) => resolve({ code: error?.code ?? 0, stderr }));
  });
}

for (const version of ['20.19.0', '22.18.0', '18.0.0']) {
  test(`Node ${version} is told to be too old`, async () => {
    const { code, stderr } = await checkUnder(version, false);
    assert.equal(code, 1);
    assert.match(stderr, /needs Node\.js 22\.19 or newer/);
    assert.ok(stderr.includes(`this is ${version}`));
  });
}

test('a Node 23 without type stripping is told so', async () => {
  const { code, stderr } = await checkUnder('23.1.0', false);
  assert.equal(code, 1);
  assert.match(stderr, /23\.6/);
});

for (const version of ['22.19.0', '24.0.0', '26.1.0']) {
  test(`Node ${version} passes without a word`, async () => {
    assert.deepEqual(await checkUnder(version, 'strip'), { code: 0, stderr: '' });
  });
}
