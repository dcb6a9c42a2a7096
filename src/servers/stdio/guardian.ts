// Outlives Portico by a moment: a small shell in a session of its own that is told of every process group, container
// and private folder, and ends them all when the pipe to it closes, as it does when Portico is killed with SIGKILL.
import { type ChildProcess, spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { Logger } from '../../telemetry/logger.ts';

/**
 * Reads `VERB WHAT` lines: `+`, `-` a process group; `docker`, `podman` a container, `undocker`, `unpodman`; `dir`,
 * `undir` a folder. POSIX, and nothing but built-ins until the end comes. A group is forgotten as soon as it is gone,
 * so that its number may be used again. With the last of our folders goes the one that held them.
 */
const SCRIPT = `
set -f
trap '' HUP INT TERM QUIT PIPE
groups=' ' docker=' ' podman=' ' dirs='
'
while read -r verb what; do
  case $verb in
    +) groups="$groups$what " ;;
    docker) docker="$docker$what " ;;
    podman) podman="$podman$what " ;;
    dir) dirs="$dirs$what
" ;;
    -) case $groups in *" $what "*) groups="\${groups%% "$what" *} \${groups#* "$what" }" ;; esac ;;
    undocker) case $docker in *" $what "*) docker="\${docker%% "$what" *} \${docker#* "$what" }" ;; esac ;;
    unpodman) case $podman in *" $what "*) podman="\${podman%% "$what" *} \${podman#* "$what" }" ;; esac ;;
    undir) case $dirs in *"
$what
"*) dirs="\${dirs%%"
$what
"*}
\${dirs#*"
$what
"}" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
[ "$docker" = ' ' ] || docker rm -f $docker >/dev/null 2>&1
[ "$podman" = ' ' ] || podman rm -f $podman >/dev/null 2>&1
IFS='
'
for dir in $dirs; do
  rm -rf -- "$dir" 2>/dev/null
  rmdir -- "\${dir%/*}" 2>/dev/null
done
`;

const RESTART_AFTER_MS = 1_000;
/** Longer than `docker rm -f` may take, and only where something is left to be ended. */
const LAST_DUTY_MS = 10_000;
/** To see the end of its pipe and exit. Something may have stopped it (SIGSTOP), and then it never does. */
const EXIT_MS = 2_000;

export type ContainerProgram = 'docker' | 'podman';

/** What is to be ended, or removed, should Portico be gone before it has done so itself. */
export type Ward =
  | { readonly kind: 'group'; readonly id: number }
  | { readonly kind: ContainerProgram; readonly name: string }
  | { readonly kind: 'folder'; readonly path: string };

export interface GuardianTimings {
  /** From the end of its pipe to its exit, while there is something left that it has to end. */
  readonly lastDutyMs: number;
  /** The same, while there is nothing. */
  readonly exitMs: number;
}

/** Started with the first ward. Where it cannot run (no shell), one warning says what that means. */
export class Guardian {
  readonly #logger: Logger;
  readonly #wards = new Set<Ward>();
  #shell: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #restart: NodeJS.Timeout | undefined;
  #warned = false;
  #closed = false;
  readonly #timings: GuardianTimings;

  constructor(logger: Logger, timings: GuardianTimings = { lastDutyMs: LAST_DUTY_MS, exitMs: EXIT_MS }) {
    this.#logger = logger;
    this.#timings = timings;
  }

  /** Undefined until there is something to guard. */
  get pid(): number | undefined {
    return this.#shell?.pid;
  }

  /** @returns how to tell it that this is over; idempotent */
  watch(ward: Ward): () => void {
    this.#wards.add(ward);
    // One that starts now is told of all.
    if (this.#shell === undefined) this.#start();
    else this.#tell(ward, 'watch');
    return () => {
      if (this.#wards.delete(ward)) this.#tell(ward, 'forget');
    };
  }

  /** Ends what is still watched, as the end of Portico would. Idempotent, and waits for no guardian that hangs. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#restart);
    const shell = this.#shell;
    // Now it is waited for.
    shell?.ref();
    shell?.stdin?.end();
    const { lastDutyMs, exitMs } = this.#timings;
    const late = setTimeout(() => this.#giveUp(shell), this.#wards.size > 0 ? lastDutyMs : exitMs);
    await this.#exited;
    clearTimeout(late);
  }

  #giveUp(shell: ChildProcess | undefined): void {
    shell?.kill('SIGKILL');
    if (this.#wards.size === 0) return;
    this.#logger.error(
      { left: this.#wards.size },
      'the guardian did not end what was left of servers in time',
    );
  }

  #start(): void {
    clearTimeout(this.#restart);
    // Two would be one too many: only one of them would hear what is over.
    if (this.#closed || this.#shell !== undefined || process.platform === 'win32') return;
    const shell = spawn('/bin/sh', ['-c', SCRIPT], {
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#shell = shell;
    shell.stdin.on('error', () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#exited = promise;
    const onEnd = (cause?: Error) => {
      resolve();
      if (this.#shell === shell) this.#lost(cause);
    };
    shell.once('error', onEnd);
    shell.once('exit', () => onEnd());
    // It must not keep Portico running.
    shell.unref();
    (shell.stdin as unknown as { unref?(): void }).unref?.();
    for (const ward of this.#wards) this.#tell(ward, 'watch');
  }

  /** Someone killed it, or there is no shell: without it children might outlive Portico. */
  #lost(cause: Error | undefined): void {
    this.#shell = undefined;
    if (this.#closed) return;
    if (!this.#warned) {
      this.#logger.warn({ err: cause }, 'no guardian runs: were Portico killed now, servers might live on');
    }
    this.#warned = true;
    this.#restart = setTimeout(() => this.#start(), RESTART_AFTER_MS).unref();
  }

  #tell(ward: Ward, what: 'watch' | 'forget'): void {
    this.#shell?.stdin?.write(`${lineOf(ward, what)}\n`);
  }
}

/** The program of a container that the guardian knows how to remove. */
export function containerProgram(command: string): ContainerProgram | undefined {
  const name = basename(command);
  return name === 'docker' || name === 'podman' ? name : undefined;
}

function lineOf(ward: Ward, what: 'watch' | 'forget'): string {
  switch (ward.kind) {
    case 'group':
      return `${what === 'watch' ? '+' : '-'} ${ward.id}`;
    case 'folder':
      return `${what === 'watch' ? 'dir' : 'undir'} ${ward.path}`;
    default:
      return `${what === 'watch' ? '' : 'un'}${ward.kind} ${ward.name}`;
  }
}
