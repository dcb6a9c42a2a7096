// What a reload does to servers: those that did not change do not notice, the others come, go, or come anew.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StdioServerConfig } from '../../src/config/config.ts';
import { eventually } from '../support/eventually.ts';
import { ModernClient } from '../support/raw-session.ts';
import { LIST_LINKS, onEachReplica } from '../support/replicas-wanted.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

function child(slug: string, changes: Partial<StdioServerConfig> = {}): StdioServerConfig {
  return faultyConfig(['--era=modern'], { slug, name: slug, ...changes });
}

async function started(t: TestContext, ...servers: StdioServerConfig[]): Promise<StartedGateway> {
  const gateway = await startGateway({ servers, gateway: { drain: { delayMs: 0, graceMs: 100 } } });
  t.after(() => gateway.close());
  return gateway;
}

function clientOf(t: TestContext, gateway: StartedGateway, slug: string): ModernClient {
  const client = new ModernClient(`${gateway.url}/${slug}`);
  t.after(() => client[Symbol.asyncDispose]());
  return client;
}

/** Of its process on each replica, the lowest first. */
async function pidsOf(client: ModernClient): Promise<number[]> {
  const pids: number[] = [];
  await onEachReplica(async () => {
    pids.push((JSON.parse(await client.tool('environment')) as { pid: number }).pid);
  });
  return pids.sort((one, other) => one - other);
}

test('servers that did not change keep their processes; the rest is added, replaced and removed', async (t) => {
  const gateway = await started(t, child('kept'), child('changed'), child('removed'));
  const [kept, changed, removed, added] = ['kept', 'changed', 'removed', 'added'].map((slug) =>
    clientOf(t, gateway, slug),
  ) as [ModernClient, ModernClient, ModernClient, ModernClient];
  const keptPids = await pidsOf(kept);
  const changedPids = await pidsOf(changed);
  const removedPids = await pidsOf(removed);
  assert.equal((await added.ask('tools/list')).error?.code, 4041);
  const outcome = await gateway.reload({
    servers: [child('kept'), child('changed', { env: { COLOUR: 'blue' } }), child('added')],
  });
  assert.equal(outcome, 'applied');
  assert.deepEqual(await pidsOf(kept), keptPids);
  const nowPids = await pidsOf(changed);
  assert.ok(!changedPids.some((pid) => nowPids.includes(pid)));
  assert.equal((await removed.ask('tools/list')).error?.code, 4041);
  assert.equal(await added.tool('echo', { text: 'here' }), 'here');
  await eventually('those of two servers are gone', () =>
    [...changedPids, ...removedPids].every((pid) => !gateway.children().includes(pid)),
  );
  const { servers } = await gateway.status();
  assert.deepEqual(Object.keys(servers), ['kept', 'changed', 'added']);
});

test('a call in flight on a server that is removed, or replaced, comes to its end', async (t) => {
  const gateway = await started(t, child('changed'), child('removed'));
  const clients = ['changed', 'removed'].map((slug) => clientOf(t, gateway, slug));
  await Promise.all(clients.map((client) => client.tool('echo', { text: 'warm' })));
  const calls = clients.map((client) => client.tool('wait', { ms: 1_500 }));
  await eventually('both are under way', async () => {
    const { servers } = await gateway.status();
    return servers.changed?.inFlight === 1 && servers.removed?.inFlight === 1;
  });
  await gateway.reload({ servers: [child('changed', { env: { COLOUR: 'blue' } })] });
  assert.deepEqual(await Promise.all(calls), ['waited', 'waited']);
  await eventually('their processes are gone', () => gateway.children().length === LIST_LINKS);
});

test('the same config again changes nothing', async (t) => {
  const gateway = await started(t, child('kept'));
  assert.equal(await gateway.reload({ servers: [child('kept')] }), 'unchanged');
  assert.equal((await gateway.status()).config.lastReload?.outcome, 'unchanged');
});

test('a reload while the gateway ends does nothing', async (t) => {
  const gateway = await started(t, child('kept'));
  const closed = gateway.close();
  assert.equal(await gateway.reload({ servers: [] }), 'ignored');
  await closed;
});
