// Multi round-trip requests within the modern era: passed through untouched, but for the seal on the state (F23).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { legacyHttpBehind } from '../../support/legacy-http.ts';
import type { Members, Message } from '../../support/raw-client.ts';
import { ModernClient, textOf } from '../../support/raw-session.ts';
import { startGateway } from '../../support/start-gateway.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../../support/two-callers.ts';

const CAPABILITIES = { elicitation: {} };
const ANSWER = { action: 'accept', content: { name: 'Ada' } };

test('F23: the questions reach the client as they are, its answers the server, the state sealed in between', async () => {
  await using gateway = await startGateway({ stdio: { switches: ['--era=modern'] } });
  await using client = new ModernClient(gateway.url, { capabilities: CAPABILITIES });
  const call = { name: 'input-required', arguments: { a: 1 } };
  const asked = await client.ask('tools/call', call, { id: '1' });
  assert.equal(asked.result?.resultType, 'input_required');
  const requests = asked.result?.inputRequests as Record<string, Message>;
  assert.equal(requests.name?.method, 'elicitation/create');
  assert.equal(requests.name?.params?.message, 'Your name?');
  const requestState = String(asked.result?.requestState);
  assert.doesNotMatch(requestState, /faulty/);
  assert.doesNotMatch(Buffer.from(requestState, 'base64url').toString('latin1'), /faulty/);
  const inputResponses = { name: ANSWER };
  const retried = await client.ask('tools/call', { ...call, requestState, inputResponses }, { id: '"two"' });
  assert.equal(retried.id, 'two');
  assert.deepEqual(JSON.parse(textOf(retried)), { inputResponses, requestState: 'faulty-state-1' });
});

test('F23: a state that is foreign, tampered with, or of another call is invalid, and nothing is said about why', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern', gateway: { auth: TWO_CALLERS } });
  const capabilities = CAPABILITIES;
  await using alice = new ModernClient(gateway.url, { ...ALICE, capabilities });
  await using bob = new ModernClient(gateway.url, { ...BOB, capabilities });
  const call = { name: 'ask', arguments: {} };
  const asked = await alice.ask('tools/call', call);
  const requestState = String(asked.result?.requestState);
  const inputResponses = { q: ANSWER };
  const flipped = `${requestState.slice(0, 60)}${requestState[60] === 'A' ? 'B' : 'A'}${requestState.slice(61)}`;
  const tries: readonly [ModernClient, Members][] = [
    [bob, { ...call, requestState, inputResponses }],
    [alice, { ...call, requestState: flipped, inputResponses }],
    [alice, { ...call, requestState: 's1', inputResponses }],
    [alice, { ...call, requestState: '', inputResponses }],
    [alice, { ...call, name: 'echo', requestState, inputResponses }],
  ];
  const calls = server.requests('tools/call').length;
  const errors = [];
  for (const [caller, params] of tries) errors.push((await caller.ask('tools/call', params)).error);
  assert.equal(server.requests('tools/call').length, calls, 'the server sees none of them');
  for (const error of errors) assert.deepEqual(error, errors[0]);
  assert.equal(errors[0]?.code, -32602);
  assert.doesNotMatch(JSON.stringify(gateway.logs), new RegExp(KEYS.join('|')));
  const again = await alice.ask('tools/call', { ...call, requestState, inputResponses });
  assert.deepEqual(JSON.parse(textOf(again)), { inputResponses, requestState: 's1' });
});

test('F23: a server is told what the client declared in this very request, less what the config denies', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, {
    era: 'modern',
    config: { client: { roots: 'deny', sampling: 'allow', elicitation: 'allow' } },
  });
  const KEY = 'io.modelcontextprotocol/clientCapabilities';
  const declared = () =>
    (server.requests('tools/call').at(-1)?.message?.params?._meta as Members | undefined)?.[KEY];
  await using rich = new ModernClient(gateway.url, {
    capabilities: { roots: {}, sampling: {}, x: { y: 1 } },
  });
  await rich.tool('echo');
  assert.deepEqual(declared(), { sampling: {}, x: { y: 1 } });
  await using poor = new ModernClient(gateway.url);
  await poor.tool('echo');
  assert.deepEqual(declared(), {});
});

test('F23: what the client did not declare is not asked of it', async (t) => {
  const { gateway } = await legacyHttpBehind(t, { era: 'modern' });
  await using client = new ModernClient(gateway.url, { capabilities: { elicitation: {} } });
  const args = { method: 'sampling/createMessage', params: {} };
  const answer = await client.ask('tools/call', { name: 'ask', arguments: args });
  assert.equal(answer.error?.code, 5020);
  assert.equal(answer.result, undefined);
});

const FIXED = { roots: [{ uri: 'file:///srv', name: 'shared' }] };
const FORM = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Name?', requestedSchema: {} },
};
const ROOTS = { method: 'roots/list' };

async function fixedBehind(t: TestContext, rounds: readonly Members[]) {
  const { roots } = FIXED;
  const config = { client: { roots, sampling: 'allow', elicitation: 'allow' } } as const;
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern', config });
  const client = new ModernClient(gateway.url, { capabilities: CAPABILITIES });
  t.after(() => client[Symbol.asyncDispose]());
  const sent = () => server.requests('tools/call:rounds').map(({ message }) => message?.params ?? {});
  return { client, sent, call: { name: 'rounds', arguments: { rounds } } };
}

test('a fixed list of roots is answered here, round after round, and no client hears of it', async (t) => {
  const { client, sent, call } = await fixedBehind(t, [{ where: ROOTS }, { again: ROOTS }]);
  const answer = await client.ask('tools/call', call);
  assert.deepEqual(JSON.parse(textOf(answer)), { again: FIXED });
  assert.deepEqual(
    sent().map(({ requestState, inputResponses }) => [requestState, inputResponses]),
    [
      [undefined, undefined],
      ['round-1', { where: FIXED }],
      ['round-2', { again: FIXED }],
    ],
  );
  const meta = sent()[0]?._meta as Members;
  const declared = meta['io.modelcontextprotocol/clientCapabilities'];
  assert.deepEqual(declared, { elicitation: {}, roots: {} }, 'although the client has none');
});

test('of a round that asks for more, the rest goes to the client, whose own roots are not heard', async (t) => {
  const { client, sent, call } = await fixedBehind(t, [{ where: ROOTS, name: FORM }, { name: FORM }]);
  const asked = (await client.ask('tools/call', call)).result;
  assert.deepEqual(asked?.inputRequests, { name: FORM });
  const roots = { roots: [{ uri: 'file:///etc' }] };
  const { requestState } = asked ?? {};
  const retry = { ...call, requestState, inputResponses: { name: ANSWER, where: roots } };
  const again = (await client.ask('tools/call', retry)).result;
  assert.deepEqual(again?.inputRequests, { name: FORM });
  const { inputResponses, requestState: state } = sent()[1] ?? {};
  assert.deepEqual([state, inputResponses], ['round-1', { name: ANSWER, where: FIXED }]);
  const last = { ...call, requestState: again?.requestState, inputResponses: { name: ANSWER } };
  const done = await client.ask('tools/call', last);
  assert.deepEqual(JSON.parse(textOf(done)), { name: ANSWER });
});

test('a server that asks for fixed roots without end is given up', async (t) => {
  const { client, sent, call } = await fixedBehind(t, [{ where: ROOTS }]);
  const endless = { ...call, arguments: { ...call.arguments, endless: true } };
  assert.equal((await client.ask('tools/call', endless)).error?.code, 5020);
  assert.equal(sent().length, 17);
});
