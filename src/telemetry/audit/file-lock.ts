// One process writes an audit file: two would each break the other's chain. The lock is a file beside it that names
// its holder, and is taken over from a holder that is no more.
import { open, readFile, rename, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';

export interface FileLock {
  release(): Promise<void>;
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Of the process, in clock ticks since the machine started: a pid alone may be somebody else's by now. */
  readonly startedAt: string;
}

/** @throws Error that names the holder */
export async function lockFile(path: string): Promise<FileLock> {
  const lockPath = `${path}.lock`;
  const own: Holder = { pid: process.pid, host: hostname(), startedAt: await startOf(process.pid) };
  const text = JSON.stringify(own);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const handle = await open(lockPath, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return undefined;
      throw error;
    });
    if (handle !== undefined) {
      await handle.writeFile(text);
      await handle.close();
      return { release: () => unlink(lockPath).catch(() => undefined) };
    }
    await takeAway(lockPath);
  }
  throw new Error(`${lockPath} could not be taken`);
}

/** Removes the lock of a holder that is no more. Renamed first, so that of two who try only one does. */
async function takeAway(lockPath: string): Promise<void> {
  const text = await readFile(lockPath, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const holder = readHolder(text);
  if (holder !== undefined && (await isAlive(holder))) {
    throw new Error(
      `${lockPath} says that process ${holder.pid} on ${holder.host} writes this audit log; give each process a file ` +
        'of its own, or remove the lock if that process is gone',
    );
  }
  const aside = `${lockPath}.${process.pid}`;
  await rename(lockPath, aside).catch(() => undefined);
  await unlink(aside).catch(() => undefined);
}

function readHolder(text: string): Holder | undefined {
  try {
    const { pid, host, startedAt } = JSON.parse(text);
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host, startedAt } : undefined;
  } catch {
    return undefined;
  }
}

/** On another machine nothing can be known, and what may be alive is left alone. */
async function isAlive({ pid, host, startedAt }: Holder): Promise<boolean> {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return (await startOf(pid)) === startedAt;
}

/** Empty where the system does not tell. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field, the name, may hold anything but ends with the last parenthesis.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
