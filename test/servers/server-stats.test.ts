// What an operator sees of a server's processes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerStats } from '../../src/servers/server-stats.ts';
import { eventually } from '../support/eventually.ts';
import { ModernClient } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';

test('a start after a failure is a restart, and each failure has one at most', () => {
  const stats = new ServerStats(undefined);
  stats.started();
  stats.failed();
  stats.started();
  stats.started();
  assert.deepEqual([stats.starts, stats.restarts], [3, 1]);
});

test('what a process counted is not lost with it, and exits have few names', () => {
  const stats = new ServerStats(undefined);
  const counted = { messages: 1, noiseLines: 2, lateReplies: 3, lateNotifications: 0, stderrLines: 4 };
  const source = { pid: 1, stats: { ...counted, queued: 5, queueWaits: 6, queueWaitMs: 7 } };
  const over = stats.track(source);
  assert.deepEqual(stats.present, { processes: 1, queued: 5, rssBytes: 0 });
  over();
  over();
  assert.deepEqual(stats.present, { processes: 0, queued: 0, rssBytes: 0 });
  assert.deepEqual(
    [stats.totals.noiseLines, stats.totals.stderrLines, stats.totals.queueWaits, stats.totals.queueWaitMs],
    [2, 4, 6, 7],
  );
  for (let code = 0; code < 60; code += 1) stats.exited({ code, signal: null });
  assert.equal(stats.exits.size, 51);
  assert.equal(stats.exits.get('other'), 10);
});

test('F06: starts, exits, noise, memory and CPU of children are in /status and in the metrics', async (t) => {
  const gateway = await startGateway({
    stdio: { switches: ['--era=modern', '--framing=banner'], maxInFlight: 1 },
  });
  t.after(() => gateway.close());
  await using client = new ModernClient(gateway.url);
  const slow = client.tool('wait', { ms: 50 });
  assert.equal(await client.tool('echo', { text: 'after it' }), 'after it');
  await slow;
  await client.start('tools/call', { name: 'crash', arguments: {} }).answer;
  assert.equal(await client.tool('echo', { text: 'anew' }), 'anew');
  await eventually('the dead one is no more', async () => (await processes()).count === 1);

  const { starts, restarts, lastHandshakeMs, linksByState } = (await gateway.status()).servers.faulty ?? {};
  assert.deepEqual([starts, restarts], [2, 1]);
  assert.ok(Number(lastHandshakeMs) > 0);
  assert.deepEqual(linksByState, { starting: 0, idle: 1, busy: 0, spare: 0 });
  const { exits, noiseLines, rssBytes, queueWaits } = await processes();
  assert.deepEqual(exits, { SIGKILL: 1 });
  assert.ok(Number(noiseLines) >= 1);
  assert.ok(Number(rssBytes) > 10_000_000, `${rssBytes} bytes`);
  assert.ok(Number(queueWaits) >= 1);

  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  for (const line of [
    'portico_links{server="faulty",state="idle"} 1',
    'portico_link_starts_total{server="faulty"} 2',
    'portico_link_restarts_total{server="faulty"} 1',
    'portico_process_exits_total{server="faulty",how="SIGKILL"} 1',
    'portico_processes{server="faulty"} 1',
    '# TYPE portico_process_exits_total counter',
    '# TYPE portico_processes gauge',
  ]) {
    assert.ok(metrics.includes(`${line}\n`), line);
  }
  assert.match(metrics, /portico_process_resident_bytes\{server="faulty"\} \d{8}/);
  assert.match(
    metrics,
    /portico_process_cpu_seconds_total\{server="faulty"\} 0\.\d+|portico_process_cpu_seconds_total\{server="faulty"\} [1-9]/,
  );

  async function processes(): Promise<Record<string, unknown>> {
    return (await gateway.status()).servers.faulty?.processes as Record<string, unknown>;
  }
});
