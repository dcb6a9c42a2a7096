// A load generator as its parent sees it: a process that takes one job after another.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Place, placed } from '../machine.ts';
import type { LoadJob, LoadOutcome } from './load-job.ts';

export interface Loader {
  readonly pid: number;
  /** One job at a time. */
  run(job: LoadJob): Promise<LoadOutcome>;
  stop(): Promise<void>;
}

/** Asks over HTTP. */
export function startLoader(): Loader {
  return startGenerator('others', 'load-generator.ts', []);
}

/** Writes into the pipe of a server that it starts: it is what is measured. */
export function startPipeClient(serverCommand: readonly string[]): Loader {
  return startGenerator('target', 'pipe-client.ts', placed('others', serverCommand).flat());
}

function startGenerator(place: Place, file: string, argumentsOf: readonly string[]): Loader {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const [program, args] = placed(place, [process.execPath, '--max-semi-space-size=16', path, ...argumentsOf]);
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    async run(job) {
      child.send(job);
      const [outcome] = await Promise.race([
        once(child, 'message'),
        exited.then(() => {
          throw new Error('the load generator ended');
        }),
      ]);
      return outcome as LoadOutcome;
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
