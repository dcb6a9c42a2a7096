// `npm run build` makes dist/: Portico and the packages that every start loads as a few files, since finding, reading and
// compiling nine hundred takes longer than all else of a start. What only some configs need stays a package of its own.
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const DIST = join(ROOT, 'dist');
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

const { output } = await build({
  cwd: ROOT,
  input: 'src/main.ts',
  platform: 'node',
  output: {
    dir: DIST,
    cleanDir: true,
    entryFileNames: 'main.js',
    // As deep as in src/, so that what is found beside a file there is found beside it here.
    chunkFileNames: 'parts/[name].js',
    sourcemap: true,
  },
});
await cp(join(ROOT, 'src/console'), join(DIST, 'console'), { recursive: true });
const bundled = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
await writeFile(join(DIST, 'licenses.txt'), await licenses(bundled));

/** Of all packages that have code in dist/: their licenses want to go wherever it goes. */
async function licenses(modules: readonly string[]): Promise<string> {
  const folders = new Set(modules.flatMap((id) => PACKAGE.exec(id) ?? []));
  const texts = await Promise.all([...folders].sort().map(licenseOf));
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

async function licenseOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = await Promise.all(files.sort().map((file) => readFile(join(folder, file), 'utf8')));
  return `${name} ${version}, ${license}\n\n${texts.join('\n')}`;
}
