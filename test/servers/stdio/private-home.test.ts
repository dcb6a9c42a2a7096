import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { createPrivateHome } from '../../../src/servers/stdio/private-home.ts';

test('each home is its owner’s alone, and gone with all that was left in it', async () => {
  const [one, other] = [await createPrivateHome(), await createPrivateHome()];
  const { HOME = '', TMPDIR = '', TMP, TEMP } = one.env;
  assert.equal(new Set([HOME, TMPDIR, other.env.HOME, other.env.TMPDIR]).size, 4);
  assert.deepEqual([TMP, TEMP], [TMPDIR, TMPDIR]);
  for (const folder of [HOME, TMPDIR, dirname(HOME)]) assert.equal((await stat(folder)).mode & 0o777, 0o700);
  await writeFile(join(HOME, '.notes'), 'of one');
  await Promise.all([one.remove(), one.remove()]);
  assert.equal(existsSync(dirname(HOME)), false);
  assert.equal(existsSync(other.env.HOME ?? ''), true);
  await other.remove();
});

test('the folder of all homes goes with the last of them, and comes back with the next', async () => {
  const [one, other] = [await createPrivateHome(), await createPrivateHome()];
  const all = dirname(one.folder);
  assert.equal(dirname(other.folder), all);
  await one.remove();
  assert.equal(existsSync(all), true);
  await other.remove();
  assert.equal(existsSync(all), false);
  const next = await createPrivateHome();
  assert.equal(existsSync(next.env.HOME ?? ''), true);
  await next.remove();
});

test('what package runners have downloaded is shared, lest each person downloads it again', async () => {
  const { env, folder, remove } = await createPrivateHome();
  for (const name of ['npm_config_cache', 'UV_CACHE_DIR']) {
    assert.ok(env[name] !== undefined && !env[name].startsWith(folder));
  }
  await remove();
});
