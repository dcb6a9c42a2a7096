// Changes of files, by all the ways in which programs make them.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { watchFiles } from '../../src/config/watch-files.ts';

const SETTLE_MS = 25;

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-watch-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface Watching {
  /** Resolves at the next change that is told. */
  next(): Promise<void>;
  readonly told: number;
}

async function watching(t: TestContext, ...files: string[]): Promise<Watching> {
  let told = 0;
  let resolve = () => {};
  const watch = watchFiles({
    settleMs: SETTLE_MS,
    pollMs: 3_600_000,
    onChange() {
      told += 1;
      resolve();
    },
  });
  t.after(() => watch.close());
  await watch.follow(files);
  return {
    next: () =>
      new Promise((done) => {
        resolve = done;
      }),
    get told() {
      return told;
    },
  };
}

test('a file that is written in place, renamed over, or removed and made again', async (t) => {
  const folder = await newFolder(t);
  const file = join(folder, 'portico.yaml');
  await writeFile(file, 'one');
  const seen = await watching(t, file);
  const ways: (() => Promise<void>)[] = [
    () => writeFile(file, 'two and more'),
    async () => {
      await writeFile(`${file}.new`, 'three');
      await rename(`${file}.new`, file);
    },
    async () => {
      await rename(file, `${file}~`);
      await writeFile(file, 'four');
    },
    () => unlink(file),
    () => writeFile(file, 'five'),
  ];
  for (const [index, change] of ways.entries()) {
    const next = seen.next();
    await change();
    await next;
    assert.ok(seen.told > index);
  }
});

test('a folder of a mounted secret, swapped by its link, once and again', async (t) => {
  const folder = await newFolder(t);
  const swapTo = async (version: string) => {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, 'portico.yaml'), 'the same length');
    await symlink(version, join(folder, '..tmp'));
    await rename(join(folder, '..tmp'), join(folder, '..data'));
  };
  await swapTo('..one');
  await symlink('..data/portico.yaml', join(folder, 'portico.yaml'));
  const seen = await watching(t, join(folder, 'portico.yaml'));
  for (const version of ['..two', '..three']) {
    const next = seen.next();
    await swapTo(version);
    await next;
  }
});

test('a link to elsewhere, and a link on the way there', async (t) => {
  const [here, there] = [await newFolder(t), await newFolder(t)];
  for (const release of ['r1', 'r2']) {
    await mkdir(join(there, release));
    await writeFile(join(there, release, 'portico.yaml'), release);
  }
  await symlink('r1', join(there, 'current'));
  await symlink(join(there, 'current', 'portico.yaml'), join(here, 'portico.yaml'));
  const seen = await watching(t, join(here, 'portico.yaml'));
  let next = seen.next();
  await symlink('r2', join(there, 'next'));
  await rename(join(there, 'next'), join(there, 'current'));
  await next;
  next = seen.next();
  await writeFile(join(there, 'r2', 'portico.yaml'), 'r2, written again');
  await next;
});

test('several changes that come together are told once, and those of other files never', async (t) => {
  const folder = await newFolder(t);
  const [file, secret, other] = ['portico.yaml', 'secret', 'audit.jsonl'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  for (const path of [file, secret, other]) await writeFile(path, 'one');
  const seen = await watching(t, file, secret);
  for (let line = 0; line < 10; line += 1) {
    await writeFile(other, `line ${line}\n`, { flag: 'a' });
    await delay(SETTLE_MS / 2);
  }
  assert.equal(seen.told, 0);
  const next = seen.next();
  await writeFile(secret, 'two');
  await writeFile(file, 'two');
  await next;
  await delay(SETTLE_MS * 6);
  assert.equal(seen.told, 1);
});

test('a file that is not there yet, in a folder that is', async (t) => {
  const folder = await newFolder(t);
  const seen = await watching(t, join(folder, 'late'), join(folder, 'nowhere', 'late'));
  const next = seen.next();
  await writeFile(join(folder, 'late'), 'here');
  await next;
});
