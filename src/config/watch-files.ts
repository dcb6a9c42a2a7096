// Notices that files were changed, by whatever way: written in place, renamed over, or reached through a symbolic link
// that was swapped, as Kubernetes does with `..data`. So folders are watched, and what is looked at is what a path leads to.
import { type FSWatcher, watch } from 'node:fs';
import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

export interface WatchFilesOptions {
  /** Called once for however many changes come together, when they have come to rest. */
  onChange(): void;
  /** A change has come to rest when nothing was different for this long. */
  readonly settleMs?: number;
  /** Network file systems may tell of nothing; they are looked at this often. */
  readonly pollMs?: number;
}

export interface FileWatch {
  /** The files that count from now on; those that are new are taken to have been read just now. */
  follow(files: readonly string[]): Promise<void>;
  /** Idempotent. */
  close(): void;
}

const SETTLE_MS = 200;
const POLL_MS = 10_000;
const MAX_LINKS = 40;

export function watchFiles(options: WatchFilesOptions): FileWatch {
  const { onChange, settleMs = SETTLE_MS, pollMs = POLL_MS } = options;
  const watchers = new Map<string, FSWatcher>();
  /** What each file was when it was last counted as read. */
  let known: ReadonlyMap<string, string> = new Map();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const poller = setInterval(lookSoon, pollMs).unref();

  function lookSoon(): void {
    if (closed) return;
    timer ??= setTimeout(() => void look(undefined), settleMs).unref();
  }

  /** @param before what was seen a moment ago, where that was a change */
  async function look(before: ReadonlyMap<string, string> | undefined): Promise<void> {
    const seen = await statesOf(known.keys());
    timer = undefined;
    if (closed || isDeepStrictEqual(seen, known)) return;
    if (!isDeepStrictEqual(seen, before)) {
      timer = setTimeout(() => void look(seen), settleMs).unref();
      return;
    }
    known = seen;
    await watchFolders();
    if (!closed) onChange();
  }

  async function watchFolders(): Promise<void> {
    const folders = new Set<string>();
    for (const file of known.keys()) await collectFolders(resolve(file), folders);
    if (closed) return;
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of folders) {
      if (!watchers.has(folder)) watchFolder(folder);
    }
  }

  function watchFolder(folder: string): void {
    const giveUp = () => {
      watchers.get(folder)?.close();
      watchers.delete(folder);
      lookSoon();
    };
    try {
      const watcher = watch(folder, { persistent: false }, lookSoon);
      watchers.set(folder, watcher.on('error', giveUp));
    } catch {
      // It is not there, or there are too many watches: it is looked at now and then.
    }
  }

  return {
    async follow(followed) {
      const states = await statesOf(followed);
      // One that was followed before may have changed since it was read: that is still to be noticed.
      known = new Map([...states].map(([file, state]) => [file, known.get(file) ?? state]));
      await watchFolders();
      lookSoon();
    },
    close() {
      closed = true;
      clearInterval(poller);
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** What the paths lead to, told apart without reading it. */
async function statesOf(files: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  return new Map(
    await Promise.all([...new Set(files)].map(async (file) => [file, await stateOf(file)] as const)),
  );
}

async function stateOf(file: string): Promise<string> {
  try {
    const [path, { dev, ino, size, mtimeNs }] = await Promise.all([
      realpath(file),
      stat(file, { bigint: true }),
    ]);
    return [path, dev, ino, size, mtimeNs].join(' ');
  } catch {
    return 'absent';
  }
}

/** The folder of a file, and of every symbolic link on the way to it. */
async function collectFolders(path: string, folders: Set<string>, links = 0): Promise<void> {
  folders.add(dirname(path));
  const steps = path.split(sep).slice(1);
  for (let count = 1; count <= steps.length; count += 1) {
    const prefix = sep + join(...steps.slice(0, count));
    const found = await lstat(prefix).catch(() => undefined);
    if (found === undefined) return;
    if (!found.isSymbolicLink()) continue;
    folders.add(dirname(prefix));
    const target = await readlink(prefix).catch(() => undefined);
    if (target === undefined || links === MAX_LINKS) return;
    await collectFolders(resolve(dirname(prefix), target, ...steps.slice(count)), folders, links + 1);
    return;
  }
}
