// The engine's own command line, run in the repository, and its images of Portico.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** @returns what the command wrote to its standard output, without the white space around it */
export async function docker(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return stdout.trim();
}

/** Builds a target of the Dockerfile; NODE_IMAGE and BUILD_CA are those of docker-compose.yml. */
export async function buildImage(target: string, tag: string): Promise<void> {
  const { NODE_IMAGE, BUILD_CA } = process.env;
  const base = NODE_IMAGE === undefined ? [] : ['--build-arg', 'NODE_IMAGE'];
  const ca = BUILD_CA === undefined ? [] : ['--secret', `id=ca,src=${BUILD_CA}`];
  await docker(['build', '--quiet', '--target', target, '--tag', tag, ...base, ...ca, '.']);
}

/** Of what stands in a container's log, both streams together. */
export async function logOf(container: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)('docker', ['logs', container]);
  return stdout + stderr;
}

/** Types a command line of a document. @returns what it wrote to its standard output */
export async function typed(
  command: string,
  { cwd = ROOT, env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    cwd,
    env: { ...process.env, ...env },
  });
  return stdout.trim();
}
