// The unit, read by systemd's own linter. Needs systemd-analyze, and no running systemd.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadText } from '../config/written-config.ts';

/** systemd's own figure, of a hundred, of what a service could do to its host. Without any setting it is 96. */
const MOST_EXPOSURE = '20';
/** From closed input to SIGKILL of the last child process, and some more. */
const STOP_CHILDREN_S = 10;

const unit = await readFile(new URL('../../deploy/systemd/portico.service', import.meta.url), 'utf8');
const folder = await mkdtemp(join(tmpdir(), 'portico-unit-'));
after(() => rm(folder, { recursive: true }));

/** Asks about the unit, with a command that is on this machine. */
async function analyze(
  args: readonly string[],
  text = unit,
): Promise<{ status: number | null; said: string }> {
  const file = join(folder, 'portico.service');
  await writeFile(file, text.replace('/usr/local/bin/portico', process.execPath));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}` };
}

test('systemd finds nothing wrong with the unit, and would say so', async () => {
  assert.deepEqual(await analyze(['verify']), { status: 0, said: '' });
  assert.match((await analyze(['verify'], unit.replace('KillMode', 'KilMode'))).said, /KilMode/);
});

test('the unit leaves the service little that it could do to its host', async () => {
  const { status, said } = await analyze(['security', '--offline=true', `--threshold=${MOST_EXPOSURE}`]);
  assert.equal(status, 0, said);
});

test('the unit leaves time for drain and child processes (F44)', async (t) => {
  const loaded = await loadText(t, '{ mcpServers: {} }');
  assert.ok(loaded.ok);
  const { delayMs, graceMs } = loaded.config.gateway.drain;
  const [, seconds] = /^TimeoutStopSec=(\d+)s$/m.exec(unit) ?? [];
  assert.ok(Number(seconds) >= (delayMs + graceMs) / 1_000 + STOP_CHILDREN_S);
  assert.match(unit, /^KillMode=mixed$/m, 'the first signal is for Portico alone');
});
