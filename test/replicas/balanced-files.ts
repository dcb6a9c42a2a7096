// Which test files start a gateway, and so can be run with replicas in its place.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['access', 'bridge', 'e2e', 'federation', 'http', 'lifecycle', 'pipeline', 'servers'];
const STARTERS = ['start-gateway.ts', 'gateway-process.ts'].map((name) => join(ROOT, 'test/support', name));
const IMPORT = /^(?:import|export)\s[^;]*?from '(?<path>\.[^']+)'/gm;

/** From the root of the repository. */
export function balancedFiles(): string[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, 'test', folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(ROOT, 'test', folder, name)),
  );
  return files
    .filter((file) => starts(file))
    .map((file) => relative(ROOT, file))
    .sort();
}

const known = new Map<string, boolean>(STARTERS.map((file) => [file, true]));

/** Whether it imports what starts a gateway, at any depth. */
function starts(file: string): boolean {
  const found = known.get(file);
  if (found !== undefined) return found;
  known.set(file, false);
  const isFound = [...readFileSync(file, 'utf8').matchAll(IMPORT)].some(({ groups, 0: text }) => {
    const path = join(dirname(file), groups?.path ?? '');
    return !text.startsWith('import type ') && path.includes('/test/') && starts(path);
  });
  known.set(file, isFound);
  return isFound;
}
