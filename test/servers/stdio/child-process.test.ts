// The life of a server's process, from a start that fails to the last member of its group.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../../../src/errors.ts';
import {
  type ChildProcess,
  type StopTimings,
  startChildProcess,
} from '../../../src/servers/stdio/child-process.ts';
import { ProcessGroup } from '../../../src/servers/stdio/process-group.ts';
import { childrenFolder } from '../../support/children-folder.ts';
import { descendantsOf, stillAlive } from '../../support/process-tree.ts';
import { FAULTY_SERVER, QUICK_STOP } from '../../support/stdio-rig.ts';

const NODE = process.execPath;
/** Runs its arguments as a child and stays, as package runners do. */
const WRAPPER = ['-c', '"$0" "$@"; exit $?'];

async function start(
  t: TestContext,
  command: string,
  args: readonly string[],
  timings: Partial<StopTimings> = {},
): Promise<ChildProcess> {
  const folder = childrenFolder();
  const child = await startChildProcess(
    { command, args, env: {}, cwd: folder.path },
    { timings: { ...QUICK_STOP, ...timings } },
  );
  t.after(async () => {
    await child.stop({ atOnce: true });
    await folder.assertDeserted();
  });
  child.stdout.resume();
  return child;
}

/** A faulty server that is up: it has written to stderr. */
async function startFaulty(
  t: TestContext,
  switches: readonly string[],
  timings: Partial<StopTimings> = {},
  [command, ...before]: readonly [string, ...string[]] = [NODE],
): Promise<ChildProcess> {
  const node = command === NODE ? [] : [NODE];
  const args = [...before, ...node, FAULTY_SERVER, ...switches, '--start-delay=20'];
  const child = await start(t, command, args, timings);
  await once(child.stderr, 'data');
  child.stderr.resume();
  return child;
}

function scratchFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-child-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('F08: what cannot be executed fails at once, with the reason for the operator alone', async (t) => {
  const folder = scratchFolder(t);
  const plain = join(folder, 'plain-file');
  const orphan = join(folder, 'script-without-interpreter');
  writeFileSync(plain, 'not a program', { mode: 0o644 });
  writeFileSync(orphan, '#!/nowhere/at-all\n', { mode: 0o755 });
  const cases = [
    { command: 'no-such-command-anywhere', reason: 'command-missing' },
    { command: join(folder, 'missing'), reason: 'command-missing' },
    { command: orphan, reason: 'command-missing' },
    { command: plain, reason: 'command-not-permitted' },
    { command: folder, reason: 'command-not-permitted' },
    { command: NODE, cwd: join(folder, 'missing'), reason: 'cwd-unusable' },
    { command: NODE, cwd: plain, reason: 'cwd-unusable' },
    { command: NODE, args: ['a\0b'], reason: 'spawn-failed' },
  ];
  for (const { command, args = [], cwd = folder, reason } of cases) {
    const started = performance.now();
    await assert.rejects(startChildProcess({ command, args, env: {}, cwd }), (error) => {
      assert.ok(error instanceof GatewayError && error.code === 'server-unavailable', String(error));
      assert.equal(error.details.reason, reason, command);
      assert.equal(error.message, 'The server could not be started');
      assert.ok(error.cause instanceof Error && error.cause.message.includes(command));
      return true;
    });
    assert.ok(performance.now() - started < 5_000);
  }
});

test('arguments are handed over as they are: there is no shell between', async (t) => {
  const args = [
    '-e',
    'console.log(JSON.stringify(process.argv.slice(1)))',
    '--',
    '$HOME',
    '; exit 9',
    '*',
    "'",
  ];
  const child = await start(t, NODE, args);
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  assert.deepEqual(await child.exited, { code: 0, signal: null });
  await child.drained;
  assert.deepEqual(JSON.parse(printed), ['$HOME', '; exit 9', '*', "'"]);
});

test('an aborted start leaves no process', async () => {
  const launch = { command: NODE, args: [FAULTY_SERVER], env: {}, cwd: import.meta.dirname };
  const before = descendantsOf(process.pid).length;
  const reason = new Error('no longer needed');
  await assert.rejects(startChildProcess(launch, { signal: AbortSignal.abort(reason) }), reason);
  const leaving = new AbortController();
  const starting = startChildProcess(launch, { signal: leaving.signal, timings: QUICK_STOP });
  leaving.abort(reason);
  await assert.rejects(starting, reason);
  assert.equal(descendantsOf(process.pid).length, before);
});

test('F07: a server that ends with its input is not signalled', async (t) => {
  const child = await startFaulty(t, [], { inputGraceMs: 10_000 });
  assert.equal(await child.stop(), true);
  assert.deepEqual(await child.exited, { code: 0, signal: null });
});

test('F07: one that ignores the end of its input gets SIGTERM, one that ignores that too SIGKILL', async (t) => {
  for (const [switches, signal] of [
    [['--ignore-eof'], 'SIGTERM'],
    [['--ignore-eof', '--ignore-sigterm'], 'SIGKILL'],
  ] as const) {
    const child = await startFaulty(t, switches);
    const stops = [child.stop(), child.stop()];
    assert.deepEqual(await Promise.all(stops), [true, true]);
    assert.deepEqual(await child.exited, { code: null, signal });
    assert.equal(await child.stop(), true);
  }
});

test('each step waits its full time, unless the process is to end at once', async (t) => {
  const polite = await startFaulty(t, ['--ignore-eof'], { inputGraceMs: 250 });
  const started = performance.now();
  await polite.stop();
  assert.ok(performance.now() - started >= 250);
  const hurried = await startFaulty(t, ['--ignore-eof'], { inputGraceMs: 60_000 });
  const stopping = hurried.stop();
  await hurried.stop({ atOnce: true });
  await stopping;
  assert.equal((await hurried.exited).signal, 'SIGTERM');
});

test('F07: a wrapper and the grandchild that ignores everything are both gone', async (t) => {
  const child = await startFaulty(t, ['--ignore-eof', '--ignore-sigterm'], {}, ['/bin/sh', ...WRAPPER]);
  const family = descendantsOf(child.pid);
  assert.equal(family.length, 1);
  assert.equal(await child.stop(), true);
  assert.deepEqual(stillAlive(family), []);
});

test('F07: the grandchild is gone also when its wrapper died first', async (t) => {
  const child = await startFaulty(t, ['--ignore-eof', '--ignore-sigterm'], {}, ['/bin/sh', ...WRAPPER]);
  const family = descendantsOf(child.pid);
  process.kill(child.pid, 'SIGKILL');
  await child.exited;
  assert.equal(stillAlive(family).length, 1);
  assert.equal(await child.stop(), true);
  assert.deepEqual(stillAlive(family), []);
});

test('F07: a wrapper that exits by itself, leaving its server behind, does not hide it', async (t) => {
  const script = 'exec 3<&0; "$0" "$@" <&3 & echo started >&2; exit 3';
  const child = await start(t, '/bin/sh', [
    '-c',
    script,
    NODE,
    FAULTY_SERVER,
    '--ignore-eof',
    '--start-delay=20',
  ]);
  await once(child.stderr, 'data');
  const family = descendantsOf(child.pid);
  assert.equal((await child.exited).code, 3);
  child.stderr.resume();
  assert.equal(await child.stop(), true);
  assert.deepEqual(stillAlive(family), []);
});

test('a group that was seen empty is never signalled again: its number may belong to a stranger', async (t) => {
  const child = await start(t, NODE, ['-e', '0']);
  await child.exited;
  const group = new ProcessGroup(child.pid);
  assert.equal(await group.goneWithin(5_000), true);
  const kill = t.mock.method(process, 'kill');
  group.signal('SIGKILL');
  assert.equal(await group.isGone(), true);
  assert.equal(kill.mock.callCount(), 0);
});

test('waiting for a group ends when the time is over', async (t) => {
  const child = await startFaulty(t, []);
  const group = new ProcessGroup(child.pid);
  const started = performance.now();
  assert.equal(await group.goneWithin(80), false);
  const waitedMs = performance.now() - started;
  assert.ok(waitedMs >= 80 && waitedMs < 2_000, `${waitedMs} ms`);
});

test('F44: a child that withstands everything does not hold up an end that hurries, at whichever step', async () => {
  const folder = childrenFolder();
  for (const inputGraceMs of [60_000, 1]) {
    const hurry = new AbortController();
    const args = [FAULTY_SERVER, '--ignore-sigterm', '--ignore-eof', '--start-delay=20'];
    const launch = { command: NODE, args, env: {}, cwd: folder.path };
    const timings = { ...QUICK_STOP, inputGraceMs, sigtermGraceMs: 60_000 };
    const child = await startChildProcess(launch, { timings, hurry: hurry.signal });
    await once(child.stderr, 'data');
    for (const output of [child.stdout, child.stderr]) output.resume();
    const stopped = child.stop();
    setTimeout(() => hurry.abort(), 50);
    assert.equal(await stopped, true);
    assert.equal((await child.exited).signal, 'SIGKILL');
  }
  await folder.assertDeserted();
});

test('F06: a hundred starts and stops leave no process and no open handle', async () => {
  const launch = { command: '/bin/cat', args: [], env: {}, cwd: import.meta.dirname };
  const handles = () =>
    process
      .getActiveResourcesInfo()
      .filter((kind) => kind !== 'Immediate')
      .sort();
  await delay(0);
  const before = { children: descendantsOf(process.pid).length, handles: handles() };
  for (let i = 0; i < 100; i += 1) {
    const child = await startChildProcess(launch, { timings: QUICK_STOP });
    assert.equal(await child.stop(), true);
    await child.drained;
  }
  await delay(0);
  assert.equal(descendantsOf(process.pid).length, before.children);
  assert.deepEqual(handles(), before.handles);
});
