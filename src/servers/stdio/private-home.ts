// A home and a folder for temporary files of a process that serves one person: what it leaves there no other finds,
// and it is gone with the process. What package runners have downloaded is no person's, and stays shared.
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PrivateHome {
  /** To be put over what the process inherits, and under what its entry declares. */
  readonly env: Readonly<Record<string, string>>;
  /** All of it. */
  readonly folder: string;
  /** Removes it with all that is in it; idempotent, never rejects. */
  remove(): Promise<void>;
}

export interface HomeOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Of this process: one folder that holds them all, for as long as there is one. */
let parent: Promise<string> | undefined;
let homes = 0;

/** @param owner the user that the process runs as, where that is not our own */
export async function createPrivateHome(owner?: HomeOwner): Promise<PrivateHome> {
  homes += 1;
  const folder = await newFolder();
  const folders = { home: join(folder, 'home'), tmp: join(folder, 'tmp') };
  for (const path of Object.values(folders)) await mkdir(path, { mode: 0o700 });
  if (owner !== undefined) {
    for (const path of [folder, ...Object.values(folders)]) await chown(path, owner.uid, owner.gid);
  }
  let removed: Promise<void> | undefined;
  return {
    folder,
    env: {
      ...(owner === undefined ? runnerCaches() : {}),
      HOME: folders.home,
      TMPDIR: folders.tmp,
      TEMP: folders.tmp,
      TMP: folders.tmp,
    },
    remove() {
      removed ??= removeHome(folder);
      return removed;
    },
  };
}

/** A process that dies may still be writing: what appears meanwhile is removed by the next try. */
async function removeHome(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  await forgetOne();
}

async function forgetOne(): Promise<void> {
  homes -= 1;
  if (homes > 0) return;
  const last = parent;
  parent = undefined;
  const folder = await last?.catch(() => undefined);
  if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => {});
}

async function newFolder(): Promise<string> {
  try {
    return await mkdtemp(join(await parentFolder(), 'link-'));
  } catch (thrown) {
    await forgetOne();
    throw thrown;
  }
}

function parentFolder(): Promise<string> {
  parent ??= makeParent().catch((error: unknown) => {
    parent = undefined;
    throw error;
  });
  return parent;
}

/** Another user, as whom a process may run, has to get through it; the names in it cannot be guessed. */
async function makeParent(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `portico-${process.pid}-`));
  await chmod(folder, 0o711);
  return folder;
}

/** npx and uvx would otherwise download everything again for each person. */
function runnerCaches(ours: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const home = homedir();
  return {
    npm_config_cache: ours.npm_config_cache ?? join(home, '.npm'),
    UV_CACHE_DIR: ours.UV_CACHE_DIR ?? join(home, '.cache', 'uv'),
    UV_PYTHON_INSTALL_DIR: ours.UV_PYTHON_INSTALL_DIR ?? join(home, '.local', 'share', 'uv', 'python'),
  };
}
