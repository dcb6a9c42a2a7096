// A server's process: started without a shell in a process group of its own, stopped by the ladder that the protocol
// describes (input closed, SIGTERM, SIGKILL), with nothing of the group left afterwards.
import { type ChildProcess as NodeChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { StdioServerConfig } from '../../config/config.ts';
import { GatewayError } from '../../errors.ts';
import { childEnvironment } from './child-environment.ts';
import type { Guardian } from './guardian.ts';
import { ProcessGroup } from './process-group.ts';

export interface StopTimings {
  /** From the end of its input to SIGTERM. */
  readonly inputGraceMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly sigtermGraceMs: number;
  /** How long the kernel may take over a SIGKILL before we look away. */
  readonly sigkillGraceMs: number;
}

export const STOP_TIMINGS: StopTimings = {
  inputGraceMs: 2_000,
  sigtermGraceMs: 3_000,
  sigkillGraceMs: 2_000,
};

/** From SIGTERM to SIGKILL once there is no more time. */
const HURRIED_GRACE_MS = 500;
const NO_HURRY = new AbortController().signal;

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Launch extends Pick<StdioServerConfig, 'command' | 'args' | 'env' | 'cwd'> {
  /** Variables of ours, such as a home; what the entry declares stands over them. */
  readonly given?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

export interface ChildStartOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timings?: StopTimings;
  /** Ends the group should Portico be gone before it has. */
  readonly guardian?: Guardian | undefined;
  /** Once it aborts, the ladder by which a process is stopped is short. */
  readonly hurry?: AbortSignal | undefined;
}

/**
 * Starts the process; resolves once it runs, which says nothing yet about whether it is any good.
 *
 * @throws GatewayError server-unavailable when it cannot be executed, the reason in `cause`; or the signal's reason
 */
export async function startChildProcess(
  launch: Launch,
  { signal, timings = STOP_TIMINGS, guardian, hurry = NO_HURRY }: ChildStartOptions = {},
): Promise<ChildProcess> {
  signal?.throwIfAborted();
  let child: ChildProcess;
  try {
    child = await spawned(launch, { timings, guardian, hurry });
  } catch (error) {
    throw await startFailure(launch, error as NodeJS.ErrnoException);
  }
  if (signal?.aborted) {
    await child.stop({ atOnce: true });
    throw signal.reason;
  }
  return child;
}

export class ChildProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The process itself has ended; others of its group may live, and its output may not be read to the end. */
  readonly exited: Promise<ChildExit>;
  /** It has ended and both its outputs were read to the end. Never settles while someone else holds them open. */
  readonly drained: Promise<void>;

  readonly #group: ProcessGroup;
  readonly #timings: StopTimings;
  readonly #onGone: (() => void) | undefined;
  readonly #hurry: AbortSignal;
  readonly #breach = new AbortController();
  #stopped: Promise<boolean> | undefined;

  constructor(
    child: NodeChildProcess & { pid: number },
    streams: Streams,
    { timings, hurry, onGone }: Surroundings,
  ) {
    this.pid = child.pid;
    this.stdin = streams.stdin;
    this.stdout = streams.stdout;
    this.stderr = streams.stderr;
    this.#group = new ProcessGroup(child.pid);
    this.#timings = timings;
    this.#onGone = onGone;
    this.#hurry = hurry;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.drained = new Promise((resolve) => {
      child.once('close', () => resolve());
    });
  }

  /**
   * Ends the whole group; idempotent. The outputs have to be read meanwhile, or a process that is about to end may
   * block on them. `atOnce` skips the first step, for a process that has broken the rules.
   *
   * @returns false when something of the group withstood SIGKILL, or is not ours to kill
   */
  stop({ atOnce = false }: { atOnce?: boolean } = {}): Promise<boolean> {
    if (atOnce) this.#breach.abort();
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<boolean> {
    const { inputGraceMs, sigtermGraceMs, sigkillGraceMs } = this.#timings;
    this.stdin.end();
    let gone = await this.#goneWithin(inputGraceMs, AbortSignal.any([this.#breach.signal, this.#hurry]));
    if (!gone) {
      this.#group.signal('SIGTERM');
      const toldAt = performance.now();
      gone = await this.#goneWithin(sigtermGraceMs, this.#hurry);
      const leftMs = HURRIED_GRACE_MS - (performance.now() - toldAt);
      if (!gone && leftMs > 0) gone = await this.#goneWithin(leftMs);
    }
    if (!gone) {
      this.#group.signal('SIGKILL');
      gone = await this.#goneWithin(sigkillGraceMs);
    }
    // A process that left the group may still hold the other ends; ours must not keep the gateway running.
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy();
    this.#onGone?.();
    return gone;
  }

  /** Waits for the process, then for the rest of its group: the first tells us, after the second we have to look. */
  async #goneWithin(timeoutMs: number, hurry?: AbortSignal): Promise<boolean> {
    const start = performance.now();
    const timeout = new AbortController();
    const signal = hurry ? AbortSignal.any([timeout.signal, hurry]) : timeout.signal;
    await Promise.race([this.exited, delay(timeoutMs, undefined, { signal }).catch(() => {})]);
    timeout.abort();
    return this.#group.goneWithin(hurry?.aborted ? 0 : timeoutMs - (performance.now() - start));
  }
}

interface Streams {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

interface Surroundings {
  readonly timings: StopTimings;
  readonly hurry: AbortSignal;
  readonly onGone?: (() => void) | undefined;
}

function spawned(
  launch: Launch,
  { timings, hurry, guardian }: Surroundings & Pick<ChildStartOptions, 'guardian'>,
): Promise<ChildProcess> {
  const { command, args, env, cwd, given, uid, gid } = launch;
  const child = spawn(command, args, {
    cwd,
    env: childEnvironment(env, given),
    detached: true,
    shell: false,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
  // A broken pipe is reported to the reader or writer of that moment; without a listener it would end the gateway.
  for (const emitter of [child, child.stdin, child.stdout, child.stderr]) emitter.on('error', () => {});
  const { pid, stdin, stdout, stderr } = child;
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  child.once('error', reject);
  if (pid !== undefined) {
    const onGone = guardian?.watch({ kind: 'group', id: pid });
    const pipes = { stdin, stdout, stderr };
    const process = new ChildProcess(Object.assign(child, { pid }), pipes, { timings, hurry, onGone });
    child.once('spawn', () => resolve(process));
  }
  return promise;
}

/** For the operator: what exactly is wrong. The text for clients says none of it. */
async function startFailure({ command, cwd }: Launch, error: NodeJS.ErrnoException): Promise<GatewayError> {
  const { reason, words } = await explain(cwd, error);
  const cause = new Error(`cannot start "${command}" in "${cwd}": ${words}`, { cause: error });
  return new GatewayError('server-unavailable', {
    text: 'The server could not be started',
    reason,
    cause,
  });
}

/** The kernel says "no such file" for a missing command and for a missing working directory alike. */
async function explain(
  cwd: string,
  error: NodeJS.ErrnoException,
): Promise<{ reason: string; words: string }> {
  const folder = await stat(cwd).catch((problem: NodeJS.ErrnoException) => problem);
  if (folder instanceof Error) {
    return { reason: 'cwd-unusable', words: `the working directory cannot be used (${folder.code})` };
  }
  if (!folder.isDirectory()) {
    return { reason: 'cwd-unusable', words: 'the working directory is not a directory' };
  }
  if (error.code === 'ENOENT') {
    return {
      reason: 'command-missing',
      words: 'the command (or the interpreter that its first line names) was not found',
    };
  }
  if (error.code === 'EACCES') {
    return { reason: 'command-not-permitted', words: 'permission denied: is the file executable?' };
  }
  return { reason: 'spawn-failed', words: error.message };
}
