// A program that a benchmark starts and ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type Place, placed } from './machine.ts';

export interface ProgramOptions {
  readonly place: Place;
  readonly command: readonly string[];
  /** Where its standard error goes; into the void without it. */
  readonly logFile?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard output says so when it is ready; without it, it is ready at once. */
  readonly ready?: RegExp;
}

export interface Program {
  readonly pid: number;
  /** What `ready` matched. */
  readonly said: RegExpExecArray | undefined;
  stop(): Promise<void>;
}

const READY_MS = 30_000;
const END_MS = 10_000;
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** @throws Error where it ends, or says nothing, before it is ready */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { place, command, logFile, env, ready } = options;
  const log = logFile === undefined ? 'ignore' : openSync(logFile, 'a');
  const [program, args] = placed(place, command);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', log], env: { ...process.env, ...env } });
  if (typeof log === 'number') closeSync(log);
  await once(child, 'spawn');
  running.add(child);
  const exited = once(child, 'exit').then(() => void running.delete(child));
  const said = ready === undefined ? undefined : await untilSaid(child, ready, command);
  child.stdout?.resume();
  return {
    pid: child.pid ?? 0,
    said,
    async stop() {
      if (!running.has(child)) return;
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), END_MS);
      await exited;
      clearTimeout(late);
    },
  };
}

async function untilSaid(
  child: ChildProcess,
  ready: RegExp,
  command: readonly string[],
): Promise<RegExpExecArray> {
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const fail = (why: string) => {
    child.kill('SIGKILL');
    reject(new Error(`${command.join(' ')} ${why}\n${output}`));
  };
  const timer = setTimeout(() => fail('did not become ready'), READY_MS);
  const onExit = (code: number | null) => fail(`ended with ${code}`);
  const onOutput = (text: string) => {
    output += text;
    const match = ready.exec(output);
    if (match !== null) resolve(match);
  };
  child.once('exit', onExit);
  child.stdout?.setEncoding('utf8').on('data', onOutput);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('exit', onExit);
    child.stdout?.off('data', onOutput);
  }
}
