// Who shares a child with whom (F32).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StdioServerConfig } from '../../src/config/config.ts';
import type { Message } from '../support/raw-client.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { LIST_LINKS, PROCESSES } from '../support/replicas-wanted.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../support/two-callers.ts';

async function twoCallers(
  t: TestContext,
  era: string,
  changes: Partial<StdioServerConfig> = {},
): Promise<StartedGateway> {
  const gateway = await startGateway({
    stdio: { switches: [`--era=${era}`], ...changes },
    gateway: { auth: TWO_CALLERS },
    secrets: KEYS,
  });
  t.after(() => gateway.close());
  return gateway;
}

type Caller = ModernClient | RawSession;
const childOf = async (caller: Caller) =>
  (JSON.parse(await caller.tool('environment')) as { pid: number }).pid;
const receivedBy = async (caller: Caller) => JSON.parse(await caller.tool('received')) as Message[];

/** Of each principal: two sessions and two modern clients. */
async function everyone({ url }: StartedGateway): Promise<Record<'alice' | 'bob', number[]>> {
  const pids = { alice: [] as number[], bob: [] as number[] };
  for (const [name, options] of [
    ['alice', ALICE],
    ['bob', BOB],
  ] as const) {
    const callers: Caller[] = [
      await openSession(url, options),
      await openSession(url, options),
      new ModernClient(url, options),
      new ModernClient(url, options),
    ];
    for (const caller of callers) pids[name].push(await childOf(caller));
  }
  return pids;
}

const distinct = (...pids: number[][]) => new Set(pids.flat()).size;

test('a modern child is everyone’s, unless the config says otherwise', async (t) => {
  const { alice, bob } = await everyone(await twoCallers(t, 'modern'));
  assert.equal(distinct(alice, bob), LIST_LINKS);
});

test('a legacy child belongs to one session, or to one principal of the modern era', async (t) => {
  const { alice, bob } = await everyone(await twoCallers(t, 'legacy'));
  const [first, second, third, fourth] = alice;
  assert.equal(new Set([first, second, third]).size, 3);
  assert.equal(third, fourth);
  assert.equal(distinct(alice, bob), 6);
});

for (const era of ['legacy', 'modern']) {
  test(`isolation: shared means one ${era} child for all`, async (t) => {
    const gateway = await twoCallers(t, era, { isolation: 'shared' });
    const { alice, bob } = await everyone(gateway);
    assert.equal(distinct(alice, bob), LIST_LINKS);
    assert.equal(gateway.children().length, LIST_LINKS);
  });

  test(`isolation: principal never mixes principals on a ${era} child`, async (t) => {
    const { alice, bob } = await everyone(await twoCallers(t, era, { isolation: 'principal' }));
    assert.equal(distinct(alice.slice(0, 2)), 1, 'the sessions of one principal share');
    assert.equal(distinct(alice.slice(2)), 1);
    assert.equal(distinct(alice) + distinct(bob), distinct(alice, bob));
  });
}

test('F32: what one session did, another does not see: neither in calls nor in lists', async (t) => {
  const gateway = await twoCallers(t, 'legacy');
  await using one = await openSession(gateway.url, ALICE);
  await using other = await openSession(gateway.url, ALICE);
  await one.tool('echo', { text: 'secret of one' });
  assert.ok(!JSON.stringify(await receivedBy(other)).includes('secret of one'));
  // From its first call on, a session's own child gives it its lists.
  await one.ask('tools/list', {}, { meta: { mark: 'of one' } });
  assert.ok(JSON.stringify(await receivedBy(one)).includes('of one'));
  assert.ok(!JSON.stringify(await receivedBy(other)).includes('of one'));
});

test('F23: on a shared legacy child nobody declares anything, and nobody is asked', async (t) => {
  const gateway = await twoCallers(t, 'legacy', { isolation: 'shared' });
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  await using session = await openSession(gateway.url, { ...ALICE, capabilities });
  const asked = await session.ask('tools/call', {
    name: 'ask',
    arguments: { method: 'sampling/createMessage' },
  });
  assert.match(JSON.stringify(asked.result), /-32601/);
  const initialize = (await receivedBy(session)).find(({ method }) => method === 'initialize');
  assert.deepEqual(initialize?.params?.capabilities, {});
});

test('F24: on a shared legacy child, what names nobody reaches nobody, but for list changes', async (t) => {
  const gateway = await twoCallers(t, 'legacy', { isolation: 'shared' });
  const sessions = [await openSession(gateway.url, ALICE), await openSession(gateway.url, BOB)];
  const streams = await Promise.all(sessions.map((session) => session.listen()));
  await sessions[0]?.tool('log', { data: 'a line of alice' });
  await sessions[0]?.tool('list-changed');
  for (const stream of streams) {
    assert.equal((await stream.message())?.method, 'notifications/tools/list_changed');
    stream.abort();
  }
});

test('maxLinks bounds the children: who comes too late is told to come back', async (t) => {
  const gateway = await twoCallers(t, 'legacy', { maxLinks: 2 });
  await using first = await openSession(gateway.url, ALICE);
  await using second = await openSession(gateway.url, BOB);
  assert.ok(await childOf(first));
  const answer = await second.start('tools/call', { name: 'echo', arguments: {} }).answer;
  assert.equal(answer.status, 503);
  assert.match(String(answer.headers['retry-after']), /^\d+$/);
  assert.equal((await answer.json()).error?.code, 5030);
  assert.equal(gateway.children().length, 2);
  await first.delete();
  assert.ok(await childOf(second));
});

test('F04: an unused child of a principal is closed; the one for the lists stays', async (t) => {
  const gateway = await twoCallers(t, 'legacy', { idleTimeoutMs: 200 });
  await using client = new ModernClient(gateway.url, ALICE);
  const child = await childOf(client);
  while (gateway.children().includes(child)) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(gateway.children().length, LIST_LINKS);
  assert.notEqual(await childOf(client), child, 'and started again when it is needed');
});

test('on a shared child one caller’s hundred calls that never end do not starve another’s one', async (t) => {
  const gateway = await twoCallers(t, 'modern', { maxInFlight: 8, queue: { max: 50, timeoutMs: 10_000 } });
  await using alice = new ModernClient(gateway.url, ALICE);
  await using bob = new ModernClient(gateway.url, BOB);
  const calls = Array.from({ length: 100 * PROCESSES }, () =>
    alice.start('tools/call', { name: 'never', arguments: {} }),
  );
  // Those that find the queue full are told at once: from then on the others are all in it.
  await Promise.any(calls.map(async ({ answer }) => assert.equal((await answer).status, 503)));
  assert.equal(await bob.tool('echo', { text: 'me too' }), 'me too');
  for (const call of calls) call.abort();
  await Promise.allSettled(calls.map(({ answer }) => answer));
});
