// The version of this Portico, from its package.
import { readFile } from 'node:fs/promises';

export async function readVersion(): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
