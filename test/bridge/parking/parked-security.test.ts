// The state of a parked call in the wrong hands, or in the right ones at the wrong time: 200 and -32602, in the same
// words whatever is wrong, and the server behind sees nothing of it (F23).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type FaultyHttpServer, startFaultyHttpServer } from '../../support/faulty-http-server.ts';
import { httpServerConfig } from '../../support/http-server-config.ts';
import {
  ACCEPTED,
  asking,
  callAsking,
  type InputRequired,
  inputRequiredOf,
  retryParams,
} from '../../support/parked-client.ts';
import type { Members } from '../../support/raw-client.ts';
import { ModernClient, textOf } from '../../support/raw-session.ts';
import { startGateway } from '../../support/start-gateway.ts';
import { faultyConfig } from '../../support/stdio-rig.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../../support/two-callers.ts';

const ARGS = { a: 1, b: { c: [2], d: 3 } };
const PROMPT = { type: 'ref/prompt', name: 'greet' };
const INVALID = { code: -32602, message: 'Invalid or expired state' };

interface Rig {
  readonly servers: readonly FaultyHttpServer[];
  readonly alice: ModernClient;
  readonly bob: ModernClient;
  /** The view of the other server. */
  readonly elsewhere: string;
  close(): Promise<void>;
}

async function twoServers(t: TestContext, parkedTimeoutMs = 60_000): Promise<Rig> {
  const servers = [
    await startFaultyHttpServer({ era: 'legacy' }),
    await startFaultyHttpServer({ era: 'legacy' }),
  ];
  const gateway = await startGateway({
    servers: servers.map(({ url }, index) => httpServerConfig(url, { slug: `server${index}` })),
    gateway: { auth: TWO_CALLERS, parked: { timeoutMs: parkedTimeoutMs, max: 10, maxPerPrincipal: 10 } },
    secrets: KEYS,
  });
  const [url, elsewhere] = [`${gateway.url}/server0`, `${gateway.url}/server1`];
  const capabilities = { elicitation: {} };
  const alice = new ModernClient(url, { ...ALICE, capabilities });
  const bob = new ModernClient(url, { ...BOB, capabilities });
  const close = async () => {
    for (const client of [alice, bob]) await client[Symbol.asyncDispose]();
    await gateway.close();
    for (const server of servers) await server.close();
  };
  t.after(close);
  return { servers, alice, bob, elsewhere, close };
}

interface Attempt {
  readonly client?: ModernClient;
  readonly method?: string;
  readonly url?: string;
  readonly params: Members;
}

/** What a client gets, and the status that it comes with. */
async function attempt(rig: Rig, { client = rig.alice, method = 'tools/call', url, params }: Attempt) {
  const answer = await client.start(method, params, url === undefined ? {} : { url }).answer;
  const { result, error } = (await answer.whole()).response;
  return { status: answer.status, result, error };
}

function flipped(state: string, at: number): string {
  const index = at < 0 ? state.length + at : at;
  return `${state.slice(0, index)}${state[index] === 'A' ? 'B' : 'A'}${state.slice(index + 1)}`;
}

test('every wrong use of a state gets the same words, and the right one still works after all of them', async (t) => {
  const rig = await twoServers(t);
  const required = await callAsking(rig.alice, ARGS);
  const { requestState } = required;
  const params = retryParams(required, ARGS);
  const withState = (state: unknown) => ({ ...params, requestState: state });
  const attempts: Readonly<Record<string, Attempt>> = {
    'by another principal': { client: rig.bob, params },
    'at another server': { url: rig.elsewhere, params },
    'for other arguments': {
      params: { ...params, arguments: { ...(asking(ARGS).arguments as Members), a: 2 } },
    },
    'for arguments nested otherwise': {
      params: { ...params, arguments: { ...(asking(ARGS).arguments as Members), b: { c: [2], d: 4 } } },
    },
    'with a member more': { params: { ...params, future: 1 } },
    'for another tool': { params: { ...params, name: 'echo' } },
    'for a prompt': { method: 'prompts/get', params: { ...params, name: 'greet' } },
    'for a list': { method: 'tools/list', params: { requestState } },
    'for a completion': {
      method: 'completion/complete',
      params: { requestState, ref: PROMPT, argument: { name: 'name', value: '' } },
    },
    'tampered with at its start': { params: withState(flipped(requestState, 0)) },
    'tampered with in its nonce': { params: withState(flipped(requestState, 10)) },
    'tampered with in its tag': { params: withState(flipped(requestState, 30)) },
    'tampered with at its end': { params: withState(flipped(requestState, -2)) },
    'cut short': { params: withState(requestState.slice(0, -4)) },
    'made longer': { params: withState(`${requestState}AAAA`) },
    'in other letters': { params: withState(requestState.toLowerCase()) },
    'with a space': { params: withState(`${requestState} `) },
    'made up': { params: withState('parked AAAAAAAAAAAAAAAA 1') },
    empty: { params: withState('') },
    'no text': { params: withState(7) },
    'no text but an object': { params: withState({ requestState }) },
    'no text but null': { params: withState(null) },
  };
  const calls = rig.servers.map((server) => server.requests('tools/call').length);
  for (const [what, wrong] of Object.entries(attempts)) {
    const { status, error, result } = await attempt(rig, wrong);
    assert.deepEqual({ status, error, result }, { status: 200, error: INVALID, result: undefined }, what);
  }
  assert.deepEqual(
    rig.servers.map((server) => server.requests('tools/call').length),
    calls,
  );
  // The order of members says nothing; `_meta` belongs to the exchange.
  const reordered = Object.fromEntries(
    Object.entries({ ...(asking().arguments as Members), ...ARGS, b: { d: 3, c: [2] } }).reverse(),
  );
  const { result } = await attempt(rig, {
    params: { ...params, arguments: reordered, _meta: { 'a.example/b': 1 } },
  });
  assert.deepEqual(JSON.parse(textOf({ ...(result && { result }) })), ACCEPTED);
});

test('a state that was used gets them too, in later rounds and after the end', async (t) => {
  const rig = await twoServers(t);
  const first = await callAsking(rig.alice, ARGS);
  const second = inputRequiredOf(await rig.alice.ask('tools/call', retryParams(first, ARGS, {})));
  const used = async (required: InputRequired) =>
    (await attempt(rig, { params: retryParams(required, ARGS) })).error;
  const refused = await used(first);
  assert.deepEqual(refused, INVALID);
  assert.equal((await rig.alice.ask('tools/call', retryParams(second, ARGS))).error, undefined);
  assert.deepEqual(await used(first), refused);
  assert.deepEqual(await used(second), refused);
});

test('and one that has expired', async (t) => {
  const rig = await twoServers(t, 20);
  const required = await callAsking(rig.alice, ARGS);
  await rig.servers[0]?.until(() => rig.servers[0]?.cancelled.length === 1);
  const { status, error } = await attempt(rig, { params: retryParams(required, ARGS) });
  assert.deepEqual([status, error], [200, INVALID]);
});

test('and one of a gateway that is no more', async (t) => {
  const first = await twoServers(t);
  const required = await callAsking(first.alice, ARGS);
  await first.close();
  const second = await twoServers(t);
  const { status, error } = await attempt(second, { params: retryParams(required, ARGS) });
  assert.deepEqual([status, error], [200, INVALID]);
});

/** Comes back eight times at once; fails unless it is answered once, and refused otherwise. */
async function race(client: ModernClient): Promise<void> {
  const params = retryParams(await callAsking(client, ARGS), ARGS);
  const racing = Array.from(
    { length: 8 },
    (_, id) => client.start('tools/call', params, { id: String(id) }).answer,
  );
  const answers = await Promise.all(racing);
  const responses = await Promise.all(answers.map(async (answer) => (await answer.whole()).response));
  assert.equal(responses.filter(({ result }) => result !== undefined).length, 1);
  assert.deepEqual(
    responses.flatMap(({ error }) => (error === undefined ? [] : [error])),
    Array(7).fill(INVALID),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
}

test('a retry that races itself is answered once over HTTP, and so is the question', async (t) => {
  const { alice, servers } = await twoServers(t);
  await race(alice);
  const answers = servers[0]?.requests('response').filter(({ message }) => message?.result !== undefined);
  assert.equal(answers?.length, 1);
});

test('and on a pipe', async () => {
  await using gateway = await startGateway({ servers: [faultyConfig(['--era=legacy'])] });
  await using anyone = new ModernClient(gateway.url, { capabilities: { elicitation: {} } });
  await race(anyone);
});
