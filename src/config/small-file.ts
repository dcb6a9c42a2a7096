// Files that a config names: secrets, certificates. Small, regular, and wrong in ways that can be told.
import { readFile, stat } from 'node:fs/promises';

const MIB = 1024 ** 2;
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'it may not be read',
  EPERM: 'it may not be read',
  EISDIR: 'it is a folder',
};

/**
 * @param signal gives up on a file system that hangs
 * @throws Error whose message completes "the file ...:" and holds nothing of the content
 */
export async function readSmallFile(path: string, signal?: AbortSignal, maxMib = 1): Promise<string> {
  try {
    const info = await stat(path);
    // A pipe or a device might never end, or never begin.
    if (!info.isFile()) throw new Error(info.isDirectory() ? 'it is a folder' : 'it is not a regular file');
    if (info.size > maxMib * MIB) throw new Error(`it is larger than ${maxMib}mb`);
    return await readFile(path, signal === undefined ? 'utf8' : { encoding: 'utf8', signal });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    throw code === undefined ? error : new Error(REASONS[code] ?? `it cannot be read (${code})`);
  }
}

export async function isFolder(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info?.isDirectory() ?? false;
}
