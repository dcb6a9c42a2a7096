// redis-server of this machine, as a child of the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisHost, RedisSetup } from './redis.ts';

export function redisProcess(setup: RedisSetup): RedisHost {
  const folder = mkdtempSync(join(tmpdir(), 'portico-redis-'));
  for (const [name, content] of Object.entries(setup.files)) writeFileSync(join(folder, name), content);
  let child: ChildProcess | undefined;

  async function stop(): Promise<void> {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill('SIGKILL');
    await exited;
  }

  return {
    async start() {
      const fixed = ['--bind', '127.0.0.1', '--save', '', '--loglevel', 'warning', '--dir', folder];
      child = spawn('redis-server', [...fixed, ...setup.arguments(folder)], { stdio: 'ignore' });
      await once(child, 'spawn');
    },
    stop,
    async pause() {
      child?.kill('SIGSTOP');
    },
    async resume() {
      child?.kill('SIGCONT');
    },
    async close() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
