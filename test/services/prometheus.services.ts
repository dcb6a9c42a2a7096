// A real Prometheus scrapes two replicas, and its own linter finds nothing wrong with what Portico tells it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway } from '../support/gateway-process.ts';
import { ModernClient } from '../support/raw-session.ts';
import { startService } from '../support/service-process.ts';

const STDIO_SERVER = fileURLToPath(new URL('../support/faulty-stdio-server.ts', import.meta.url));
const CALLS = [3, 4];

test('Prometheus scrapes two replicas, promtool finds nothing wrong', async (t) => {
  const replicas = await Promise.all(
    CALLS.map(() =>
      startGateway({
        config: { mcpServers: { faulty: { command: process.execPath, args: [STDIO_SERVER] } } },
      }),
    ),
  );
  t.after(() => Promise.all(replicas.map((replica) => replica.stop())));
  for (const [index, { url }] of replicas.entries()) {
    await using client = new ModernClient(url);
    for (let call = 0; call < (CALLS[index] ?? 0); call += 1) await client.tool('echo', { text: 'x' });
    await client.ask('tools/call', { name: 'nobody-has-this', arguments: {} });
  }
  const targets = replicas.map(({ adminUrl }) => new URL(adminUrl).host);
  const port = await freePort();
  await using prometheus = await startService({
    command: 'prometheus',
    arguments: (folder) => [
      `--config.file=${folder}/prometheus.json`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    files: () => ({
      'prometheus.json': JSON.stringify({
        scrape_configs: [{ job_name: 'portico', scrape_interval: '500ms', static_configs: [{ targets }] }],
      }),
    }),
  });
  const query = async (expression: string): Promise<Record<string, string>> => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok !== true) return {};
    const { data } = (await answer.json()) as {
      data: { result: { metric: { instance: string }; value: [number, string] }[] };
    };
    return Object.fromEntries(data.result.map(({ metric, value }) => [metric.instance, value[1]]));
  };
  const counted = Object.fromEntries(targets.map((target, index) => [target, String(CALLS[index])]));
  const calls = 'portico_tool_calls_total{server="faulty",tool="echo",outcome="ok"}';
  let seen: Record<string, string> = {};
  await eventually('both are scraped', async () => {
    seen = await query(calls);
    return targets.every((target) => target in seen);
  }).catch((thrown: unknown) => assert.fail(`${thrown}\n${prometheus.output()}`));
  assert.deepEqual(seen, counted);
  assert.deepEqual(Object.values(await query('up{job="portico"}')), ['1', '1']);

  const scrape = await (await fetch(`${replicas[0]?.adminUrl}/metrics`)).text();
  // What the process itself tells is named by its library.
  const ours = scrape
    .split('\n')
    .filter((line) => /^(?:# \w+ )?(?:portico|mcp)_/.test(line))
    .join('\n');
  const lint = spawnSync('promtool', ['check', 'metrics'], { input: `${ours}\n`, encoding: 'utf8' });
  assert.deepEqual([lint.status, lint.stdout + lint.stderr], [0, '']);
});
