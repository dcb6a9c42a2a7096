// Children that are ready before anybody asks.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { OwnLinkRequest, Server } from '../../src/servers/server.ts';
import type { ServerMessage } from '../../src/servers/transport.ts';
import { eventually } from '../support/eventually.ts';
import { processesIn } from '../support/process-tree.ts';
import { callTool, openServer, temporaryFolder } from '../support/server-rig.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

interface WarmRig {
  readonly server: Server;
  readonly children: () => number[];
  open(owner: string, changes?: Partial<OwnLinkRequest>): Promise<number>;
}

async function warmServer(
  t: TestContext,
  {
    warm = 2,
    maxLinks = 8,
    switches = ['--era=legacy'],
  }: { warm?: number; maxLinks?: number; switches?: string[] },
): Promise<WarmRig> {
  const cwd = await temporaryFolder(t);
  const { server } = openServer(t, faultyConfig(switches, { cwd, warm, maxLinks, isolation: 'principal' }));
  await server.catalogueLink();
  await eventually('the spares are open', () => server.openLinks === Math.min(1 + warm, maxLinks));
  return {
    server,
    children: () => processesIn(cwd),
    async open(owner, changes = {}) {
      const request = { key: owner, owner, pinned: false, clientCapabilities: {}, ...changes };
      const link = await server.ownLink(request);
      return (JSON.parse(await callTool(link, 'environment')) as { pid: number }).pid;
    },
  };
}

test('whoever comes gets a child that has started already, and another takes its place', async (t) => {
  const { server, children, open } = await warmServer(t, {});
  const before = children();
  const [ada, bob] = [await open('ada'), await open('bob')];
  assert.notEqual(ada, bob);
  assert.ok(before.includes(ada) && before.includes(bob));
  assert.equal(await open('ada'), ada, 'and keeps it');
  await eventually('there are two spares again', () => server.openLinks === 5);
});

test('a spare that dies is replaced, and its end is nobody’s failure', async (t) => {
  const { children, server, open } = await warmServer(t, { warm: 1 });
  const before = children();
  await open('ada');
  await eventually('there is a spare again', () => server.openLinks === 3);
  const known = children();
  const [spare] = known.filter((pid) => !before.includes(pid));
  assert.ok(spare !== undefined);
  process.kill(spare, 'SIGKILL');
  const isNew = (pid: number) => !known.includes(pid);
  await eventually('another is open', () => children().some(isNew) && server.openLinks === 3);
  assert.ok((await open('bob')) > 0);
});

test('a client of other abilities gets a child that was told of them; spares follow what is asked for', async (t) => {
  const { server, children, open } = await warmServer(t, { warm: 1 });
  const before = children();
  const terms = { clientCapabilities: { sampling: {} }, offeredVersion: '2025-06-18' };
  assert.ok(!before.includes(await open('ada', terms)));
  await eventually('the spare is another', () => {
    const now = children();
    return server.openLinks === 3 && now.filter((pid) => before.includes(pid)).length === 1;
  });
  const ready = children();
  assert.ok(ready.includes(await open('bob', terms)));
});

test('what a server asks before it is anybody’s is heard by whoever gets it', async (t) => {
  const { open } = await warmServer(t, { warm: 1, switches: ['--era=legacy', '--roots-after-initialized'] });
  const heard: ServerMessage[] = [];
  await open('ada', { onUnsolicited: (message) => void heard.push(message) });
  assert.deepEqual(
    heard.map(({ method }) => method),
    ['roots/list'],
  );
});

test('a spare gives way at once where there is no place left, and takes none from others', async (t) => {
  const { server, children, open } = await warmServer(t, { warm: 2, maxLinks: 3 });
  const terms = { clientCapabilities: { sampling: {} } };
  const [ada, bob] = [await open('ada', terms), await open('bob', terms)];
  assert.equal(children().length, 3);
  assert.ok(children().includes(ada) && children().includes(bob));
  assert.equal(server.openLinks, 3);
});

test('a server that everyone shares keeps no spares', async (t) => {
  const { server } = openServer(t, faultyConfig(['--era=modern'], { warm: 2 }));
  await callTool(await server.catalogueLink(), 'echo', { text: 'one' });
  assert.equal(server.status().starts, 1);
});
