// Starts Portico as users do, as a process with a config file, and holds every run to what must always be true:
// it ends when told to, leaves no process behind, drops no rejection on the floor and tells no secret.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { descendantsOf, processesIn, stillAlive } from './process-tree.ts';
import { startReplicaProcesses } from './replica-processes.ts';
import { replicasWanted } from './replicas-wanted.ts';

export interface GatewayOptions {
  /** The file's content: YAML as a string, anything else as JSON. Both listeners get a free port unless it says more. */
  readonly config: string | GatewayConfigFile;
  /** Texts of files beside the config, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Added to the environment of the gateway. */
  readonly env?: Readonly<Record<string, string>>;
  /** Texts that no line of its output may hold. */
  readonly secrets?: readonly string[];
}

export interface GatewayConfigFile {
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  readonly gateway?: Readonly<Record<string, unknown>>;
}

export interface GatewayProcess extends AsyncDisposable {
  /** Of the view of all servers, `http://127.0.0.1:port/mcp`. */
  readonly url: string;
  /** Without a path. */
  readonly adminUrl: string;
  readonly pid: number;
  /** Its config file, in a folder of its own. */
  readonly file: string;
  /** The text of a file beside it; of replicas, of all of them. */
  read(name: string): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  /**
   * Sends SIGTERM and resolves with the exit code. Idempotent.
   *
   * @throws Error where the run broke one of the rules that hold always
   */
  stop(): Promise<number>;
  /** Everything that it wrote so far, to either stream. */
  log(): string;
}

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const START_TIMEOUT_MS = 60_000;
/** The default grace of a drain, and the ladder by which a child is stopped. */
const STOP_TIMEOUT_MS = 30_000;
const PUBLIC_ADDRESS = /https?:\/\/[^\s"]+\/mcp(?=["\s]|$)/m;
const ADMIN_ADDRESS = /admin\D*?(?<url>https?:\/\/[^\s"/]+)/i;

/** Where PORTICO_TEST_REPLICAS says how many, as many replicas behind a load balancer; the pid is the first one's. */
export async function startGateway(options: GatewayOptions): Promise<GatewayProcess> {
  const count = replicasWanted();
  return count === 0
    ? startOneGateway(options)
    : startReplicaProcesses({ ...options, count, start: startOneGateway });
}

export async function startOneGateway({
  config,
  files = {},
  env = {},
  secrets = [],
}: GatewayOptions): Promise<GatewayProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'));
  const file = join(folder, 'portico.yaml');
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await writeFile(file, typeof config === 'string' ? config : JSON.stringify(withFreePorts(config)));

  const child = spawn(process.execPath, ['--max-semi-space-size=16', MAIN, '--config', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  // A run that breaks off takes its gateway along, which then ends its own children.
  const endAlong = () => child.kill('SIGTERM');
  process.once('exit', endAlong);
  let output = '';
  const grew = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      grew.dispatchEvent(new Event('output'));
    });
  }
  const pid = child.pid ?? 0;

  async function terminate(): Promise<number> {
    const children = descendantsOf(pid);
    if (child.exitCode === null) child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    const [code, signal] = await exited;
    clearTimeout(late);
    process.off('exit', endAlong);
    const left = [...new Set([...stillAlive(children), ...processesIn(folder)])];
    await rm(folder, { recursive: true, force: true });
    assertCleanRun({ signal, left, output, secrets });
    return code;
  }
  let stopping: Promise<number> | undefined;
  const stop = () => {
    stopping ??= terminate();
    return stopping;
  };

  const addresses = await waitForAddresses();
  return {
    ...addresses,
    pid,
    file,
    read: (name) => readFile(join(folder, name), 'utf8'),
    signal: (signal) => void child.kill(signal),
    stop,
    log: () => output,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };

  async function waitForAddresses(): Promise<{ url: string; adminUrl: string }> {
    const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
    const ended = exited.then(() => {
      throw new Error(`the gateway ended before it listened:\n${output}`);
    });
    ended.catch(() => {});
    for (;;) {
      const url = PUBLIC_ADDRESS.exec(output)?.[0];
      const adminUrl = ADMIN_ADDRESS.exec(output)?.groups?.url;
      if (url !== undefined && adminUrl !== undefined) return { url, adminUrl };
      if (timeout.aborted) {
        child.kill('SIGKILL');
        throw new Error(`the gateway did not say where it listens:\n${output}`);
      }
      await Promise.race([once(grew, 'output', { signal: timeout }).catch(() => {}), ended]);
    }
  }
}

function withFreePorts({ mcpServers = {}, gateway = {} }: GatewayConfigFile): GatewayConfigFile {
  return {
    mcpServers,
    gateway: { listen: { host: '127.0.0.1', port: 0 }, admin: { host: '127.0.0.1', port: 0 }, ...gateway },
  };
}

interface RunEnd {
  readonly signal: NodeJS.Signals | null;
  readonly left: readonly number[];
  readonly output: string;
  readonly secrets: readonly string[];
}

function assertCleanRun({ signal, left, output, secrets }: RunEnd): void {
  const broken: string[] = [];
  if (signal !== null) broken.push(`it was ended by ${signal}`);
  if (left.length > 0) broken.push(`it left processes behind: ${left.join(', ')}`);
  if (
    /unhandled ?(promise ?)?rejection|uncaught ?exception|failure that nobody caught|MaxListenersExceeded/i.test(
      output,
    )
  ) {
    broken.push('it let a failure fall to the floor');
  }
  if (secrets.some((secret) => output.includes(secret))) broken.push('it told a secret');
  if (broken.length > 0) throw new Error(`The gateway ended badly: ${broken.join('; ')}.\n${output}`);
}
