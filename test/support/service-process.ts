// A program of this machine as a child of the test, in a folder of its own that holds its files.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ServiceOptions {
  readonly command: string;
  /** @param folder where its files are */
  arguments(folder: string): readonly string[];
  files(folder: string): Readonly<Record<string, string>>;
}

export interface ServiceProcess extends AsyncDisposable {
  /** What it has written so far. */
  output(): string;
  /** Writes its files anew and has it read them. */
  reload(files: Readonly<Record<string, string>>): Promise<void>;
  readonly folder: string;
}

const STOP_WITHIN_MS = 5_000;

export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-service-'));
  const write = async (files: Readonly<Record<string, string>>) => {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  };
  await write(options.files(folder));
  const child = spawn(options.command, options.arguments(folder), { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await once(child, 'spawn');
  return {
    folder,
    output: () => output,
    async reload(files) {
      await write(files);
      child.kill('SIGHUP');
    },
    async [Symbol.asyncDispose]() {
      await stop(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await exited;
  clearTimeout(late);
}
