// What is counted, refused and put on record of a request that makes a hop: once, and where its client is.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { LimitConfig } from '../../src/config/limits-config.ts';
import { eventually } from '../support/eventually.ts';
import { EVERYTHING_FOR_EVERYONE } from '../support/gateway-config.ts';
import { openSession, type RawSession, requestText, through } from '../support/raw-session.ts';
import { type ReplicaPair, startPair } from '../support/replica-pair.ts';
import { ALICE, KEYS, TWO_CALLERS } from '../support/two-callers.ts';

const STDIO = { stdio: { switches: ['--era=legacy'] } } as const;
const KEY = 'a key that only the operator has';

interface Audited extends ReplicaPair {
  /** The calls on record, by the replica that wrote them, once there are so many. */
  calls(count: number): Promise<{ readonly by: 'a' | 'b'; readonly record: Record<string, unknown> }[]>;
}

const echoText = (id: number) =>
  requestText(String(id), 'tools/call', { name: 'echo', arguments: { text: `${id}` } });

async function startAudited(t: TestContext): Promise<Audited> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-audit-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const pathOf = (index: number) => join(folder, `${index}.jsonl`);
  const pair = await startPair(t, {
    ...STDIO,
    seat: (config, index) => ({
      ...config,
      audit: { path: pathOf(index), key: KEY, arguments: 'full', onFailure: 'refuse', maxBytes: 0 },
    }),
  });
  const callsOf = async (by: 'a' | 'b', index: number) =>
    (await readFile(pathOf(index), 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => ({ by, record: JSON.parse(line) as Record<string, unknown> }))
      .filter(({ record }) => record.kind === 'call');
  const all = async () => [...(await callsOf('a', 0)), ...(await callsOf('b', 1))];
  return {
    ...pair,
    async calls(count) {
      await eventually(`${count} calls on record`, async () => (await all()).length >= count);
      return all();
    },
  };
}

test('a call that makes a hop is on record once, by the replica that its client reached, with what came of it', async (t) => {
  const { a, b, calls } = await startAudited(t);
  await using session = await openSession(a);
  await using other = through(b, session);
  assert.equal(await other.tool('echo', { text: 'x' }), 'x');
  const error = await other.ask('tools/call', { name: 'protocol-error', arguments: { code: 77 } });
  assert.equal(error.error?.code, 77);
  const [echo, failed, ...more] = await calls(2);
  assert.deepEqual(more, []);
  const record = echo?.record ?? {};
  assert.deepEqual(
    [echo?.by, record.outcome, record.server, record.target, record.method, record.era, record.isError],
    ['b', 'ok', 'faulty', 'echo', 'tools/call', 'legacy', false],
  );
  assert.deepEqual([record.clientInfo, record.version], [{ name: 'raw', version: '1' }, '2025-11-25']);
  assert.ok(Number(record.upstreamMs) > 0 && Number(record.answerBytes) > 10);
  assert.equal(typeof record.session, 'string');
  assert.deepEqual([failed?.by, failed?.record.outcome], ['b', 'error']);
});

test('a call whose client leaves goes on over there, and what came of it is on record, once', async (t) => {
  const { a, b, calls } = await startAudited(t);
  await using session = await openSession(a);
  await using other = through(b, session);
  const exchange = other.start('tools/call', { name: 'wait', arguments: { ms: 1_500 } }, { id: '"left"' });
  const answer = await exchange.answer;
  const priming = await answer.event();
  assert.ok(priming?.id);
  exchange.abort();
  await exchange.closed;
  const messages = await (await session.listen(priming.id)).messages();
  assert.deepEqual(
    messages.map(({ id }) => id),
    ['left'],
  );
  const [call, ...more] = await calls(1);
  assert.deepEqual([call?.by, call?.record.outcome, call?.record.target], ['b', 'ok', 'wait']);
  assert.deepEqual(more, []);
});

test('each member of an array is on record once, by the replica that took it apart', async (t) => {
  const { a, b, calls } = await startAudited(t);
  await using session = await openSession(a, { version: '2025-03-26' });
  await using other = through(b, session);
  const answer = await other.say(`[${echoText(1)},${echoText(2)}]`);
  const answered = (await answer.messages()).map(({ id }) => id).sort();
  assert.deepEqual(answered, [1, 2]);
  const all = await calls(2);
  assert.deepEqual(
    all.map(({ by, record }) => [by, record.outcome]),
    [
      ['a', 'ok'],
      ['a', 'ok'],
    ],
  );
});

test('one line for one exchange: the hop is told to whoever debugs', async (t) => {
  const { a, b, service } = await startPair(t, STDIO);
  await using session = await openSession(a);
  await using other = through(b, session);
  await other.tool('echo', { text: 'x' });
  const line = await service.logged(({ msg, target }) => msg === 'exchange' && target === 'echo');
  assert.deepEqual([line.outcome, line.server, line.status], ['ok', 'faulty', 200]);
  assert.ok(Number(line.upstreamMs) > 0);
  const hop = await service.logged(
    ({ msg, exchange }) => msg === 'forwarded exchange' && exchange === line.exchange,
  );
  assert.equal(hop.level, 20);
  const lines = service.logs.filter(({ msg, exchange }) => msg === 'exchange' && exchange === line.exchange);
  assert.equal(lines.length, 1);
});

const LIMIT: LimitConfig = {
  name: 'few',
  key: ['principal'],
  match: 'faulty/echo',
  max: 3,
  windowMs: 60_000,
  cost: undefined,
  lease: undefined,
  inFlight: undefined,
};

test('F57: a call that makes a hop is charged once', async (t) => {
  const { a, b } = await startPair(t, { ...STDIO, gateway: { limits: [LIMIT] } });
  await using session = await openSession(a);
  await using other = through(b, session);
  assert.equal(await other.tool('echo', { text: '1' }), '1');
  assert.equal(await session.tool('echo', { text: '2' }), '2');
  assert.equal(await other.tool('echo', { text: '3' }), '3');
  for (const one of [session, other]) await assertRefused(one);
});

test('F57: so is each member of an array, by the replica that took it apart', async (t) => {
  const { a, b } = await startPair(t, { ...STDIO, gateway: { limits: [LIMIT] } });
  await using session = await openSession(a, { version: '2025-03-26' });
  await using other = through(b, session);
  const answer = await other.say(`[${echoText(1)},${echoText(2)}]`);
  assert.equal((await answer.messages()).length, 2);
  assert.equal(await other.tool('echo', { text: '3' }), '3');
  for (const one of [session, other]) await assertRefused(one);
});

async function assertRefused(session: RawSession): Promise<void> {
  const refused = await session.send({ body: echoText(9), headers: session.headers });
  assert.equal(refused.status, 429);
  await refused.text();
}

test('F50: who lacks a scope is told so where they ask, and nothing is done where the session lives', async (t) => {
  const gateway = {
    auth: TWO_CALLERS,
    access: { ...EVERYTHING_FOR_EVERYONE, scopes: { 'faulty/echo': ['admin'] } },
  };
  const { a, b, service } = await startPair(t, { ...STDIO, gateway, secrets: KEYS });
  await using session = await openSession(a, ALICE);
  await using other = through(b, session, ALICE);
  const body = requestText('1', 'tools/call', { name: 'echo', arguments: { text: 'x' } });
  const answer = await other.send({ body, headers: other.headers });
  assert.equal(answer.status, 403);
  assert.match(String(answer.headers['www-authenticate']), /insufficient_scope/);
  assert.match(String(answer.headers['www-authenticate']), /scope="mcp admin"/);
  assert.equal((await answer.json()).error?.code, 4030);
  const hops = service.logs.filter(({ msg, target }) => msg === 'forwarded exchange' && target === 'echo');
  assert.deepEqual(hops, []);
});
