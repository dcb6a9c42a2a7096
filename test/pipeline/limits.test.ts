// Limits as clients meet them: what is charged and what is not, in both eras, and what a refusal says (F57).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { GatewayConfig, Isolation } from '../../src/config/config.ts';
import type { LimitConfig } from '../../src/config/limits-config.ts';
import { limitConfig } from '../access/limits/limits-rig.ts';
import { eventually } from '../support/eventually.ts';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import { type Message, RawClient } from '../support/raw-client.ts';
import { ModernClient, openSession, RawSession, requestText } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import type { LogLine, StartedGateway } from '../support/start-gateway.ts';
import { ALICE, BOB, TWO_CALLERS } from '../support/two-callers.ts';

interface LimitedOptions extends Partial<GatewayConfig> {
  readonly era?: 'modern' | 'legacy';
  readonly isolation?: Isolation;
}

async function limited(
  t: TestContext,
  limits: readonly Partial<LimitConfig>[],
  { era = 'legacy', isolation = 'shared', ...gateway }: LimitedOptions = {},
): Promise<StartedGateway> {
  const behind = await legacyHttpBehind(t, {
    era,
    config: { isolation },
    gateway: { limits: limits.map((limit) => limitConfig({ name: 'fair', ...limit })), ...gateway },
  });
  return behind.gateway;
}

/** `ok`, or the code of the error. */
const said = ({ error }: Message) => error?.code ?? 'ok';

/** What `times` of the same give, by how often. */
async function tally(times: number, ask: () => Promise<Message>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let n = 0; n < times; n += 1) {
    const word = said(await ask());
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

test('F57: a modern client is told 429, Retry-After and its id, and a browser may read it', async (t) => {
  const gateway = await limited(t, [{ max: 1 }]);
  const origin = { Origin: 'http://localhost:1' };
  await using client = new ModernClient(gateway.url);
  assert.equal(await client.tool('echo', { text: 'a' }), 'a');
  const answer = await client.start('tools/call', { name: 'echo' }, { id: '"mine"', headers: origin }).answer;
  assert.equal(answer.status, 429);
  const seconds = Number(answer.headers['retry-after']);
  assert.ok(seconds >= 58 && seconds <= 60, String(seconds));
  assert.equal(answer.headers['access-control-allow-origin'], 'http://localhost:1');
  const { id, error } = await answer.json();
  assert.deepEqual([id, error?.code, error?.message], ['mine', 4290, 'Too many requests']);
  const retryAfterMs = Number(error?.data?.retryAfterMs);
  assert.ok(retryAfterMs > 57_000 && retryAfterMs <= 60_000);
  const line = await gateway.logged(({ outcome }) => outcome === 'rate-limited');
  assert.deepEqual([line.status, line.reason, line.method], [429, 'rate:fair', 'tools/call']);
});

test('F57: a legacy client too, in its session and at initialize, though it asks for an event stream', async (t) => {
  const gateway = await limited(t, [{ max: 2 }]);
  await using session = await openSession(gateway.url);
  assert.equal(await session.tool('echo', { text: 'a' }), 'a');
  const headers = { accept: 'text/event-stream, application/json;q=0.1' };
  const answer = await session.start('tools/call', { name: 'echo' }, { id: '9', headers }).answer;
  assert.equal(answer.status, 429);
  assert.ok(Number(answer.headers['retry-after']) > 0);
  const { id, error } = await answer.json();
  assert.deepEqual([id, error?.code], [9, 4290]);
  await using other = new RawClient(gateway.url);
  const params = { protocolVersion: '2025-11-25', capabilities: {} };
  const refused = await other.send({ body: requestText('"i"', 'initialize', params) });
  assert.deepEqual([refused.status, refused.headers['mcp-session-id']], [429, undefined]);
  assert.deepEqual([(await refused.json()).id, (await gateway.status()).sessions], ['i', 1]);
});

test('F57: of an array each member pays for itself, and is told for itself', async (t) => {
  const gateway = await limited(t, [{ max: 3 }]);
  await using session = await openSession(gateway.url, { version: '2025-03-26' });
  const call = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'echo', arguments: {} },
  });
  const answer = await session.say([call(1), { ...call(5), method: 'ping' }, call(2), call(3)]);
  const codes = (await answer.messages()).map((message) => [message.id, said(message)]);
  assert.deepEqual(codes.sort(), [
    [1, 'ok'],
    [2, 'ok'],
    [3, 4290],
    [5, 'ok'],
  ]);
});

test('F57: nothing is charged but requests', async (t) => {
  const gateway = await limited(t, [{ max: 3 }]);
  await using session = await openSession(gateway.url);
  for (let n = 0; n < 10; n += 1) {
    assert.equal(said(await session.ask('ping')), 'ok');
    assert.equal(await session.notify('notifications/cancelled', { requestId: 99 }), 202);
    assert.equal(await session.respond(77, { result: {} }), 202);
    const opening = session.begin({ method: 'GET', headers: session.headers });
    assert.equal((await opening.answer).status, 200);
    opening.abort();
  }
  assert.deepEqual(await tally(3, () => session.ask('tools/list')), { ok: 2, 4290: 1 });
  assert.equal(await session.delete(), 204);
});

test('F57: lists cost less than calls, where a limit says so', async (t) => {
  const gateway = await limited(t, [{ max: 10, cost: { call: 5, list: 1 } }]);
  await using client = new ModernClient(gateway.url);
  assert.deepEqual(await tally(1, () => client.ask('tools/call', { name: 'echo', arguments: {} })), {
    ok: 1,
  });
  assert.deepEqual(await tally(2, () => client.ask('server/discover')), { ok: 2 });
  assert.deepEqual(await tally(2, () => client.ask('tools/list')), { ok: 2 });
  assert.deepEqual(await tally(1, () => client.ask('tools/call', { name: 'echo', arguments: {} })), {
    4290: 1,
  });
  assert.deepEqual(await tally(2, () => client.ask('prompts/list')), { ok: 1, 4290: 1 });
});

test('limits by tool and by server concern those alone, whoever calls', async (t) => {
  const gateway = await limited(
    t,
    [
      { name: 'tool', key: ['tool'], match: 'faulty/echo', max: 1 },
      { name: 'server', key: ['server'], max: 4 },
    ],
    { auth: TWO_CALLERS },
  );
  await using alice = new ModernClient(gateway.url, ALICE);
  await using bob = new ModernClient(gateway.url, BOB);
  assert.equal(said(await alice.ask('tools/call', { name: 'echo', arguments: {} })), 'ok');
  assert.equal(said(await bob.ask('tools/call', { name: 'echo', arguments: {} })), 4290);
  assert.equal(said(await bob.ask('tools/call', { name: 'wait', arguments: { ms: 1 } })), 'ok');
  assert.deepEqual(await tally(3, () => alice.ask('tools/list')), { ok: 2, 4290: 1 });
});

test('what is hidden is not counted among the uses of it', async (t) => {
  const access = {
    rules: [
      { name: 'alice', when: audience('alice'), allow: ['*'], deny: [], if: undefined },
      { name: 'bob', when: audience('bob'), allow: ['faulty/wait'], deny: [], if: undefined },
    ],
    scopes: {},
    scopeImplies: {},
  };
  const gateway = await limited(t, [{ key: ['tool'], match: 'faulty/echo', max: 1 }], {
    auth: TWO_CALLERS,
    access,
  });
  await using alice = new ModernClient(gateway.url, ALICE);
  await using bob = new ModernClient(gateway.url, BOB);
  assert.deepEqual(await tally(3, () => bob.ask('tools/call', { name: 'echo', arguments: {} })), {
    '-32602': 3,
  });
  assert.equal(said(await alice.ask('tools/call', { name: 'echo', arguments: {} })), 'ok');
  assert.equal(said(await alice.ask('tools/call', { name: 'echo', arguments: {} })), 4290);
});

test('F57: 30 clients of one caller at once leave another their share, and their place', async (t) => {
  const gateway = await limited(t, [{ max: 20 }, { name: 'busy', max: undefined, inFlight: 5 }], {
    auth: TWO_CALLERS,
  });
  const places = 5 * PROCESSES;
  const clients = Array.from({ length: 30 }, () => new ModernClient(gateway.url, ALICE));
  const calls = clients.map((client) => client.start('tools/call', { name: 'never', arguments: {} }));
  const statuses: number[] = [];
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  for (const { answer } of calls) {
    void answer.then(({ status }) => statuses.push(status) === 30 - places && resolve()).catch(() => {});
  }
  await answered;
  assert.deepEqual(new Set(statuses), new Set([429]));
  await using bob = new ModernClient(gateway.url, BOB);
  assert.equal(await bob.tool('echo', { text: 'mine' }), 'mine');
  // Those who found no place have paid nothing.
  for (const call of calls) call.abort();
  await using alice = new ModernClient(gateway.url, ALICE);
  let listed = 0;
  await eventually('the share is used up', async () => {
    if (said(await alice.ask('tools/list')) === 'ok') listed += 1;
    return gateway.logs.findLast(isRefusal)?.reason === 'rate:fair';
  });
  assert.equal(listed, 20 - places);
  for (const client of clients) await client[Symbol.asyncDispose]();
});

test('a place is free again when its call ends, however it ends', async (t) => {
  const gateway = await limited(t, [{ max: undefined, inFlight: 1 }]);
  await using client = new ModernClient(gateway.url);
  for (let n = 0; n < 3; n += 1) {
    assert.equal(said(await client.ask('tools/call', { name: 'no-such-tool', arguments: {} })), -32602);
    const abandoned = client.start('tools/call', { name: 'never', arguments: {} });
    await eventually('it runs', async () => said(await client.ask('tools/list')) === 4290);
    abandoned.abort();
    await eventually('its place is free', async () => said(await client.ask('tools/list')) === 'ok');
  }
  assert.equal(await client.tool('echo', { text: 'free' }), 'free');
});

test('a legacy call keeps its place when its connection breaks, since it runs on', async (t) => {
  const gateway = await limited(t, [{ max: undefined, inFlight: 1 }]);
  await using session = await openSession(gateway.url);
  // One for each process that counts.
  const broken = Array.from({ length: PROCESSES }, (_, id) =>
    session.start('tools/call', { name: 'never', arguments: {} }, { id: `"gone ${id}"` }),
  );
  await eventually('all run', async () => (await gateway.status()).servers.faulty?.inFlight === PROCESSES);
  const lists = () => tally(PROCESSES, () => session.ask('tools/list'));
  assert.deepEqual(await lists(), { 4290: PROCESSES });
  for (const call of broken) {
    call.abort();
    await call.closed;
  }
  assert.deepEqual(await lists(), { 4290: PROCESSES });
  for (const id of broken.keys()) {
    await session.notify('notifications/cancelled', { requestId: `gone ${id}` });
  }
  await eventually('their places are free', async () => (await lists()).ok === PROCESSES);
});

test('F57: a call that asks something is paid for once, a state brought back twice is not free', async (t) => {
  const gateway = await limited(t, [{ max: 2 }], { era: 'modern' });
  await using client = new ModernClient(gateway.url, { capabilities: { elicitation: {} } });
  const call = { name: 'ask', arguments: {} };
  const { requestState = '' } = (await client.ask('tools/call', call)).result ?? {};
  const retry = {
    ...call,
    requestState,
    inputResponses: { q: { action: 'accept', content: { name: 'Ada' } } },
  };
  assert.equal(said(await client.ask('tools/call', retry)), 'ok');
  assert.equal(said(await client.ask('tools/call', retry)), 'ok', 'the second one is charged');
  assert.equal(said(await client.ask('tools/call', retry)), 4290);
  assert.equal(said(await client.ask('tools/call', { ...call, requestState: 'invented' })), 4290);
});

test('F57: the same across the eras, where the call waits for its client', async (t) => {
  const gateway = await limited(t, [{ max: 1, inFlight: 1 }], { isolation: 'auto' });
  await using client = new ModernClient(gateway.url, { capabilities: { elicitation: {} } });
  const params = { mode: 'form', message: 'well?', requestedSchema: { type: 'object', properties: {} } };
  const call = { name: 'ask', arguments: { method: 'elicitation/create', params } };
  const asked = (await client.ask('tools/call', call)).result ?? {};
  assert.equal(asked.resultType, 'input_required', JSON.stringify(asked));
  const [key = ''] = Object.keys(asked.inputRequests as object);
  const inputResponses = { [key]: { action: 'accept', content: {} } };
  const retry = { ...call, requestState: asked.requestState, inputResponses };
  assert.equal(said(await client.ask('tools/call', retry)), 'ok');
  assert.equal(said(await client.ask('tools/list')), 4290);
});

test('F57: 500 callers behind one address get their share each, over the wire', async (t) => {
  const people = Array.from({ length: 500 }, (_, n) => `key-of-person-${n}`);
  const apiKeys = people.map((key, n) => ({
    name: `person-${n}`,
    sha256: createHash('sha256').update(key).digest('hex'),
    scopes: [],
    groups: [],
  }));
  const auth = { issuers: [], apiKeys, scopesSupported: [], requiredScopes: [] };
  const gateway = await limited(t, [{ max: 1 }, { name: 'guard', key: ['ip'], max: 5_000 }], { auth });
  await using client = new ModernClient(gateway.url, { keepAlive: true });
  const words = new Map<string, number>();
  for (let round = 0; round < 2; round += 1) {
    for (const key of people) {
      const word = said(
        await client.ask('server/discover', {}, { headers: { authorization: `Bearer ${key}` } }),
      );
      words.set(`${round} ${word}`, (words.get(`${round} ${word}`) ?? 0) + 1);
    }
  }
  assert.deepEqual(Object.fromEntries(words), { '0 ok': 500, '1 4290': 500 });
});

test('the guard by address counts everything that arrives, and is told before anybody signs in', async (t) => {
  const gateway = await limited(t, [{ name: 'guard', key: ['ip'], max: 3 }], { auth: TWO_CALLERS });
  await using client = new ModernClient(gateway.url, ALICE);
  assert.equal(said(await client.ask('tools/list')), 'ok');
  await using session = new RawSession(gateway.url, ALICE);
  assert.equal(await session.notify('notifications/initialized'), 400);
  await using stranger = new ModernClient(gateway.url);
  assert.equal(said(await stranger.ask('tools/list')), 4010);
  assert.equal(said(await stranger.ask('tools/list')), 4290);
  const line = await gateway.logged(({ outcome }) => outcome === 'rate-limited');
  assert.equal(line.reason, 'rate:guard');
});

function isRefusal({ outcome }: LogLine): boolean {
  return outcome === 'rate-limited';
}

function audience(subject: string) {
  return { groups: [], scopes: [], subjects: [subject], clients: [], issuers: [] };
}
