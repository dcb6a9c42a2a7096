// A child process that is one principal's own lives on one replica, whichever is asked; so does a call that waits there.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { LimitConfig } from '../../src/config/limits-config.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import {
  ACCEPTED,
  answersTo,
  asking,
  callAsking,
  inputRequiredOf,
  retryParams,
} from '../support/parked-client.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { ModernClient, openSession, textOf } from '../support/raw-session.ts';
import { startPair } from '../support/replica-pair.ts';

const ALLOWED = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
const CAPABILITIES = { elicitation: {} };
const STDIO = { stdio: { switches: ['--era=legacy'], client: ALLOWED } };
type Options = Parameters<typeof startPair>[1];

async function startClients(t: TestContext, options: Options, capabilities: Members = CAPABILITIES) {
  const pair = await startPair(t, options);
  const clients = [pair.a, pair.b].map((url) => new ModernClient(url, { capabilities }));
  t.after(() => Promise.all(clients.map((client) => client[Symbol.asyncDispose]())));
  const [a, b] = clients as [ModernClient, ModernClient];
  return { ...pair, clients: [a, b] as const };
}

async function behindHttp(t: TestContext): Promise<Options> {
  const server = await startFaultyHttpServer({ era: 'legacy' });
  t.after(() => server.close());
  return { http: { url: server.url, client: ALLOWED } };
}

test('a modern client has one process at a legacy server, whichever replica it asks', async (t) => {
  const { clients, service } = await startClients(t, STDIO);
  const [a, b] = clients;
  await eventually('both replicas have their own for lists', () => service.children().length === 2);
  assert.equal(await a.tool('echo', { text: 'by a' }), 'by a');
  assert.equal(await b.tool('echo', { text: 'by b' }), 'by b');
  assert.equal(service.children().length, 3);
  const heard = JSON.parse(await a.tool('received')) as { params?: Members }[];
  const texts = heard.flatMap(({ params }) => (params?.arguments as Members | undefined)?.text ?? []);
  assert.deepEqual(texts, ['by a', 'by b']);
  const hops = service.logs.filter(({ msg }) => msg === 'forwarded exchange');
  assert.ok(hops.length > 0, 'one of the two replicas has handed its calls over');
});

test('what lists and introductions say needs no hop', async (t) => {
  const { clients, service } = await startClients(t, STDIO);
  for (const client of clients) {
    const { result } = await client.ask('tools/list');
    assert.ok(Array.isArray(result?.tools) && result.tools.length > 3);
    assert.ok((await client.ask('server/discover')).result);
  }
  assert.deepEqual(
    service.logs.filter(({ msg }) => msg === 'forwarded exchange'),
    [],
  );
});

test('F26: closing the answer cancels at the server, over the hop as without it', async (t) => {
  // Who can be asked nothing need not take turns.
  const { clients } = await startClients(t, STDIO, {});
  const [a, b] = clients;
  for (const client of clients) {
    const call = { name: 'late-answer', arguments: { by: client.url } };
    const exchange = client.start('tools/call', call);
    const received = async (): Promise<Message[]> => JSON.parse(await a.tool('received'));
    const started = async () =>
      (await received()).find(
        ({ params }) => JSON.stringify(params?.arguments) === JSON.stringify(call.arguments),
      );
    await eventually('the server has the call', async () => (await started()) !== undefined);
    exchange.abort();
    const upstreamId = (await started())?.id;
    await eventually('it is cancelled there', async () =>
      (await received()).some(
        ({ method, params }) => method === 'notifications/cancelled' && params?.requestId === upstreamId,
      ),
    );
  }
  assert.equal(await b.tool('echo', { text: 'goes on' }), 'goes on');
});

for (const wire of ['stdio', 'http'] as const) {
  describe(`a legacy server over ${wire} that asks a modern client`, () => {
    const options = async (t: TestContext) => (wire === 'stdio' ? STDIO : behindHttp(t));

    test('is answered by either replica', async (t) => {
      const { clients } = await startClients(t, await options(t));
      for (const asked of clients) {
        for (const answering of clients) {
          const required = await callAsking(asked);
          const done = await answering.ask('tools/call', retryParams(required));
          assert.deepEqual(JSON.parse(textOf(done)), ACCEPTED, JSON.stringify(done));
        }
      }
    });

    test('its state is used up after one answer, whoever it was brought to', async (t) => {
      const { clients } = await startClients(t, await options(t));
      const [a, b] = clients;
      const required = await callAsking(a);
      await b.ask('tools/call', retryParams(required));
      for (const client of clients) {
        const again = await client.ask('tools/call', retryParams(required));
        assert.equal(again.error?.code, -32602);
      }
    });

    test('F57: a retry is free once, whichever replica it is brought to', async (t) => {
      const limits = [limit(3)];
      const { clients } = await startClients(t, { ...(await options(t)), gateway: { limits } });
      const [a, b] = clients;
      const required = await callAsking(a);
      assert.ok((await b.ask('tools/call', retryParams(required))).result);
      for (const client of clients) {
        const again = await client.ask('tools/call', retryParams(required));
        assert.equal(again.error?.code, -32602, 'charged, and used up');
      }
      const beyond = await a.start('tools/call', asking()).answer;
      assert.equal(beyond.status, 429);
      await beyond.text();
    });
  });
}

test('a call that waits on a replica that is gone is an expired one', async (t) => {
  const options = await behindHttp(t);
  const { clients, service } = await startClients(t, options);
  const [a, b] = clients;
  const required = await callAsking(a);
  await service.replicas[0]?.close();
  const retry = await b.ask('tools/call', retryParams(required));
  assert.deepEqual([retry.error?.code, retry.error?.message], [-32602, 'Invalid or expired state']);
  assert.ok(await callAsking(b), 'a new call waits here');
});

test('a principal whose replica cannot be reached has a process where it is asked', async (t) => {
  const { clients, service } = await startClients(t, STDIO);
  const [a, b] = clients;
  await a.tool('echo', { text: 'x' });
  await b.tool('echo', { text: 'x' });
  await service.replicas[0]?.close();
  assert.equal(await b.tool('echo', { text: 'by b' }), 'by b');
});

test('F23: a retry comes back to the child process that asked, and to another where that is gone', async (t) => {
  const { clients, service } = await startClients(t, { stdio: { switches: ['--era=modern'] } });
  const [a, b] = clients;
  const call = { name: 'input-required', arguments: {} };
  const required = inputRequiredOf(await a.ask('tools/call', call));
  const retry = {
    ...call,
    requestState: required.requestState,
    inputResponses: answersTo(required),
  };
  assert.match(textOf(await b.ask('tools/call', retry)), /"faulty-state-1"/);
  const received = JSON.parse(await a.tool('received')) as Message[];
  const calls = received.filter(({ params }) => params?.name === call.name);
  assert.equal(calls.length, 2, 'both came to the process of the first replica');
  const late = inputRequiredOf(await a.ask('tools/call', call));
  await service.replicas[0]?.close();
  const elsewhere = { ...retry, requestState: late.requestState };
  assert.match(textOf(await b.ask('tools/call', elsewhere)), /"faulty-state-1"/);
});

test('F24: a list that changed in the child process of one replica is heard at the other', async (t) => {
  const { clients } = await startClients(t, { stdio: { switches: ['--era=modern'] } });
  const [a] = clients;
  const params = { notifications: { toolsListChanged: true } };
  const listens = await Promise.all(
    clients.map((client) => client.start('subscriptions/listen', params).answer),
  );
  for (const listen of listens) {
    assert.equal((await listen.message())?.method, 'notifications/subscriptions/acknowledged');
  }
  for (const _change of ['one', 'another']) {
    await a.tool('list-changed');
    for (const listen of listens) {
      const message = await listen.message();
      assert.equal(message?.method, 'notifications/tools/list_changed');
      assert.deepEqual(message?.params?._meta, { 'io.modelcontextprotocol/subscriptionId': 1 });
    }
  }
});

test("a legacy client's session lives where its principal's process does, whichever replica it asks first", async (t) => {
  const { a, b, service } = await startPair(t, { stdio: { ...STDIO.stdio, isolation: 'principal' } });
  await using one = await openSession(a);
  await using two = await openSession(b);
  assert.equal(await one.tool('echo', { text: '1' }), '1');
  assert.equal(await two.tool('echo', { text: '2' }), '2');
  assert.equal(service.children().length, 3, 'two for lists, one for the principal');
  const heard = JSON.parse(await one.tool('received')) as { params?: Members }[];
  const texts = heard.flatMap(({ params }) => (params?.arguments as Members | undefined)?.text ?? []);
  assert.deepEqual(texts, ['1', '2']);
});

test('a subscription is heard by either replica, and ends with its completion result when one drains', async (t) => {
  const { clients, service } = await startClients(t, STDIO);
  const params = { notifications: { resourceSubscriptions: ['faulty://one'] } };
  const listens = await Promise.all(
    clients.map((client) => client.start('subscriptions/listen', params).answer),
  );
  for (const listen of listens) {
    const acknowledged = await listen.message();
    assert.equal(acknowledged?.method, 'notifications/subscriptions/acknowledged');
    assert.deepEqual(acknowledged?.params?.notifications, { resourceSubscriptions: ['faulty://one'] });
  }
  const [a] = clients;
  const updated = { name: 'updated', arguments: { uri: 'faulty://one' } };
  await a.ask('tools/call', updated);
  for (const listen of listens) {
    const message = await listen.message();
    assert.equal(message?.method, 'notifications/resources/updated');
    assert.deepEqual(message?.params?._meta, { 'io.modelcontextprotocol/subscriptionId': 1 });
  }
  for (const [index, listen] of listens.entries()) {
    await service.replicas[index]?.close();
    const { response } = await listen.whole();
    assert.equal(response.result?.resultType, 'complete', `replica ${index}`);
  }
});

function limit(max: number): LimitConfig {
  return {
    name: 'few',
    key: ['principal'],
    match: '*',
    max,
    windowMs: 60_000,
    inFlight: undefined,
    cost: { call: 1, list: 0 },
    lease: undefined,
  };
}
