// docs/faults.md explains every id that a test has in its name, and each of its own ids has a test.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';

test('every fault id of a test is explained, and every fault that is explained has a test', () => {
  const folder = import.meta.dirname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(test|services)\.ts$/.test(name) && name !== basename(import.meta.filename),
  );
  const named = new Set(
    files.flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/\bF[0-6]\d\b/g) ?? []),
  );
  const document = readFileSync(join(folder, '../docs/faults.md'), 'utf8');
  const explained = [...document.matchAll(/^\| (F\d\d) \|/gm)].map(([, id = '']) => id);
  assert.deepEqual(
    [...named].filter((id) => !explained.includes(id)),
    [],
  );
  assert.deepEqual(
    explained.filter((id) => !named.has(id)),
    [],
  );
});
