// The links that a modern client's calls to a legacy server run on: one for each principal and set of capabilities,
// which are declared exactly.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StdioServerConfig } from '../../src/config/config.ts';
import { received } from '../support/asking-server.ts';
import type { Members } from '../support/raw-client.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { LIST_LINKS } from '../support/replicas-wanted.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

const ALLOW = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;

async function legacyBehind(
  t: TestContext,
  switches: readonly string[] = [],
  changes: Partial<StdioServerConfig> = {},
): Promise<(capabilities?: Members) => ModernClient> {
  const gateway = await startGateway({
    stdio: { switches: ['--era=legacy', ...switches], client: ALLOW, ...changes },
  });
  t.after(() => gateway.close());
  return clientsOf(t, gateway);
}

function clientsOf(t: TestContext, gateway: StartedGateway): (capabilities?: Members) => ModernClient {
  return (capabilities = {}) => {
    const client = new ModernClient(gateway.url, { capabilities });
    t.after(() => client[Symbol.asyncDispose]());
    return client;
  };
}

async function declared(client: ModernClient): Promise<unknown> {
  return (await received(client)).find(({ method }) => method === 'initialize')?.params?.capabilities;
}

async function childOf(client: ModernClient): Promise<unknown> {
  return JSON.parse(await client.tool('environment')).pid;
}

test('what the client can do is declared, in its normal form, less what the config denies', async (t) => {
  const client = await legacyBehind(t, [], { client: { ...ALLOW, sampling: 'deny' } });
  const capabilities = {
    roots: { listChanged: true },
    sampling: { tools: {} },
    elicitation: {},
    tasks: { list: {} },
    extensions: { 'a.example/b': {} },
  };
  assert.deepEqual(await declared(client(capabilities)), { elicitation: { form: {} }, roots: {} });
  assert.deepEqual(await declared(client()), {});
});

test('clients with the same capabilities share a child, others do not', async (t) => {
  const client = await legacyBehind(t);
  const one = await childOf(client({ elicitation: {}, roots: { listChanged: true } }));
  const same = await childOf(client({ roots: {}, elicitation: { form: {} }, tasks: {} }));
  const other = await childOf(client({ elicitation: { form: {}, url: {} }, roots: {} }));
  assert.equal(one, same);
  assert.notEqual(one, other);
});

test('lists come from a child that knows the same capabilities; once there is one for calls, from that', async (t) => {
  const gateway = await startGateway({ stdio: { switches: ['--era=legacy'], client: ALLOW } });
  t.after(() => gateway.close());
  const [client] = [clientsOf(t, gateway)({ elicitation: {} })];
  await client.ask('tools/list', {}, { meta: { mark: 'before' } });
  assert.equal(
    gateway.children().length,
    2,
    'the one for introductions, and one that knows what the client can do',
  );
  await client.tool('echo');
  await client.ask('tools/list', {}, { meta: { mark: 'after' } });
  const marks = (await received(client))
    .filter(({ method }) => method === 'tools/list')
    .map(({ params }) => (params?._meta as Members | undefined)?.mark);
  assert.deepEqual(marks, [undefined, 'after'], 'the first is Portico, which looks up the tool');
});

for (const [era, survives] of [
  ['legacy', false],
  ['modern', true],
] as const) {
  test(`the cursor of a ${era} child ${survives ? 'outlives' : 'dies with'} it`, async (t) => {
    const gateway = await startGateway({ stdio: { switches: [`--era=${era}`, '--pages=3'] } });
    t.after(() => gateway.close());
    const client = clientsOf(t, gateway)();
    const { result: first } = await client.ask('tools/list');
    const cursor = first?.nextCursor;
    const { result: second } = await client.ask('tools/list', { cursor });
    assert.ok(Array.isArray(second?.tools) && second.tools.length > 0);
    const children = gateway.children();
    for (const child of children) process.kill(child, 'SIGKILL');
    // Until the next child serves, and that of each replica.
    for (let served = 0; served < LIST_LINKS; ) {
      const isServed = (await client.ask('tools/list')).error === undefined;
      served = isServed && !gateway.children().some((child) => children.includes(child)) ? served + 1 : 0;
    }
    const { error, result } = await client.ask('tools/list', { cursor });
    if (survives) assert.deepEqual(result?.tools, second.tools);
    else assert.deepEqual(error, { code: -32602, message: 'Invalid or expired state' });
  });
}

for (const isolation of ['principal', 'session'] as const) {
  test(`isolation: ${isolation} at a modern child: log lines reach who asked for them, also there`, async (t) => {
    const gateway = await startGateway({ stdio: { switches: ['--era=modern'], isolation } });
    t.after(() => gateway.close());
    const client = clientsOf(t, gateway)();
    const meta = { 'io.modelcontextprotocol/logLevel': 'info' };
    const call = client.start('tools/call', { name: 'log', arguments: { data: 'mine' } }, { meta });
    const { before } = await (await call.answer).whole();
    assert.deepEqual(
      before.map(({ params }) => params?.data),
      ['mine'],
    );
    await using session = await openSession(gateway.url);
    assert.deepEqual((await session.ask('logging/setLevel', { level: 'info' })).result, {});
    const logged = session.start('tools/call', { name: 'log', arguments: { data: 'also mine' } });
    const heard = await (await logged.answer).whole();
    assert.deepEqual(
      heard.before.map(({ params }) => params?.data),
      ['also mine'],
    );
  });
}
