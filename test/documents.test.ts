// The documents a newcomer reads first, held against what they speak of.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../src/config/load.ts';
import { pemOf } from './support/identity-keys.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
  'test/conformance/README.md',
];

const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

for (const document of DOCUMENTS) {
  test(`${document} links to files that exist and names npm scripts that exist`, async () => {
    const text = await readFile(join(ROOT, document), 'utf8');
    const links = [...text.matchAll(/\]\((?!https?:)(?<path>[^)#]+)\)/g)].map(
      ({ groups }) => groups?.path ?? '',
    );
    const missing = links.filter((path) => !existsSync(join(ROOT, dirname(document), path)));
    assert.deepEqual(missing, []);
    const scripts = [...text.matchAll(/npm run (?<name>[a-z:]+)/g)].map(({ groups }) => groups?.name ?? '');
    assert.deepEqual(
      scripts.filter((name) => manifest.scripts[name] === undefined),
      [],
    );
  });
}

test('the config in README.md is one that Portico accepts', async (t) => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const blocks = [...readme.matchAll(/```yaml\n(?<yaml>.*?)```/gs)].map(({ groups }) => groups?.yaml ?? '');
  assert.equal(blocks.length, 1);
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'portico.yaml');
  await writeFile(file, blocks[0] ?? '');
  const loaded = await loadConfig(file, { env: { DOCS_KEY: 'key' } });
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems));
  assert.deepEqual(
    loaded.config.servers.map(({ slug }) => slug),
    ['files', 'docs'],
  );
});

test('the configs in docs/credentials.md are ones that Portico accepts', async (t) => {
  const text = await readFile(join(ROOT, 'docs/credentials.md'), 'utf8');
  const blocks = [...text.matchAll(/```yaml\n(?<yaml>.*?)```/gs)].map(({ groups }) => groups?.yaml ?? '');
  assert.equal(blocks.length, 5);
  const folder = await mkdtemp(join(tmpdir(), 'credentials-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const name of ['tickets', 'mail']) await writeFile(join(folder, name), 'secret');
  await writeFile(join(folder, 'identity.pem'), pemOf('EdDSA'));
  const file = join(folder, 'portico.yaml');
  for (const block of blocks) {
    await writeFile(file, block.replaceAll('/run/secrets', folder));
    const loaded = await loadConfig(file, { env: { DOCS_TOKEN: 'token' } });
    assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems));
  }
});

test('the configs in docs/migrating.md are ones that Portico accepts', async (t) => {
  const text = await readFile(join(ROOT, 'docs/migrating.md'), 'utf8');
  const blocks = [...text.matchAll(/```yaml\n(?<yaml>.*?)```/gs)].map(({ groups }) => groups?.yaml ?? '');
  assert.equal(blocks.length, 3);
  const folder = await mkdtemp(join(tmpdir(), 'migrating-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'portico.yaml');
  for (const block of blocks) {
    await writeFile(file, block);
    const env = { ORDERS_TOKEN: 'token', TEAM_KEY_SHA256: '0'.repeat(64) };
    const loaded = await loadConfig(file, { env });
    assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems));
  }
});

test('docs/dependencies.md names every dependency', async () => {
  const text = await readFile(join(ROOT, 'docs/dependencies.md'), 'utf8');
  const names = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
  // One row names several packages of one scope, the scope once.
  const named = (name: string) =>
    text.includes(`\`${name}\``) || text.includes(`\`${name.split('/').at(-1)}\``);
  assert.deepEqual(
    names.filter((name) => !named(name)),
    [],
  );
});

test('docs/security.md names tests that exist', async () => {
  const text = await readFile(join(ROOT, 'docs/security.md'), 'utf8');
  const named = [...text.matchAll(/\]\(\.\.\/(?<path>test\/[^)]+)\) "(?<title>[^"]+)"/g)];
  assert.ok(named.length >= 30);
  const missing: string[] = [];
  for (const { groups: { path = '', title = '' } = {} } of named) {
    const source = await readFile(join(ROOT, path), 'utf8');
    if (!source.includes(title.replaceAll("'", "\\'")) && !source.includes(title))
      missing.push(`${path}: ${title}`);
  }
  assert.deepEqual(missing, []);
  const lines = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:threat|-)/.test(line));
  assert.deepEqual(
    lines.filter((line) => !line.includes('](../test/')),
    [],
    'every threat has its test',
  );
});

test('docs/hosting.md names every metric of servers, and none besides', async () => {
  const text = await readFile(join(ROOT, 'docs/hosting.md'), 'utf8');
  const code = await readFile(join(ROOT, 'src/servers/watch-servers.ts'), 'utf8');
  const names = (source: string) => [...new Set(source.match(/portico_[a-z_]+/g))].sort();
  assert.deepEqual(names(text), names(code));
});
