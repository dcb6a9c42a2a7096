// What is left when Portico is gone without a word.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Guardian, type GuardianTimings } from '../../../src/servers/stdio/guardian.ts';
import { createPrivateHome } from '../../../src/servers/stdio/private-home.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway-process.ts';
import { descendantsOf, type ProcessId, stillAlive } from '../../support/process-tree.ts';
import { openSession } from '../../support/raw-session.ts';
import { FAULTY_SERVER } from '../../support/stdio-rig.ts';

function newGuardian(t: TestContext, timings?: GuardianTimings): { guardian: Guardian; warnings: string[] } {
  const warnings: string[] = [];
  const destination = { write: (line: string) => void warnings.push(line) };
  const guardian = new Guardian(createLogger({ level: 'warn', secrets: [], destination }), timings);
  t.after(() => guardian.close());
  return { guardian, warnings };
}

/** A group of a shell and its child, both deaf to SIGTERM. */
function newGroup(t: TestContext): { id: number; isAlive(): boolean } {
  const script = "trap '' TERM HUP; sleep 600 & wait; sleep 600";
  const shell = spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' });
  const id = shell.pid ?? 0;
  let exited = false;
  shell.once('exit', () => {
    exited = true;
  });
  t.after(() => {
    if (!exited) process.kill(-id, 'SIGKILL');
  });
  return { id, isAlive: () => !exited };
}

test('what is watched ends with the pipe, what is over does not', async (t) => {
  const { guardian } = newGuardian(t);
  const [kept, over, other] = [newGroup(t), newGroup(t), newGroup(t)];
  const home = await createPrivateHome();
  guardian.watch({ kind: 'group', id: kept.id });
  const forget = guardian.watch({ kind: 'group', id: over.id });
  guardian.watch({ kind: 'group', id: other.id });
  guardian.watch({ kind: 'folder', path: home.folder });
  forget();
  forget();
  await guardian.close();
  await eventually('the groups are gone', () => !kept.isAlive() && !other.isAlive());
  assert.equal(over.isAlive(), true);
  assert.equal(existsSync(dirname(home.folder)), false, 'with the folder that held it');
  await home.remove();
});

test('a guardian that is killed is started again, and told of all there is', async (t) => {
  const { guardian, warnings } = newGuardian(t);
  const group = newGroup(t);
  guardian.watch({ kind: 'group', id: group.id });
  const first = guardian.pid ?? 0;
  process.kill(first, 'SIGKILL');
  await eventually('it is gone', () => guardian.pid === undefined);
  const other = newGroup(t);
  guardian.watch({ kind: 'group', id: other.id });
  const second = guardian.pid;
  assert.ok(second !== undefined && second !== first);
  // Longer than it would have been waited before another was started.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  assert.equal(guardian.pid, second, 'there is one, not two');
  assert.match(warnings.join(), /servers might live on/);
  await guardian.close();
  await eventually('the groups are gone', () => !group.isAlive() && !other.isAlive());
});

test('F44: a guardian that was stopped holds up no end, whether or not something is left to be ended', async (t) => {
  for (const left of [false, true]) {
    const { guardian, warnings } = newGuardian(t, { lastDutyMs: 200, exitMs: 100 });
    const forget = guardian.watch({ kind: 'group', id: newGroup(t).id });
    if (!left) forget();
    const pid = guardian.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    await Promise.all([guardian.close(), guardian.close()]);
    assert.deepEqual(
      descendantsOf(process.pid).filter((one) => one.pid === pid),
      [],
    );
    assert.equal(/did not end what was left/.test(warnings.join()), left);
  }
});

test('it takes no notice of the signals that end a whole terminal', async (t) => {
  const { guardian } = newGuardian(t);
  const group = newGroup(t);
  guardian.watch({ kind: 'group', id: group.id });
  const pid = guardian.pid ?? 0;
  await eventually('its shell listens', () => descendantsOf(process.pid).some((one) => one.pid === pid));
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
  await guardian.close();
  await eventually('the group is gone', () => !group.isAlive());
});

test('F07: Portico killed with SIGKILL while twenty wrapped children run: none is alive 5 s later', async (t) => {
  const script = '"$0" "$@"; exit $?';
  const args = [
    '-c',
    script,
    process.execPath,
    FAULTY_SERVER,
    '--era=legacy',
    '--ignore-eof',
    '--ignore-sigterm',
  ];
  const server = { command: '/bin/sh', args, maxLinks: 21 };
  const gateway = await startGateway({ config: { mcpServers: { faulty: server } } });
  let family: ProcessId[] = [];
  t.after(() => {
    for (const pid of stillAlive(family)) process.kill(pid, 'SIGKILL');
  });
  const sessions = await Promise.all(Array.from({ length: 20 }, () => openSession(gateway.url)));
  const homes = await Promise.all(
    sessions.map(async (session) => JSON.parse(await session.tool('environment')).env.HOME as string),
  );
  family = descendantsOf(gateway.pid);
  assert.ok(family.length >= 2 * 21 + 1, `${family.length} descendants`);
  process.kill(gateway.pid, 'SIGKILL');
  const until = performance.now() + 5_000;
  await eventually('all are gone', () => stillAlive(family).length === 0);
  assert.ok(performance.now() < until);
  await eventually('so are their homes', () => homes.every((home) => !existsSync(home)));
  await assert.rejects(gateway.stop(), /SIGKILL/);
});
