import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ExchangeRecord, newRecord } from '../../src/telemetry/exchange-record.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';

function record(fields: Partial<ExchangeRecord>): ExchangeRecord {
  return { ...newRecord('id', 0), ...fields };
}

/** The lines of one metric, without comments. */
async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  const { body } = await metrics.expose();
  return body.split('\n').filter((line) => line.startsWith(name));
}

test('exchanges are counted by method, era and outcome', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const call = record({ method: 'tools/call', era: 'modern', outcome: 'ok' });
  metrics.observeExchange(call);
  metrics.observeExchange(call);
  metrics.observeExchange(record({ method: 'initialize', era: 'legacy', outcome: 'ok' }));
  metrics.observeExchange(record({ outcome: 'not-json' }));
  metrics.observeExchange(record({}));
  assert.deepEqual(await linesOf(metrics, 'portico_exchanges_total'), [
    'portico_exchanges_total{method="tools/call",era="modern",outcome="ok"} 2',
    'portico_exchanges_total{method="initialize",era="legacy",outcome="ok"} 1',
    'portico_exchanges_total{method="none",era="unknown",outcome="not-json"} 1',
    'portico_exchanges_total{method="none",era="unknown",outcome="cancelled"} 1',
  ]);
});

test('durations are in seconds, by method; the part of the server by server', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const call = {
    method: 'tools/call',
    server: 'docs',
    protocolVersion: '2026-07-28',
    durationMs: 15,
    upstreamMs: 11,
  };
  metrics.observeExchange(record({ ...call, outcome: 'ok' }));
  metrics.observeExchange(record({ ...call, outcome: 'ok', isError: true, protocolVersion: 'my own' }));
  metrics.observeExchange(record({ ...call, outcome: 'server-unavailable' }));
  const counts = await linesOf(metrics, 'mcp_server_operation_duration_seconds_count');
  const own = (version: string, errorType: string) =>
    `mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",mcp_protocol_version="${version}",error_type="${errorType}"} 1`;
  assert.deepEqual(counts, [
    own('2026-07-28', ''),
    own('', 'tool_error'),
    own('2026-07-28', 'server-unavailable'),
  ]);
  const [sum] = await linesOf(metrics, 'mcp_server_operation_duration_seconds_sum');
  assert.match(String(sum), / 0\.015$/);
  const upstream = await linesOf(metrics, 'mcp_client_operation_duration_seconds_sum');
  assert.deepEqual(upstream, [
    'mcp_client_operation_duration_seconds_sum{mcp_method_name="tools/call",server="docs",error_type=""} 0.011',
    'mcp_client_operation_duration_seconds_sum{mcp_method_name="tools/call",server="docs",error_type="tool_error"} 0.011',
    'mcp_client_operation_duration_seconds_sum{mcp_method_name="tools/call",server="docs",error_type="server-unavailable"} 0.011',
  ]);
});

test('a subscription that was open for a day is counted, not timed', async () => {
  const metrics = createMetrics({ processMetrics: false });
  metrics.observeExchange(record({ method: 'subscriptions/listen', outcome: 'ok', durationMs: 86_400_000 }));
  assert.equal((await linesOf(metrics, 'mcp_server_operation_duration_seconds')).length, 0);
  assert.equal((await linesOf(metrics, 'portico_exchanges_total')).length, 1);
});

test('refusals are counted by code and reason, within the line and before it', async () => {
  const metrics = createMetrics({ processMetrics: false });
  metrics.observeExchange(record({ outcome: 'no-capacity', reason: 'slow_reader' }));
  metrics.observeExchange(record({ outcome: 'ok' }));
  metrics.countRefusal('path-unknown');
  assert.deepEqual(await linesOf(metrics, 'portico_refusals_total'), [
    'portico_refusals_total{code="no-capacity",reason="slow_reader"} 1',
    'portico_refusals_total{code="path-unknown",reason=""} 1',
  ]);
});

test('only tools that were reached give their names to a label, and no more than 500 of a server', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const call = { method: 'tools/call', server: 'docs' };
  metrics.observeExchange(record({ ...call, target: 'invented', outcome: 'target-unknown' }));
  for (let tool = 0; tool < 600; tool += 1) {
    metrics.observeExchange(record({ ...call, target: `tool-${tool}`, outcome: 'ok' }));
  }
  metrics.observeExchange(record({ ...call, target: 'tool-7', outcome: 'deadline-passed' }));
  metrics.observeExchange(record({ ...call, server: 'other', target: 'its-own', outcome: 'ok' }));
  const lines = await linesOf(metrics, 'portico_tool_calls_total');
  assert.ok(
    lines.includes('portico_tool_calls_total{server="docs",tool="other",outcome="target-unknown"} 1'),
  );
  assert.ok(lines.includes('portico_tool_calls_total{server="docs",tool="other",outcome="ok"} 100'));
  assert.ok(
    lines.includes('portico_tool_calls_total{server="docs",tool="tool-7",outcome="deadline-passed"} 1'),
  );
  assert.ok(lines.includes('portico_tool_calls_total{server="other",tool="its-own",outcome="ok"} 1'));
  assert.equal(lines.length, 504);
});

test('a gauge is read at each scrape, and forgets what is gone', async () => {
  const metrics = createMetrics({ processMetrics: false });
  let links: Record<string, number> = { docs: 2, files: 1 };
  metrics.watch({
    name: 'portico_links',
    help: 'Open links',
    labelNames: ['server'],
    *read() {
      for (const [server, value] of Object.entries(links)) yield { labels: { server }, value };
    },
  });
  assert.equal((await linesOf(metrics, 'portico_links')).length, 2);
  links = { docs: 3 };
  assert.deepEqual(await linesOf(metrics, 'portico_links'), ['portico_links{server="docs"} 3']);
});

test('two registries know nothing of each other, and the process can be watched', async () => {
  const first = createMetrics();
  const second = createMetrics({ processMetrics: false });
  first.counter('portico_something_total', 'Something').inc();
  assert.deepEqual(await linesOf(second, 'portico_something_total'), []);
  assert.equal((await linesOf(first, 'nodejs_eventloop_lag_p99_seconds')).length, 1);
  assert.equal((await linesOf(second, 'nodejs')).length, 0);
});
