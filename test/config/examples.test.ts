// The configs that the repository ships: each loads, and editors agree.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { problemTexts } from './written-config.ts';

const CONFIG = new URL('../../config/', import.meta.url);
const EXAMPLES = new URL('examples/', CONFIG);
const ENV = { DOCS_KEY: 'docs-key-1', TICKETS_TOKEN: 'tickets-1', SEARCH_TOKEN: 'search-1' };

for (const name of await readdir(EXAMPLES)) {
  test(`the example ${name} loads`, async () => {
    const loaded = await loadConfig(fileURLToPath(new URL(name, EXAMPLES)), { env: ENV });
    assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
    assert.ok(loaded.config.servers.length > 0);
  });
}

test('examples name the schema, and keep to it', async () => {
  const schema = JSON.parse(await readFile(new URL('portico.schema.json', CONFIG), 'utf8'));
  const validate = new Ajv({ strict: false, allowUnionTypes: true }).compile(schema);
  const files = [new URL('portico.yaml', CONFIG)];
  for (const name of await readdir(EXAMPLES)) if (name.endsWith('.yaml')) files.push(new URL(name, EXAMPLES));
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    const [, named] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
    assert.equal(new URL(named ?? '', file).href, new URL('portico.schema.json', CONFIG).href);
    assert.ok(validate(parse(text)), `${file.pathname} ${JSON.stringify(validate.errors)}`);
  }
});

test('config/portico.yaml is one local server on loopback, without warnings', async () => {
  const loaded = await loadConfig(fileURLToPath(new URL('portico.yaml', CONFIG)), { env: process.env });
  assert.ok(loaded.ok);
  assert.deepEqual(loaded.warnings, []);
  const { servers, gateway } = loaded.config;
  assert.deepEqual(
    servers.map(({ slug, type }) => [slug, type]),
    [['everything', 'stdio']],
  );
  assert.equal(gateway.publicUrl, 'http://127.0.0.1:8080');
  assert.deepEqual([gateway.listen.host, gateway.listen.port], ['127.0.0.1', 8080]);
  assert.deepEqual([gateway.admin?.host, gateway.admin?.port], ['127.0.0.1', 9090]);
});
