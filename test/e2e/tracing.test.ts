// Traces as an operator has them: the example of docs/tracing.md preloaded into Portico's own process, between clients
// and servers of both eras, with a collector at its other end.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type FaultyHttpServer, startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import type { Members } from '../support/raw-client.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { onEachReplica, PROCESSES } from '../support/replicas-wanted.ts';
import type { CollectedSpan, TraceCollector } from '../support/trace-collector.ts';
import { preloadTracing } from '../support/trace-preload.ts';

const STDIO_SERVER = fileURLToPath(new URL('../support/faulty-stdio-server.ts', import.meta.url));
const PARENT_SPAN = 'b7ad6b7169203331';
/** Each call of a test is in a trace of its own, by which its spans are found. */
let lastTrace = 0;
const newTraceId = () => (++lastTrace).toString(16).padStart(32, 'a');
const inTrace = (traceId: string, flags = '01') => ({
  traceparent: `00-${traceId}-${PARENT_SPAN}-${flags}`,
  tracestate: 'vendor=1',
  baggage: 'tenant=blue',
});

interface Traced {
  readonly collector: TraceCollector;
  readonly gateway: GatewayProcess;
  readonly upstream: FaultyHttpServer;
}

async function startTraced(t: TestContext): Promise<Traced> {
  const { collector, env } = await preloadTracing(t);
  const upstream = await startFaultyHttpServer({ era: 'modern' });
  t.after(() => upstream.close());
  const gateway = await startGateway({
    config: {
      mcpServers: {
        web: { url: `${upstream.url}?key=canary-of-the-url` },
        pipe: { command: process.execPath, args: [STDIO_SERVER, '--era=legacy'] },
      },
      gateway: { limits: [{ name: 'fair', key: 'principal', max: 1_000, window: '1m' }] },
    },
    env,
  });
  t.after(() => gateway.stop());
  return { collector, gateway, upstream };
}

/** Everything that was exported: the last of it as Portico ends. */
async function spansAtTheEnd({ gateway, collector }: Traced) {
  await gateway.stop();
  return (traceId: string) => {
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    const one = (kind: CollectedSpan['kind'], name?: string): CollectedSpan => {
      const found = spans.filter((span) => span.kind === kind && (name === undefined || span.name === name));
      assert.equal(found.length, 1, `${found.length} ${kind} spans ${name ?? ''}`);
      return found[0] as CollectedSpan;
    };
    return { spans, one };
  };
}

test('the example of docs/tracing.md exports the spans of exchanges, and servers get their place in the trace', async (t) => {
  const traced = await startTraced(t);
  const { gateway, upstream } = traced;
  await using modern = new ModernClient(`${gateway.url}/web`);
  await using legacy = await openSession(`${gateway.url}/pipe`);

  const web = newTraceId();
  await modern.tool(
    'echo',
    { text: 'canary-of-the-arguments' },
    { id: '"canary-of-the-id"', meta: inTrace(web) },
  );
  const { message, headers } = await upstream.request('tools/call');
  // By way of each replica once: one of them has the session.
  const pipes: { traceId: string; said: unknown }[] = [];
  for (let turn = 0; turn < PROCESSES; turn += 1) {
    const traceId = newTraceId();
    const received = await legacy.tool('received', {}, { headers: inTrace(traceId) });
    const frames = JSON.parse(received) as { params?: { _meta?: Record<string, unknown> } }[];
    pipes.push({ traceId, said: frames.at(-1)?.params?._meta });
  }
  const inMeta = newTraceId();
  await onEachReplica(() =>
    legacy.tool('echo', {}, { meta: inTrace(inMeta), headers: inTrace(newTraceId()) }),
  );
  const told = newTraceId();
  const body = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
  await onEachReplica(() => legacy.send({ body, headers: { ...legacy.headers, ...inTrace(told) } }));
  const call = (name: string, args: Members, traceId: string) =>
    modern.ask('tools/call', { name, arguments: args }, { meta: inTrace(traceId) });
  const failed = newTraceId();
  await call('protocol-error', { code: -32001 }, failed);
  const invented = newTraceId();
  await call('nobody-has-this', {}, invented);
  const read = newTraceId();
  await modern.ask('resources/read', { uri: 'file:///a?key=canary-of-the-uri' }, { meta: inTrace(read) });
  const refused = newTraceId();
  await modern.ask('tools/list', {}, { headers: { ...inTrace(refused), accept: 'text/html' } });
  const unsampled = newTraceId();
  await modern.tool('echo', { text: 'x' }, { meta: inTrace(unsampled, '00') });
  const unsampledCall = (await upstream.request('tools/call', 3)).message?.params?._meta;
  const untraced = await modern.tool('echo', { text: 'on its own' });
  assert.equal(untraced, 'on its own');

  const of = await spansAtTheEnd(traced);

  const { spans, one } = of(web);
  const exchange = one('server');
  const sent = one('client');
  assert.equal(exchange.name, 'tools/call echo');
  assert.equal(exchange.parentSpanId, PARENT_SPAN);
  assert.equal(exchange.traceState, 'vendor=1');
  assert.deepEqual(exchange.attributes, {
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2026-07-28',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'echo',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'http.response.status_code': 200,
    'portico.outcome': 'ok',
    'portico.view': 'web',
    'portico.server': 'web',
  });
  assert.equal(sent.name, 'tools/call echo');
  const { hostname, port } = new URL(upstream.url);
  assert.deepEqual(sent.attributes, {
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2026-07-28',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'echo',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'server.address': hostname,
    'server.port': Number(port),
    'portico.server': 'web',
  });
  for (const step of ['portico.access', 'portico.limit']) {
    assert.equal(one('internal', step).parentSpanId, exchange.spanId);
  }
  assert.equal(sent.parentSpanId, exchange.spanId);
  assert.equal(spans.length, 4);
  assert.ok(spans.every((span) => span.startedAt >= exchange.startedAt && !span.isError));
  const said = { traceparent: `00-${web}-${sent.spanId}-01`, tracestate: 'vendor=1', baggage: 'tenant=blue' };
  const { traceparent, tracestate, baggage } = headers;
  assert.deepEqual({ traceparent, tracestate, baggage }, said);
  assert.partialDeepStrictEqual(message?.params?._meta, said);

  const hops = pipes.map(({ traceId, said }) => {
    const { spans, one } = of(traceId);
    const call = one('server');
    const child = one('client');
    assert.equal(call.parentSpanId, PARENT_SPAN);
    assert.equal(call.name, 'tools/call received');
    assert.equal(call.attributes['mcp.protocol.version'], '2025-11-25');
    assert.equal(child.attributes['network.transport'], 'pipe');
    assert.partialDeepStrictEqual(said, {
      ...inTrace(traceId),
      traceparent: `00-${traceId}-${child.spanId}-01`,
    });
    // What another replica does of it stands in between, and says once more whether the caller may.
    const [hop, ...more] = spans.filter(({ name }) => name === 'portico.forwarded');
    assert.deepEqual(more, []);
    assert.equal(child.parentSpanId, (hop ?? call).spanId);
    const steps = spans.filter(({ name }) => /^portico\.(access|limit)$/.test(name));
    assert.deepEqual(
      steps.map(({ name, parentSpanId }) => `${name} ${parentSpanId}`).sort(),
      [
        `portico.access ${call.spanId}`,
        `portico.limit ${call.spanId}`,
        ...(hop === undefined ? [] : [`portico.access ${hop.spanId}`]),
      ].sort(),
    );
    assert.equal(spans.length, hop === undefined ? 4 : 6);
    if (hop === undefined) return 0;
    assert.deepEqual([hop.kind, hop.parentSpanId, hop.traceState], ['internal', call.spanId, 'vendor=1']);
    assert.equal(hop.attributes['gen_ai.tool.name'], 'received');
    return 1;
  });
  assert.equal(hops.filter((hop) => hop === 1).length, PROCESSES - 1);
  for (const traceId of [inMeta, told]) {
    const { spans } = of(traceId);
    const own = spans.filter(({ kind }) => kind === 'server');
    const forwarded = spans.filter(({ name }) => name === 'portico.forwarded');
    assert.deepEqual([own.length, forwarded.length], [PROCESSES, PROCESSES - 1]);
    assert.deepEqual([...new Set(own.map(({ parentSpanId }) => parentSpanId))], [PARENT_SPAN]);
    const ids = own.map(({ spanId }) => spanId);
    assert.ok(forwarded.every(({ parentSpanId = '' }) => ids.includes(parentSpanId)));
  }

  assert.deepEqual(
    ['server', 'client'].map((kind) => {
      const { isError, attributes } = of(failed).one(kind as 'server' | 'client');
      return [isError, attributes['error.type'], attributes['rpc.response.status_code']];
    }),
    [
      [true, 'error', undefined],
      [true, '-32001', '-32001'],
    ],
  );
  const absent = of(invented).one('server');
  assert.deepEqual([absent.name, absent.attributes['error.type']], ['tools/call', 'target-unknown']);
  const resource = of(read).one('server');
  assert.deepEqual([resource.name, resource.attributes['mcp.resource.uri']], ['resources/read', 'file:///a']);
  const early = of(refused).one('server');
  assert.deepEqual(
    [early.name, early.attributes['http.response.status_code'], early.attributes['error.type']],
    ['none', 406, 'not-acceptable'],
  );

  // Who is not sampled stays so, and the server hears of it.
  assert.deepEqual(of(unsampled).spans, []);
  assert.match(String(unsampledCall && (unsampledCall as { traceparent?: string }).traceparent), /-00$/);
  assert.ok(traced.collector.spans.some(({ kind, parentSpanId }) => kind === 'server' && !parentSpanId));

  const everything = traced.collector.bodies.join('');
  assert.doesNotMatch(everything, /canary|mcp-session-id|tenant=blue/i);
  assert.ok(!everything.includes(legacy.id), 'no session id');
  assert.match(gateway.log(), new RegExp(`"traceId":"${web}"`));
});
