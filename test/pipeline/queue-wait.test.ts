// Of the time that a server took, the part that was spent waiting for it is told apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ModernClient } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';

test('a call that waited for a place under maxInFlight says how long', async (t) => {
  const gateway = await startGateway({ stdio: { switches: ['--era=modern'], maxInFlight: 1 } });
  t.after(() => gateway.close());
  await using client = new ModernClient(gateway.url);
  await client.tool('echo', { text: 'started' });
  const first = client.start('tools/call', { name: 'never', arguments: {} });
  const queued = async (depth: number) => {
    const scrape = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    return scrape.includes(`portico_call_queue_depth{server="faulty"} ${depth}\n`);
  };
  const metric = async (name: string) => {
    const scrape = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{server="faulty",state="busy"\\} (\\d+)`, 'm').exec(scrape)?.[1]);
  };
  await eventually('the first call is in flight', async () => (await metric('portico_links')) === 1);
  const second = client.tool('echo', { text: 'waited' });
  await eventually('the second call waits', () => queued(1));
  const waitingSince = performance.now();
  await eventually('some time has passed', () => performance.now() - waitingSince > 30);
  const waitedAtLeastMs = performance.now() - waitingSince;
  first.abort();
  assert.equal(await second, 'waited');
  const { queueMs, upstreamMs, ms } = await gateway.logged(
    (line) => line.msg === 'exchange' && Number(line.queueMs) >= waitedAtLeastMs && line.outcome === 'ok',
  );
  assert.ok(Number(queueMs) <= Number(upstreamMs) && Number(upstreamMs) <= Number(ms));
});
