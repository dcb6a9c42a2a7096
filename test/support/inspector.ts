// The Inspector's command line, as its users run it: each command is a process and a connection.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const INSPECTOR = fileURLToPath(
  new URL(
    '../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    import.meta.url,
  ),
);

/** Runs one command against the view at `url` and resolves with the result that it prints. */
export async function inspect(url: string, era: 'legacy' | 'modern', ...args: string[]): Promise<unknown> {
  // It keeps a catalogue in the home folder, which is nobody's business but this test's.
  const home = await mkdtemp(join(tmpdir(), 'inspector-'));
  try {
    const common = ['--cli', '--server-url', url, '--transport', 'http', '--protocol-era', era, '--quiet'];
    const env = { ...process.env, HOME: home };
    const { stdout } = await promisify(execFile)(process.execPath, [INSPECTOR, ...common, ...args], { env });
    return JSON.parse(stdout);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
