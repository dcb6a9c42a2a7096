import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerRun, namesContainer } from '../../../src/servers/stdio/container-run.ts';

const OURS = ['--interactive', '--rm', '--name'];

for (const [command, before, after] of [
  ['docker', ['run'], ['--network=none', 'mcp/fetch']],
  ['/usr/bin/podman', ['run'], ['-i', '--rm', 'mcp/fetch']],
  ['docker', ['container', 'run'], ['mcp/fetch', 'run']],
  ['docker', ['--context', 'there', 'run'], ['mcp/fetch']],
] as const) {
  test(`a container of \`${command} ${before.join(' ')} ${after.join(' ')}\` reads our input and has our name`, () => {
    const found = containerRun(command, [...before, ...after], 'fetch.one');
    assert.match(found?.name ?? '', /^portico-fetch\.one-[0-9a-f]{12}$/);
    assert.deepEqual(found?.args, [...before, ...OURS, found?.name, ...after]);
  });
}

test('no two containers have one name', () => {
  const names = [1, 2].map(() => containerRun('docker', ['run', 'a'], 'a')?.name);
  assert.notEqual(names[0], names[1]);
});

for (const [command, args] of [
  ['docker', ['exec', '-i', 'a', 'run']],
  ['docker', ['compose', 'run', 'a']],
  ['npx', ['run', 'a']],
  ['docker', []],
] as const) {
  test(`\`${[command, ...args].join(' ')}\` starts no container of ours`, () => {
    assert.equal(containerRun(command, args, 'a'), undefined);
  });
}

for (const [args, named] of [
  [['run', '--name', 'mine', 'a'], true],
  [['run', '-it', '-e', 'KEY', '--name=mine', 'a'], true],
  [['run', '-i', 'a', '--name', 'mine'], false],
  [['run', '-e', '--name', 'a'], false],
] as const) {
  test(`\`docker ${args.join(' ')}\` ${named ? 'names its container' : 'leaves the name to us'}`, () => {
    assert.equal(namesContainer('docker', args), named);
  });
}
