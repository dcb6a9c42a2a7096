// How a wire to a child begins and ends, and what its calls learn of it.
import assert from 'node:assert/strict';
import { realpath } from 'node:fs/promises';
import { test } from 'node:test';
import { GatewayError } from '../../../src/errors.ts';
import { descendantsOf, stillAlive } from '../../support/process-tree.ts';
import { temporaryFolder } from '../../support/server-rig.ts';
import { FAULTY_SERVER, type StdioRig, startRig } from '../../support/stdio-rig.ts';

const MIB = 1024 * 1024;

/** For `assert.rejects`: the failure of a wire, in words that tell a client nothing of the process. */
function wireFailure(reason: string) {
  return (error: unknown) => {
    assert.ok(error instanceof GatewayError && error.code === 'server-unavailable', String(error));
    assert.equal(error.details.reason, reason);
    assert.doesNotMatch(error.message, /\d|SIG|hunter2|\//);
    return true;
  };
}

function endLine(rig: StdioRig): { reason: string; what: string; stderr: string } {
  const line = rig.logs.find((text) => text.includes('ended by itself'));
  assert.ok(line, 'the end is logged');
  return JSON.parse(line) as ReturnType<typeof endLine>;
}

test('F08: a child that dies before it answers fails its call at once; its last words go to the log only', async (t) => {
  const rig = await startRig(t, ['--exit-at-start=7']);
  const started = performance.now();
  await assert.rejects(rig.tool('echo'), wireFailure('process-ended'));
  assert.ok(performance.now() - started < 5_000);
  assert.deepEqual(await rig.transport.exited, { code: 7, signal: null });
  assert.deepEqual(rig.closed, ['it exited with code 7']);
  const { reason, what, stderr } = endLine(rig);
  assert.deepEqual([reason, what], ['process-ended', 'it exited with code 7']);
  assert.match(stderr, /cannot read my settings/);
  assert.doesNotMatch(stderr, /hunter2/);
});

test('F09: a child that leaves after an answer fails the next call, and says so once', async (t) => {
  const rig = await startRig(t, ['--exit-after=1']);
  assert.equal(await rig.text('echo', { text: 'only one' }), 'only one');
  assert.equal(await rig.gone, 'it exited with code 0');
  assert.equal(rig.transport.open, false);
  await assert.rejects(rig.tool('echo'), wireFailure('process-ended'));
  await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await rig.transport.respond(1, { result: {} });
  assert.equal(rig.closed.length, 1);
});

test('F09: a child killed with calls in flight fails each of them once, those that wait for a slot too', async (t) => {
  const rig = await startRig(t, [], { config: { maxInFlight: 3 } });
  let settled = 0;
  const calls = [1, 2, 3, 4, 5].map(() =>
    rig.tool('never').finally(() => {
      settled += 1;
    }),
  );
  const outcomes = Promise.allSettled(calls);
  await new Promise((resolve) => setImmediate(resolve));
  process.kill(rig.transport.pid, 'SIGKILL');
  for (const outcome of await outcomes) {
    assert.ok(outcome.status === 'rejected');
    wireFailure('process-ended')(outcome.reason);
  }
  assert.equal(settled, 5);
  assert.deepEqual(rig.closed, ['it was killed by SIGKILL']);
});

test('F09: a child that crashes within a call, or exits without an answer, fails that call', async (t) => {
  for (const [tool, args, end] of [
    ['crash', {}, 'it was killed by SIGKILL'],
    ['exit', { code: 0 }, 'it exited with code 0'],
  ] as const) {
    const rig = await startRig(t);
    await assert.rejects(rig.tool(tool, args), wireFailure('process-ended'));
    assert.deepEqual(rig.closed, [end]);
  }
});

test('F10: a child that is gone between the check and the write fails the call, and nothing else', async (t) => {
  const rig = await startRig(t);
  await rig.text('echo');
  process.kill(rig.transport.pid, 'SIGKILL');
  // We do not know yet that it is gone.
  assert.equal(rig.transport.open, true);
  const filler = 'x'.repeat(MIB);
  const calls = [rig.tool('echo', { filler }), rig.tool('echo', { filler })];
  const notified = rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (const call of calls) await assert.rejects(call, wireFailure('process-ended'));
  await notified;
});

test('F10: a child that closes its input under a pending write of megabytes', async (t) => {
  const rig = await startRig(t, ['--ignore-eof']);
  const closing = rig.tool('close-input', { ms: 60_000 });
  const writing = rig.tool('echo', { filler: 'x'.repeat(4 * MIB) });
  const failures = [closing, writing].map((call) => assert.rejects(call, wireFailure('process-ended')));
  await Promise.all(failures);
  assert.equal(await rig.gone, 'it closed its input');
  await rig.transport.close();
  assert.equal((await rig.transport.exited).signal, 'SIGTERM');
});

test('F10: a call aborted right after it was sent, and a child that dies of it', async (t) => {
  const rig = await startRig(t);
  const leaving = new AbortController();
  const reason = new Error('left');
  const calls = [
    rig.request('initialize', {}, { signal: leaving.signal }),
    rig.tool('crash', {}, { signal: leaving.signal }),
  ];
  await new Promise((resolve) => setImmediate(resolve));
  leaving.abort(reason);
  for (const call of calls) await assert.rejects(call, reason);
  assert.equal(await rig.gone, 'it was killed by SIGKILL');
});

test('F10: closing again, at the same time or from within the end of the wire, is harmless', async (t) => {
  let closing: Promise<void> | undefined;
  const rig: StdioRig = await startRig(t);
  await rig.text('echo');
  void rig.gone.then(() => {
    closing = rig.transport.close();
  });
  const inFlight = assert.rejects(rig.tool('never'), wireFailure('closed'));
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([rig.transport.close(), rig.transport.close(), inFlight]);
  await closing;
  await rig.transport.close();
  assert.deepEqual(rig.closed, ['it was closed']);
  assert.equal(rig.transport.open, false);
  await assert.rejects(rig.tool('echo'), wireFailure('closed'));
});

test('what was answered before the end is delivered, also to a reader that had paused', async (t) => {
  const rig = await startRig(t);
  await rig.text('echo');
  rig.transport.pauseReading();
  assert.ok('result' in (await rig.tool('answer-and-exit')));
  assert.equal(await rig.gone, 'it exited with code 0');
});

test('nothing is delivered any more once the wire is closed, not even of what was read already', async (t) => {
  const rig: StdioRig = await startRig(t, [], {
    onUnsolicited() {
      if (rig.unsolicited.length === 10) void rig.transport.close();
    },
  });
  await assert.rejects(rig.tool('flood', { count: 1_000 }), wireFailure('closed'));
  await rig.transport.close();
  assert.equal(rig.unsolicited.length, 10);
});

test('a child that closes its output, and lives on, is of no use: its calls fail and it is stopped', async (t) => {
  const rig = await startRig(t, ['--ignore-eof']);
  await assert.rejects(rig.tool('close-output'), wireFailure('process-ended'));
  assert.deepEqual(rig.closed, ['it closed its output']);
  assert.equal((await rig.transport.exited).signal, 'SIGTERM');
});

test('F07: when a wrapper dies and its server holds the pipe open, calls fail soon and the server is stopped', async (t) => {
  const rig = await startRig(t, [], {
    timings: { outputDrainMs: 1_000 },
    config: {
      command: '/bin/sh',
      args: ['-c', '"$0" "$@"; exit $?', process.execPath, FAULTY_SERVER, '--ignore-eof', '--ignore-sigterm'],
    },
  });
  assert.equal(await rig.text('echo', { text: 'through a wrapper' }), 'through a wrapper');
  const family = descendantsOf(rig.transport.pid);
  assert.equal(stillAlive(family).length, 1);
  const answered = rig.text('wait', { ms: 20 });
  const call = assert.rejects(rig.tool('never'), wireFailure('process-ended'));
  process.kill(rig.transport.pid, 'SIGKILL');
  assert.equal(await answered, 'waited', 'what comes in time still counts');
  await call;
  assert.deepEqual(rig.closed, ['it was killed by SIGKILL']);
  await rig.transport.close();
  assert.deepEqual(stillAlive(family), []);
});

test('F07: the group is stopped when the wire ends by itself, though nobody calls close', async (t) => {
  const rig = await startRig(t, [], {
    config: {
      command: '/bin/sh',
      args: ['-c', 'exec 3<&0; "$0" "$@" <&3 & wait', process.execPath, FAULTY_SERVER, '--ignore-eof'],
    },
  });
  await rig.text('echo');
  const family = descendantsOf(rig.transport.pid);
  process.kill(rig.transport.pid, 'SIGKILL');
  await rig.gone;
  const deadline = performance.now() + 5_000;
  while (stillAlive(family).length > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(stillAlive(family), []);
});

test('F13: a child may fill stderr before it answers, with lines or without', async (t) => {
  const rig = await startRig(t);
  for (const line of [80, 0, 1]) {
    assert.equal(await rig.text('stderr', { bytes: 256 * 1024, line }), 'wrote');
  }
  const flooding = await startRig(t, [`--stderr-before-reply=${256 * 1024}`]);
  assert.equal(await flooding.text('echo', { text: 'through' }), 'through');
});

test('F13: of a flood on stderr a few lines are logged and the last words kept, all without secrets', async (t) => {
  const secret = 'correct-horse-battery';
  const rig = await startRig(t, [], { config: { env: { SETTING: secret } } });
  await rig.text('stderr', { bytes: 4 * MIB, line: 20, text: `${secret} first\n` });
  await rig.text('stderr', { bytes: 0, text: `password: abcdef ${secret} last words` });
  const leaving = rig.tool('exit');
  await assert.rejects(leaving, wireFailure('process-ended'));
  assert.ok(rig.transport.stats.stderrLines > 200_000);
  const logged = rig.logs.filter((line) => line.includes('"stderr":"'));
  assert.ok(logged.length > 1 && logged.length < 200, `${logged.length} lines`);
  assert.ok(logged.some((line) => line.includes('[redacted] first')));
  const { stderr } = endLine(rig);
  assert.ok(stderr.length <= 4_096 && stderr.endsWith('last words'));
  assert.ok(rig.logs.every((line) => !line.includes(secret) && !line.includes('abcdef')));
});

test('the first output is a line on stderr, long before the first answer', async (t) => {
  const rig = await startRig(t, ['--start-delay=150']);
  let answered = false;
  const call = rig.text('echo').then(() => {
    answered = true;
  });
  await rig.transport.firstOutput;
  assert.equal(answered, false);
  await call;
});

test('a child that does not read yet is closed as any other', async (t) => {
  const rig = await startRig(t, ['--start-delay=60000', '--ignore-eof']);
  await rig.transport.firstOutput;
  const call = assert.rejects(rig.tool('echo'), wireFailure('closed'));
  await new Promise((resolve) => setImmediate(resolve));
  await rig.transport.close();
  await call;
  assert.equal((await rig.transport.exited).signal, 'SIGTERM');
});

test('F59: a child gets its declared environment and folder, and nothing of ours', async (t) => {
  process.env.PORTICO_TEST_CANARY = 'not for children';
  t.after(() => delete process.env.PORTICO_TEST_CANARY);
  const folder = await realpath(await temporaryFolder(t));
  const rig = await startRig(t, [], { config: { env: { GREETING: 'hello' }, cwd: folder } });
  const { env, cwd } = JSON.parse(await rig.text('environment')) as { env: NodeJS.ProcessEnv; cwd: string };
  assert.equal(env.GREETING, 'hello');
  assert.equal(env.PATH, process.env.PATH);
  assert.equal(env.PORTICO_TEST_CANARY, undefined);
  assert.equal(cwd, folder);
});

test('F06: twenty wires opened, used and closed leave no process behind', async (t) => {
  const before = descendantsOf(process.pid).length;
  for (let round = 0; round < 5; round += 1) {
    const rigs = await Promise.all([1, 2, 3, 4].map(() => startRig(t)));
    await Promise.all(rigs.map((rig) => rig.text('echo')));
    await Promise.all(rigs.map((rig) => rig.transport.close()));
  }
  assert.equal(descendantsOf(process.pid).length, before);
});
