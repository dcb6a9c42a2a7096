// A server that is `docker run ...` (or podman): the process that we start is only a client of the container, which
// lives on without it. So the container gets a name of ours, by which it is removed when its client is gone. Pure.
import { randomBytes } from 'node:crypto';
import { type ContainerProgram, containerProgram } from './guardian.ts';

export interface ContainerRun {
  readonly program: ContainerProgram;
  readonly name: string;
  readonly args: readonly string[];
}

/** Flags of `run` that stand alone; any other takes the argument after it. */
const LONE_FLAG =
  /^-[itdPqe]*[itdPq]$|^--(interactive|tty|detach|rm|init|privileged|read-only|publish-all|quiet|no-healthcheck|oom-kill-disable|sig-proxy|disable-content-trust)$/;

/** Undefined for whatever is not the start of a container. */
export function containerRun(
  command: string,
  args: readonly string[],
  slug: string,
): ContainerRun | undefined {
  const program = containerProgram(command);
  const run = indexOfRun(args);
  if (program === undefined || run === undefined) return undefined;
  const name = `portico-${slug}-${randomBytes(6).toString('hex')}`;
  const before = args.slice(0, run + 1);
  const after = args.slice(run + 1);
  return { program, name, args: [...before, '--interactive', '--rm', '--name', name, ...after] };
}

/** Whether the config itself names the container, which then could be there only once. */
export function namesContainer(command: string, args: readonly string[]): boolean {
  const run = indexOfRun(args);
  if (containerProgram(command) === undefined || run === undefined) return false;
  for (let i = run + 1; i < args.length; i += 1) {
    const arg = args[i] ?? '';
    if (!arg.startsWith('-')) return false;
    if (arg === '--name' || arg.startsWith('--name=')) return true;
    if (!arg.includes('=') && !LONE_FLAG.test(arg)) i += 1;
  }
  return false;
}

/** `docker run`, `docker container run`, `docker --context there run`. */
function indexOfRun(args: readonly string[]): number | undefined {
  const run = args.indexOf('run');
  if (run === -1) return undefined;
  const isCommand = args
    .slice(0, run)
    .every((arg, i) => arg.startsWith('-') || arg === 'container' || (args[i - 1] ?? '').startsWith('-'));
  return isCommand ? run : undefined;
}
