// Starts one of the tests' HTTP servers as a process of its own, and gives the command of its stdio form.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ServedEra } from './sdk-serve.ts';

export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
}

export interface StdioCommand {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

export type ServerScript =
  | 'everything-server'
  | 'sdk-shaping-server'
  | 'sdk-task-server'
  | 'sdk-v1-server'
  | 'sdk-v2-server';

/** What to spawn for the server's stdio form, as a config or a client's transport takes it. */
export function stdioCommand(script: ServerScript, era?: ServedEra): StdioCommand {
  return { command: process.execPath, args: [scriptPath(script)], env: servedEra(era) };
}

export async function startHttpServer(
  script: ServerScript,
  { era, port = 0 }: { era?: ServedEra; port?: number } = {},
): Promise<ServerProcess> {
  const child = fork(scriptPath(script), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...servedEra(era), SERVED_OVER: 'http', PORT: String(port) },
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill();
    await exited;
  };
  const [url] = await Promise.race([
    once(child, 'message'),
    exited.then(() => {
      throw new Error(`${script} ended before it listened`);
    }),
  ]);
  return { url: String(url), stop, [Symbol.asyncDispose]: stop };
}

function scriptPath(script: ServerScript): string {
  return fileURLToPath(new URL(`${script}.ts`, import.meta.url));
}

/** Nothing where the script's own default is meant. */
function servedEra(era: ServedEra | undefined): { SERVED_ERA?: ServedEra } {
  return era === undefined ? {} : { SERVED_ERA: era };
}
