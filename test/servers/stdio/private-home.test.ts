import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { createPrivateHome, removePrivateHomes } from '../../../src/servers/stdio/private-home.ts';

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

test('the folder of all homes is removed at the end, and made anew when it is needed again', async () => {
  const before = (await createPrivateHome()).env.HOME ?? '';
  await removePrivateHomes();
  assert.equal(existsSync(dirname(dirname(before))), false);
  const after = await createPrivateHome();
  assert.equal(existsSync(after.env.HOME ?? ''), true);
  await removePrivateHomes();
});

test('what package runners have downloaded is shared, lest each person downloads it again', async () => {
  const { env } = await createPrivateHome();
  for (const name of ['npm_config_cache', 'UV_CACHE_DIR']) {
    assert.ok(env[name] !== undefined && !env[name].startsWith(dirname(env.HOME ?? '')));
  }
  await removePrivateHomes();
});
