// Log lines across the eras: levels kept where they belong, lines where they were asked for, never with another caller.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { legacyHttpBehind } from '../../support/legacy-http.ts';
import type { Members, Message, RawExchange } from '../../support/raw-client.ts';
import { ModernClient, openSession, type RawSession } from '../../support/raw-session.ts';
import { type StartedGateway, startGateway } from '../../support/start-gateway.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../../support/two-callers.ts';

const LEVEL = 'io.modelcontextprotocol/logLevel';

async function stdioBehind(
  t: TestContext,
  era: string,
  isolation: 'auto' | 'shared' = 'auto',
): Promise<StartedGateway> {
  const gateway = await startGateway({
    stdio: { switches: [`--era=${era}`], isolation },
    gateway: { auth: TWO_CALLERS },
    secrets: KEYS,
  });
  t.after(() => gateway.close());
  return gateway;
}

/** What came ahead of the answer to a call that logs one line. */
async function linesOf(client: ModernClient | RawSession, data: string, meta?: Members): Promise<unknown[]> {
  const options = meta === undefined ? {} : { meta };
  const call = client.start('tools/call', { name: 'log', arguments: { data } }, options);
  return dataOf((await (await call.answer).whole()).before);
}

function dataOf(messages: readonly Message[]): unknown[] {
  return messages
    .filter(({ method }) => method === 'notifications/message')
    .map(({ params }) => params?.data);
}

function levelIn(params: Members = {}): unknown {
  return (params._meta as Members)[LEVEL];
}

/** Asks the child itself until it has had that. */
async function untilReceived(client: ModernClient | RawSession, text: string): Promise<void> {
  while (!(await client.tool('received')).includes(text)) await new Promise(setImmediate);
}

async function begun(client: ModernClient, tool: string, args: Members, meta: Members): Promise<RawExchange> {
  return client.start('tools/call', { name: tool, arguments: args }, { meta });
}

test('A: each session has its own level, and without one nothing is asked of the server', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern' });
  await using quiet = await openSession(gateway.url);
  await using loud = await openSession(gateway.url);
  assert.deepEqual((await loud.ask('logging/setLevel', { level: 'debug' })).result, {});
  await linesOf(quiet, 'x');
  await linesOf(loud, 'y');
  await loud.ask('logging/setLevel', { level: 'error' });
  await linesOf(loud, 'z');
  const levels = server.requests('tools/call').map(({ message }) => levelIn(message?.params));
  assert.deepEqual(levels, [undefined, 'debug', 'error']);
});

test('A: a level that is none is refused, and the one before stays', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern' });
  await using session = await openSession(gateway.url);
  await session.ask('logging/setLevel', { level: 'debug' });
  for (const level of ['loud', 7, undefined]) {
    assert.equal((await session.ask('logging/setLevel', { level })).error?.code, -32602);
  }
  await linesOf(session, 'x');
  assert.equal(levelIn(server.requests('tools/call')[0]?.message?.params), 'debug');
});

test('A: a server that does not log is no server to set a level of', async (t) => {
  const { gateway } = await legacyHttpBehind(t, { era: 'modern', persona: { capabilities: { tools: {} } } });
  await using session = await openSession(gateway.url);
  assert.equal((await session.ask('logging/setLevel', { level: 'debug' })).error?.code, -32601);
});

test("on a modern pipe that everybody shares nobody reads another's lines", async (t) => {
  const gateway = await stdioBehind(t, 'modern');
  await using alice = new ModernClient(gateway.url, ALICE);
  await using bob = await openSession(gateway.url, BOB);
  const meta = { [LEVEL]: 'debug' };
  await bob.ask('logging/setLevel', { level: 'debug' });
  assert.deepEqual(await linesOf(alice, 'of alice', meta), ['of alice']);
  assert.deepEqual(await linesOf(bob, 'of bob'), ['of bob']);
  // While alice has the lane, bob's call goes without a level; the child's lines are hers.
  const waiting = await begun(alice, 'wait', { ms: 300 }, meta);
  await untilReceived(bob, '"wait"');
  assert.deepEqual(await linesOf(bob, 'while alice waits'), []);
  await (await waiting.answer).whole();
  // A call that was given up may go on talking: from then on the lane is alice's.
  const given = await begun(alice, 'never', {}, { ...meta, progressToken: 1 });
  await untilReceived(bob, '"never"');
  given.abort();
  await untilReceived(bob, 'notifications/cancelled');
  assert.deepEqual(await linesOf(bob, 'after alice left'), []);
  assert.deepEqual(await linesOf(alice, 'again', meta), ['again']);
});

test('B: a modern call at a legacy child hears its lines, and only from its level on', async (t) => {
  const gateway = await stdioBehind(t, 'legacy');
  await using client = new ModernClient(gateway.url, ALICE);
  assert.deepEqual(await linesOf(client, 'x', { [LEVEL]: 'info' }), ['x']);
  assert.deepEqual(await linesOf(client, 'x', { [LEVEL]: 'warning' }), []);
  assert.deepEqual(await linesOf(client, 'x'), []);
  const frames = JSON.parse(await client.tool('received')) as Message[];
  const levels = frames
    .filter(({ method }) => method === 'logging/setLevel')
    .map(({ params }) => params?.level);
  assert.deepEqual(levels, ['info', 'warning']);
});

test("B: with two calls of one caller in flight, a line of the pipe is neither's", async (t) => {
  const gateway = await stdioBehind(t, 'legacy');
  await using client = new ModernClient(gateway.url, ALICE);
  const meta = { [LEVEL]: 'debug' };
  const other = await begun(client, 'wait', { ms: 500 }, {});
  await untilReceived(client, '"wait"');
  assert.deepEqual(await linesOf(client, 'whose?', meta), []);
  await (await other.answer).whole();
  assert.deepEqual(await linesOf(client, 'mine', meta), ['mine']);
});

test('B: over HTTP the stream says whose line it is, however many calls there are', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  await using client = new ModernClient(gateway.url);
  const meta = { [LEVEL]: 'debug' };
  const other = await begun(client, 'never', {}, meta);
  assert.deepEqual(await linesOf(client, 'mine', meta), ['mine']);
  other.abort();
});

test('B: on a legacy child that everybody shares, lines of its pipe reach nobody', async (t) => {
  const gateway = await stdioBehind(t, 'legacy', 'shared');
  await using alice = new ModernClient(gateway.url, ALICE);
  await using bob = await openSession(gateway.url, BOB);
  await bob.ask('logging/setLevel', { level: 'debug' });
  assert.deepEqual(await linesOf(alice, 'x', { [LEVEL]: 'debug' }), []);
  assert.deepEqual(await linesOf(bob, 'y'), []);
});
