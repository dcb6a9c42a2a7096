// Of the time that a server took, the part that was spent waiting for it is told apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ModernClient } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import { startGateway } from '../support/start-gateway.ts';

test('a call that waited for a place under maxInFlight says how long', async (t) => {
  const gateway = await startGateway({ stdio: { switches: ['--era=modern'], maxInFlight: 1 } });
  t.after(() => gateway.close());
  await using client = new ModernClient(gateway.url);
  const first = [];
  for (let turn = 0; turn < PROCESSES; turn += 1) await client.tool('echo', { text: 'started' });
  for (let turn = 0; turn < PROCESSES; turn += 1) {
    first.push(client.start('tools/call', { name: 'never', arguments: {} }));
  }
  const queued = async (depth: number) => {
    const scrape = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    return scrape.includes(`portico_call_queue_depth{server="faulty"} ${depth}\n`);
  };
  const metric = async (name: string) => {
    const scrape = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{server="faulty",state="busy"\\} (\\d+)`, 'm').exec(scrape)?.[1]);
  };
  await eventually('the first is in flight', async () => (await metric('portico_links')) === PROCESSES);
  const second = client.tool('echo', { text: 'waited' });
  await eventually('the second call waits', () => queued(1));
  const waitingSince = performance.now();
  await eventually('some time has passed', () => performance.now() - waitingSince > 30);
  const waitedAtLeastMs = performance.now() - waitingSince;
  for (const call of first) call.abort();
  assert.equal(await second, 'waited');
  const { queueMs, upstreamMs, ms } = await gateway.logged(
    (line) => line.msg === 'exchange' && Number(line.queueMs) >= waitedAtLeastMs && line.outcome === 'ok',
  );
  assert.ok(Number(queueMs) <= Number(upstreamMs) && Number(upstreamMs) <= Number(ms));
});
