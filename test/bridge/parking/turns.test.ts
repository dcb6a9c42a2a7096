// Whose question it is where its wire names no call: one call at a time, or the only one there is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askingServer, CAPABILITIES, received } from '../../support/asking-server.ts';
import { eventually } from '../../support/eventually.ts';
import { ACCEPTED, asking, callAsking, FORM, inputRequiredOf } from '../../support/parked-client.ts';
import { ModernClient, textOf } from '../../support/raw-session.ts';
import { LIST_LINKS, onEachReplica } from '../../support/replicas-wanted.ts';
import type { StartedGateway } from '../../support/started-gateway.ts';

test('a question that the server takes back at once is never put', async (t) => {
  const { client } = await askingServer(t, 'stdio');
  assert.equal(await client.tool('ask-and-withdraw', { id: 'q' }), 'withdrawn');
});

const SAME_LOOKS = 5;
const SLOW_MS = 1_000;

test('on a pipe one call at a time may be asked something, and one that is parked blocks nobody', async (t) => {
  const { gateway, client } = await askingServer(t, 'stdio');
  await onEachReplica(() => client.tool('echo'));
  await callAsking(client);
  await busyWith(gateway, 1);
  const begunAt = performance.now();
  const slow = client.tool('wait', { ms: SLOW_MS }, { id: '1' });
  await busyWith(gateway, 2);
  await client.tool('echo', { text: 'quick' }, { id: '2' });
  // Which answer is here first says nothing where one of them comes by way of another replica.
  assert.ok(performance.now() - begunAt > 0.99 * SLOW_MS, 'the quick one has waited for its turn');
  await slow;
});

test('over HTTP calls run side by side', async (t) => {
  const { client } = await askingServer(t, 'http');
  const slow = client.start('tools/call', { name: 'never', arguments: {} });
  assert.equal(await client.tool('echo', { text: 'quick' }), 'quick');
  slow.abort();
});

test('who waits too long for a turn is told to come back', async (t) => {
  const { gateway, client } = await askingServer(t, 'stdio', {
    config: { queue: { max: 10, timeoutMs: 50 } },
  });
  await onEachReplica(() => client.tool('echo'));
  const slow = client.start('tools/call', { name: 'never', arguments: {} });
  await busyWith(gateway, 1);
  const refused = await client.start('tools/call', asking()).answer;
  assert.deepEqual([refused.status, (await refused.json()).error?.code], [503, 5030]);
  slow.abort();
});

test('a question of a call that was given up is not put to the next caller', async (t) => {
  const { gateway, client } = await askingServer(t, 'stdio');
  await using other = new ModernClient(gateway.url, { capabilities: CAPABILITIES });
  const given = client.start('tools/call', { name: 'ask-when-cancelled', arguments: { id: 'late' } });
  while ((await gateway.status()).servers.faulty?.inFlight !== 1) await new Promise(setImmediate);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const next = other.ask('tools/call', { name: 'wait', arguments: { ms: 100 } });
  given.abort();
  assert.equal(textOf(await next), 'waited');
  const answer = (await received(other)).find(({ id }) => id === 'late');
  assert.equal(answer?.error?.code, -32601);
});

test('clients that declare nothing cannot be asked, so they take no turns', async (t) => {
  const { gateway } = await askingServer(t, 'stdio');
  await using silent = new ModernClient(gateway.url);
  const slow = silent.start('tools/call', { name: 'never', arguments: {} });
  assert.equal(await silent.tool('echo', { text: 'quick' }), 'quick');
  slow.abort();
});

test('a question that comes before any call is asked of the first', async (t) => {
  const client = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
  const rig = await askingServer(t, 'stdio', { switches: ['--roots-after-initialized'], config: { client } });
  const call = { name: 'wait', arguments: { ms: 200 } };
  const required = inputRequiredOf(await rig.client.ask('tools/call', call));
  assert.deepEqual(required.inputRequests, { q1: { method: 'roots/list' } });
  const inputResponses = { q1: { roots: [] } };
  const { requestState } = required;
  assert.equal(
    textOf(await rig.client.ask('tools/call', { ...call, requestState, inputResponses })),
    'waited',
  );
  const answer = (await received(rig.client)).find(({ id }) => id === 'early-roots');
  assert.deepEqual(answer?.result, { roots: [] });
});

test('or refused when patience is over', async (t) => {
  const client = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
  const rig = await askingServer(t, 'stdio', {
    switches: ['--roots-after-initialized'],
    config: { client },
    overrides: { questionPatienceMs: 20 },
  });
  // A request that cannot be asked anything opens the link.
  await rig.client.ask('completion/complete', { ref: {}, argument: {} });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const answer = (await received(rig.client)).find(({ id }) => id === 'early-roots');
  assert.equal(answer?.error?.code, -32601);
});

test("a question on the server's own stream belongs to the only call in flight", async (t) => {
  const { client, server } = await askingServer(t, 'http');
  assert.ok(server);
  const call = { name: 'wait', arguments: { ms: 300 } };
  const asked = client.ask('tools/call', call);
  await server.request('tools/call:wait');
  // Also the link that lists come from hears it, and refuses it: nobody is asked there.
  await server.until(() => server.listening === LIST_LINKS + 1);
  server.announce({ id: 'beside', method: 'elicitation/create', params: FORM });
  const required = inputRequiredOf(await asked);
  const { requestState } = required;
  const retry = client.ask('tools/call', { ...call, requestState, inputResponses: { q1: ACCEPTED } });
  const { message } = await server.request((request) => request.message?.result !== undefined);
  assert.deepEqual([message?.id, message?.result], ['beside', ACCEPTED]);
  assert.equal(textOf(await retry), 'waited');
  // From now on calls take turns there: such a question would name neither of two.
  const slow = client.start('tools/call', { name: 'never', arguments: {} }, { id: '7' });
  await server.request('tools/call:never');
  const waiting = client.start('tools/call', { name: 'echo', arguments: {} }, { id: '8' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(server.requests('tools/call:echo').length, 0);
  slow.abort();
  assert.equal((await waiting.answer).status, 200);
});

test('the first question there is refused, not guessed, while two calls are in flight; each gets its own answer', async (t) => {
  const { client, server } = await askingServer(t, 'http');
  assert.ok(server);
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  server.fault('tools/call:echo', { holdUntil: held });
  const both = ['one', 'two'].map((text) => client.tool('echo', { text }));
  const { headers } = await server.request('tools/call:echo', 2);
  await server.until(() => server.listening >= LIST_LINKS + 1);
  server.announce({ id: 'whose', method: 'elicitation/create', params: FORM });
  // The link that lists come from hears it too, in a session of its own.
  const { message } = await server.request(
    (request) =>
      request.message?.id === 'whose' && request.headers['mcp-session-id'] === headers['mcp-session-id'],
  );
  assert.equal(message?.error?.code, -32601);
  letGo();
  assert.deepEqual(await Promise.all(both), ['one', 'two']);
});

/** Calls that have been sent to the server, those that are parked among them. */
/** For a while: lists that a replica reads by itself are calls too, and short. */
async function busyWith(gateway: StartedGateway, calls: number): Promise<void> {
  let looks = 0;
  await eventually(`calls in flight: ${calls}`, async () => {
    const { servers } = await gateway.status();
    looks = servers.faulty?.inFlight === calls ? looks + 1 : 0;
    return looks === SAME_LOOKS;
  });
}
