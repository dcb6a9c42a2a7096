// The layers of src/: imports run downwards only, in no circle, and each heavy library is known to one place.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const SRC = resolve(import.meta.dirname, '../src');

/** Top to bottom. A layer may import itself and what stands below it. */
const LAYERS = [
  'main.ts',
  'cli',
  'gateway.ts',
  'lifecycle',
  'http',
  'pipeline',
  'bridge',
  'federation',
  'replicas',
  'access',
  'servers',
  'state',
  'telemetry',
  'config',
  'errors.ts',
  'protocol',
  'runtime',
];

/** Which layers may import a library. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  fastify: ['http', 'gateway.ts'],
  '@fastify/rate-limit': ['http', 'gateway.ts'],
  jose: ['access'],
  '@bufbuild/cel': ['access'],
  '@bufbuild/re2': ['access'],
  ioredis: ['state'],
  undici: ['servers', 'replicas'],
  pino: ['telemetry'],
  '@opentelemetry/api': ['telemetry'],
  'prom-client': ['telemetry'],
  yaml: ['config'],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = sourceFiles(SRC);
const imports = files.flatMap(importsOf);
const internal = imports
  .filter(({ to }) => to.startsWith('.'))
  .map(({ from, to }) => ({ from, to: relative(SRC, resolve(SRC, dirname(from), to)) }));

test('every source file stands in a layer', () => {
  assert.ok(files.length > 50);
  assert.deepEqual(
    files.filter((file) => !LAYERS.includes(layerOf(file)) && file !== 'node-version.mjs'),
    [],
  );
});

test('imports run downwards only', () => {
  const upward = internal.filter(({ from, to }) => rank(from) > rank(to));
  assert.deepEqual(
    upward.map(({ from, to }) => `${from} -> ${to}`),
    [],
  );
});

test('no import goes in a circle', () => {
  assert.equal(findCircle(), undefined);
});

test('each library is known to its layer alone', () => {
  const strays = imports.filter(({ from, to }) => {
    const owners = LIBRARIES[packageOf(to)];
    return owners !== undefined && !owners.includes(layerOf(from));
  });
  assert.deepEqual(
    strays.map(({ from, to }) => `${from} -> ${to}`),
    [],
  );
});

test('the token of a caller is read by token exchange alone', () => {
  const readers = files.filter((file) => read(file).includes('CallerToken.reveal('));
  assert.deepEqual(readers, ['servers/credentials/token-exchange.ts']);
});

test('nothing is exported by default, and no file is a grab bag', () => {
  const grabBags = files.filter((file) => /(^|\/)(utils?|helpers?|common|types|index)\.ts$/.test(file));
  const defaults = files.filter((file) => /^export default /m.test(read(file)));
  assert.deepEqual([...grabBags, ...defaults], []);
});

test('every module says what it is for, in three lines at most', () => {
  const wrong = files.filter((file) => {
    const lines = read(file)
      .replace(/^#!.*\n/, '')
      .split('\n');
    const header = lines.findIndex((line) => !line.startsWith('//'));
    return header < 1 || header > 3;
  });
  assert.deepEqual(wrong, []);
});

function sourceFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sourceFiles(path);
    return /\.m?ts$|\.mjs$/.test(name) ? [relative(SRC, path)] : [];
  });
}

function importsOf(file: string): Import[] {
  const specifiers = read(file).matchAll(
    /^\s*(?:import|export)\b[^;'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gms,
  );
  return [...specifiers].map(([, named, bare]) => ({ from: file, to: named ?? bare ?? '' }));
}

function read(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}

function layerOf(file: string): string {
  return file.split('/')[0] ?? file;
}

function rank(file: string): number {
  return LAYERS.indexOf(layerOf(file));
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function findCircle(): string | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file].join(' -> ');
    if (done.has(file)) return undefined;
    path.push(file);
    for (const { to } of internal.filter(({ from }) => from === file)) {
      const circle = visit(to);
      if (circle !== undefined) return circle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of files) {
    const circle = visit(file);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
