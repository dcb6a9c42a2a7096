// What a client says of its trace reaches the server, whatever the eras and the wire, where no SDK is loaded: nothing of
// it is lost, nothing else is added.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import type { Members } from '../support/raw-client.ts';
import { ModernClient, openSession, type SayOptions } from '../support/raw-session.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SAID = {
  traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
  tracestate: 'vendor=1,other=2',
  baggage: 'tenant=blue;p=1,cart=7',
};
const OTHER = {
  traceparent: '00-11111111111111111111111111111111-2222222222222222-00',
  baggage: 'by=headers',
};
const KEYS = ['traceparent', 'tracestate', 'baggage'] as const;

const only = (source: Members) =>
  Object.fromEntries(KEYS.filter((key) => source[key] !== undefined).map((key) => [key, source[key]]));

interface Case {
  readonly title: string;
  readonly said: Pick<SayOptions, 'headers' | 'meta'>;
  readonly inMeta: Members;
  readonly inHeaders: Members;
}

const CASES: readonly Case[] = [
  { title: 'in _meta', said: { meta: SAID }, inMeta: SAID, inHeaders: SAID },
  { title: 'in headers', said: { headers: SAID }, inMeta: SAID, inHeaders: SAID },
  { title: 'in both: _meta it is', said: { meta: SAID, headers: OTHER }, inMeta: SAID, inHeaders: SAID },
  { title: 'nowhere', said: {}, inMeta: {}, inHeaders: {} },
  {
    title: 'malformed in headers: dropped',
    said: { headers: { traceparent: `${SAID.traceparent}, ${SAID.traceparent}`, tracestate: 'a=1' } },
    inMeta: {},
    inHeaders: {},
  },
  {
    title: 'malformed in _meta: left there',
    said: { meta: { traceparent: 'as I like', baggage: 'café\r\nx-evil: 1' } },
    inMeta: { traceparent: 'as I like', baggage: 'café\r\nx-evil: 1' },
    inHeaders: {},
  },
];

async function caller(gateway: StartedGateway, era: 'modern' | 'legacy') {
  return era === 'modern' ? new ModernClient(gateway.url) : openSession(gateway.url);
}

for (const client of ['modern', 'legacy'] as const) {
  for (const server of ['modern', 'legacy', 'sse'] as const) {
    test(`a trace context of a ${client} client reaches a ${server} HTTP server`, async (t) => {
      const upstream = await startFaultyHttpServer({ era: server });
      t.after(() => upstream.close());
      const type = server === 'sse' ? 'sse' : 'http';
      const gateway = await startGateway({ http: { url: upstream.url, type } });
      t.after(() => gateway.close());
      await using from = await caller(gateway, client);
      for (const { title, said, inMeta, inHeaders } of CASES) {
        assert.equal(await from.tool('echo', { text: title }, said), title);
        const { message, headers } = upstream.requests('tools/call').at(-1) ?? {};
        const meta = message?.params?._meta as Members | undefined;
        assert.deepEqual([only(meta ?? {}), only(headers as Members)], [inMeta, inHeaders], title);
      }
      // No params at all become params with a `_meta`.
      await from.ask('tools/list', {}, { headers: SAID });
      const { message } = upstream.requests('tools/list').at(-1) ?? {};
      assert.deepEqual(only(message?.params?._meta as Members), SAID);
    });
  }
}

for (const era of ['modern', 'legacy'] as const) {
  test(`the same with a ${era} child process, which has _meta alone`, async (t) => {
    const gateway = await startGateway({ stdio: { switches: [`--era=${era}`] } });
    t.after(() => gateway.close());
    for (const client of ['modern', 'legacy'] as const) {
      await using from = await caller(gateway, client);
      for (const { title, said, inMeta } of CASES) {
        assert.deepEqual(await lastCallOf(from, said), inMeta, `${client}: ${title}`);
      }
    }
  });
}

/** The trace context of the call itself, as the child had it. */
async function lastCallOf(
  from: Awaited<ReturnType<typeof caller>>,
  said: Pick<SayOptions, 'headers' | 'meta'>,
): Promise<Members> {
  const received = JSON.parse(await from.tool('received', {}, said)) as { params?: Members }[];
  return only((received.at(-1)?.params?._meta ?? {}) as Members);
}

test('the line of an exchange has the trace id, one that was refused before it was read too', async (t) => {
  const gateway = await startGateway({ stdio: {} });
  t.after(() => gateway.close());
  await using client = new ModernClient(gateway.url);
  await client.tool('echo', { text: 'x' }, { meta: SAID });
  const tagged = ({ msg, traceId }: Members) => msg === 'exchange' && traceId === TRACE_ID;
  await gateway.logged(tagged);
  const refused = { ...SAID, traceparent: OTHER.traceparent, 'content-type': 'text/plain' };
  await client.ask('tools/list', {}, { headers: refused });
  const line = await gateway.logged(({ traceId }) => traceId === OTHER.traceparent.slice(3, 35));
  assert.equal(line.status, 415);
});

test('a baggage without a trace is handed on, and is no trace id', async (t: TestContext) => {
  const gateway = await startGateway({ stdio: {} });
  t.after(() => gateway.close());
  await using client = new ModernClient(gateway.url);
  const baggage = { baggage: 'tenant=blue' };
  assert.deepEqual(await lastCallOf(client, { headers: baggage }), baggage);
  const line = await gateway.logged(({ msg }) => msg === 'exchange');
  assert.equal(line.traceId, undefined);
});

test('each member of an array is in the trace that it speaks of, else in that of the headers', async (t) => {
  const upstream = await startFaultyHttpServer({ era: 'legacy' });
  t.after(() => upstream.close());
  const gateway = await startGateway({ http: { url: upstream.url } });
  t.after(() => gateway.close());
  await using session = await openSession(gateway.url, { version: '2025-03-26' });
  const member = (id: number, _meta: Members) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: String(id) }, _meta },
  });
  const body = [member(1, { traceparent: SAID.traceparent }), member(2, {})];
  const answer = await session.send({ body, headers: { ...session.headers, ...OTHER } });
  await answer.text();
  const said = upstream
    .requests('tools/call')
    .map(({ message }) => (message?.params?._meta as Members | undefined)?.traceparent);
  assert.deepEqual(said.sort(), [SAID.traceparent, OTHER.traceparent].sort());
});
