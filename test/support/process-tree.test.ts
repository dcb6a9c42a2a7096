import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { descendantsOf, processesIn, stillAlive } from './process-tree.ts';

/** A shell in a folder of its own with a child that outlives it, in a process group of their own. */
async function family(t: TestContext) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'family-')));
  const shell = spawn('sh', ['-c', 'sleep 60 & echo started; read -r line'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  await once(shell.stdout, 'data');
  const group = shell.pid ?? 0;
  t.after(async () => {
    process.kill(-group, 'SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  return { folder, shell, group };
}

test('finds children and their children, and sees that they outlive their parent', async (t) => {
  const { folder, shell } = await family(t);
  const found = descendantsOf(process.pid);
  const children = found.filter(({ pid }) => processesIn(folder).includes(pid));
  assert.equal(children.length, 2);

  shell.stdin.end();
  await once(shell, 'exit');
  assert.equal(stillAlive(children).length, 1);
  assert.deepEqual(processesIn(folder), stillAlive(children));
  await rm(folder, { recursive: true });
  assert.deepEqual(processesIn(folder), stillAlive(children), 'also when the folder is gone');
});

test('takes a pid that is used again for another process', () => {
  assert.deepEqual(stillAlive([{ pid: process.pid, startedAt: 'another time' }]), []);
});
