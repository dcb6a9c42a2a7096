// What a child may use, be and leave behind.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { StdioServerConfig } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { findGroup, findUser } from '../../../src/servers/stdio/accounts.ts';
import { type Host, judgeContainment } from '../../../src/servers/stdio/judge-containment.ts';
import { prepareLaunch } from '../../../src/servers/stdio/prepare-launch.ts';
import { callTool, openServer } from '../../support/server-rig.ts';
import { faultyConfig } from '../../support/stdio-rig.ts';

const ACCOUNTS = {
  passwd: '# people\nroot:x:0:0:root:/root:/bin/sh\nada:x:1001:1002:Ada:/home/ada:/bin/sh\n',
  group: 'root:x:0:\npeople:x:1002:ada\n',
};
const HOST: Host = { isRoot: true, hasPrlimit: true, hasShell: true, accounts: ACCOUNTS };

test('users and groups are found by name and by number', () => {
  const ada = { uid: 1001, gid: 1002, name: 'ada', home: '/home/ada' };
  assert.deepEqual([findUser('ada', ACCOUNTS), findUser('1001', ACCOUNTS)], [ada, ada]);
  assert.deepEqual([findGroup('people', ACCOUNTS), findGroup('0', ACCOUNTS)], [1002, 0]);
  assert.deepEqual([findUser('Ada', ACCOUNTS), findGroup('ada', ACCOUNTS)], [undefined, undefined]);
});

const LIMITED = { resources: { memory: '1gb' } };
for (const [what, entry, host, problem] of [
  ['limits where there is no prlimit', LIMITED, { hasPrlimit: false }, /this host has no prlimit/],
  ['limits of a docker client', { ...LIMITED, command: 'docker' }, {}, /docker's client, not the container/],
  [
    'a user when not root',
    { user: 'ada' },
    { isRoot: false },
    /only root may start a process as another user/,
  ],
  ['a group when not root', { group: 'people' }, { isRoot: false }, /as another group/],
  ['a user who is not there', { user: 'bob' }, {}, /no user "bob"/],
  ['a group that is not there', { group: 'ada' }, {}, /no group "ada"/],
  [
    'a container that the file names',
    { command: 'docker', args: ['run', '--name', 'x', 'y'] },
    {},
    /names each container/,
  ],
  ['any program where there is no shell', {}, { hasShell: false }, /no shell .*Use the image portico, or/],
  ['a disabled one there', { disabled: true }, { hasShell: false }, undefined],
  ['limits that the host has', { ...LIMITED, user: 1001, group: 'people' }, {}, undefined],
] as const) {
  test(`${problem === undefined ? 'accepted' : 'refused'} at load: ${what}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'portico.yaml');
    await writeFile(file, JSON.stringify({ mcpServers: { one: { command: 'server', ...entry } } }));
    const judges = [
      (input: Parameters<typeof judgeContainment>[0]) => judgeContainment(input, { ...HOST, ...host }),
    ];
    const loaded = await loadConfig(file, { env: {}, judges });
    const problems = loaded.ok ? [] : loaded.problems.map(({ message, hint }) => `${message}. ${hint}`);
    if (problem === undefined) assert.deepEqual(problems, []);
    else assert.match(problems.join('\n'), problem);
  });
}

const environmentOf = async (link: Parameters<typeof callTool>[0]) =>
  JSON.parse(await callTool(link, 'environment')) as { pid: number; env: Record<string, string> };

test('each person’s process has a home of its own, gone with the process; a shared one has ours', async (t) => {
  const { server } = openServer(t, faultyConfig());
  const open = (key: string) => server.ownLink({ key, owner: key, pinned: true, clientCapabilities: {} });
  const [ada, bob] = [await environmentOf(await open('ada')), await environmentOf(await open('bob'))];
  const folders = [ada.env.HOME, ada.env.TMPDIR, bob.env.HOME, bob.env.TMPDIR].map(String);
  assert.equal(new Set([...folders, process.env.HOME]).size, 5);
  assert.ok(folders.every((folder) => existsSync(folder)));
  await server.releaseOwnLink('ada');
  assert.deepEqual(
    folders.map((folder) => existsSync(folder)),
    [false, false, true, true],
  );
  assert.equal((await environmentOf(await server.catalogueLink())).env.HOME, process.env.HOME);
});

test('what the entry declares stands over the home of its own; privateHome: false leaves ours', async () => {
  const launchOf = async (changes: Partial<StdioServerConfig>) => {
    const { launch, cleanUp } = await prepareLaunch(faultyConfig([], changes), {
      personal: true,
      guardian: undefined,
    });
    await cleanUp();
    return launch;
  };
  assert.deepEqual((await launchOf({ env: { HOME: '/srv' } })).env, { HOME: '/srv' });
  assert.deepEqual((await launchOf({ privateHome: false })).given, {});
});

test('a process is held to its limits, and keeps its pid under prlimit', async (t) => {
  const resources = { memoryBytes: 2 ** 31, cpuSeconds: 60, openFiles: 77 };
  const { server } = openServer(t, faultyConfig([], { resources }));
  const { pid } = await environmentOf(await server.catalogueLink());
  const limits = await readFile(`/proc/${pid}/limits`, 'utf8');
  assert.match(limits, /Max data size +2147483648 +2147483648/);
  assert.match(limits, /Max open files +77 +77/);
  assert.match(limits, /Max cpu time +60 +60/);
  assert.match(limits, /Max core file size +0 +0/);
});

test('a container is removed by its name once its client is gone', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-'));
  t.after(() => rm(folder, { recursive: true }));
  const docker = join(folder, 'docker');
  const log = join(folder, 'log');
  await writeFile(docker, `#!/bin/sh\necho "$@" >> '${log}'\n`);
  await chmod(docker, 0o755);
  const config = faultyConfig([], { command: docker, args: ['run', 'mcp/fetch'] });
  const { launch, cleanUp } = await prepareLaunch(config, { personal: true, guardian: undefined });
  assert.deepEqual(launch.given, {}, 'the client needs the home with its contexts');
  const name = launch.args[4] ?? '';
  assert.deepEqual(launch.args, ['run', '--interactive', '--rm', '--name', name, 'mcp/fetch']);
  await Promise.all([cleanUp(), cleanUp()]);
  assert.equal(await readFile(log, 'utf8'), `rm --force ${name}\n`);
});
