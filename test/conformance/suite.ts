// Runs the official suite's command line once and reads what it found from the files that it leaves.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Check, SuiteRun } from './checks.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
/** The suite appends the time at which a scenario began to the folder that holds its checks. */
const RESULT_FOLDER = /^(?:server-)?(?<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/** The tasks extension is in no SDK that the everything-server could be made of, so its scenarios fail everywhere. */
const LEFT_OUT = /^tasks-/;

/**
 * @param args of the suite, without the output folder
 * @throws Error with the suite's last output where it leaves no results at all
 */
export async function runSuite(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<SuiteRun> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const output = await runToEnd([...args, '-o', folder], env);
    const run = await readResults(folder);
    if (run.size === 0) throw new Error(`the suite left no results:\n${output.slice(-2000)}`);
    return run;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runToEnd(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [SUITE, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  await once(child, 'close');
  return output;
}

async function readResults(folder: string): Promise<SuiteRun> {
  const run = new Map<string, Check[]>();
  // A client scenario's name may hold a slash, and so its folder another one.
  for (const path of await readdir(folder, { recursive: true })) {
    if (!path.endsWith('checks.json')) continue;
    const scenario = RESULT_FOLDER.exec(path.slice(0, -'/checks.json'.length))?.groups?.scenario;
    if (scenario === undefined || LEFT_OUT.test(scenario)) continue;
    run.set(scenario, JSON.parse(await readFile(join(folder, path), 'utf8')));
  }
  return run;
}
