// What is handed over is not handed on: a replica that does not have the session says so, and nothing of it is done.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { ANONYMOUS } from '../../src/access/principal.ts';
import { ReplicaClient } from '../../src/replicas/replica-client.ts';
import { replicaKeys } from '../../src/replicas/replica-keys.ts';
import type { ForwardedExchange, LiveReplica, ReplyFrame } from '../../src/replicas/replicas.ts';
import { BufferBudget } from '../../src/state/buffer-budget.ts';
import { openSession, type RawSession, requestText } from '../support/raw-session.ts';
import { type ReplicaPair, startPair } from '../support/replica-pair.ts';
import { REPLICA_SECRET } from '../support/replicas-wanted.ts';

const STDIO = { stdio: { switches: ['--era=legacy'] } } as const;

/** Both replicas, by their places. */
async function replicasOf({ service }: ReplicaPair): Promise<LiveReplica[]> {
  return Promise.all(
    service.replicas.map(async ({ adminUrl }) => {
      const { replicas } = (await (await fetch(`${adminUrl}/status`)).json()) as { replicas: LiveReplica[] };
      const own = replicas.find(({ self }) => self);
      assert.ok(own);
      return own;
    }),
  );
}

/** Hands messages over as a third replica would. */
function thirdReplica(t: TestContext) {
  const client = new ReplicaClient({
    self: 'third',
    keys: replicaKeys(REPLICA_SECRET),
    budget: new BufferBudget(1024 * 1024),
    maxFrameBytes: () => 1024 * 1024,
  });
  t.after(() => client.close());
  return async (to: LiveReplica, sent: Partial<ForwardedExchange>): Promise<ReplyFrame[]> => {
    const exchange: ForwardedExchange = {
      kind: 'permitted',
      id: randomUUID(),
      httpMethod: 'POST',
      view: undefined,
      headers: { accept: 'application/json, text/event-stream' },
      principal: ANONYMOUS,
      address: '127.0.0.1',
      body: Buffer.alloc(0),
      ...sent,
    };
    const frames: ReplyFrame[] = [];
    const signal = AbortSignal.timeout(10_000);
    for await (const frame of await client.forward(to, exchange, signal)) frames.push(frame);
    return frames;
  };
}

const SENT: readonly (readonly [string, (session: RawSession) => Partial<ForwardedExchange>])[] = [
  [
    'a request',
    () => ({ body: Buffer.from(requestText('1', 'tools/call', { name: 'echo', arguments: {} })) }),
  ],
  [
    'an undecided request',
    () => ({ kind: 'undecided', body: Buffer.from(requestText('1', 'tools/list', {})) }),
  ],
  ['a notification', () => ({ body: Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}') })],
  ['an answer', () => ({ body: Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}') })],
  ['a GET', () => ({ httpMethod: 'GET', headers: { accept: 'text/event-stream' } })],
  ['a DELETE', () => ({ httpMethod: 'DELETE' })],
];

test('a session that lives elsewhere is none to whom it is handed over, and lives on', async (t) => {
  const pair = await startPair(t, STDIO);
  const hand = thirdReplica(t);
  const [home, other] = await replicasOf(pair);
  assert.ok(home && other);
  await using session = await openSession(pair.a);
  assert.equal(await session.tool('echo', { text: 'x' }), 'x');
  for (const [what, sentIn] of SENT) {
    const { headers = {}, ...sent } = sentIn(session);
    const frames = await hand(other, { ...sent, headers: { ...headers, ...session.headers } });
    const fail = frames.flatMap((frame) => ('fail' in frame ? [frame.fail] : []));
    assert.deepEqual(
      fail.map(({ code, details }) => [code, details.reason]),
      [['session-unknown', 'session_moved']],
      what,
    );
  }
  const [live] = await hand(home, {
    body: Buffer.from(requestText('1', 'ping', {})),
    headers: { accept: 'application/json', ...session.headers },
  });
  assert.ok(live && 'respond' in live, 'at its home it is there');
});

test("a session of somebody else's is an unknown one to whom it is handed over, too", async (t) => {
  const pair = await startPair(t, STDIO);
  const hand = thirdReplica(t);
  const [home] = await replicasOf(pair);
  assert.ok(home);
  await using session = await openSession(pair.a);
  const principal = { ...ANONYMOUS, issuer: 'https://idp.example', subject: 'mallory' };
  const frames = await hand(home, {
    principal,
    body: Buffer.from(requestText('1', 'ping', {})),
    headers: { accept: 'application/json', ...session.headers },
  });
  const [fail] = frames.flatMap((frame) => ('fail' in frame ? [frame.fail] : []));
  assert.deepEqual([fail?.code, fail?.details.reason], ['session-unknown', undefined]);
});

test('word that the client of an exchange has left is taken where there is none by now', async (t) => {
  const pair = await startPair(t, STDIO);
  const hand = thirdReplica(t);
  const [home] = await replicasOf(pair);
  assert.ok(home);
  const frames = await hand(home, { kind: 'left', id: 'no such exchange' });
  assert.deepEqual(frames[0], { accept: 202 });
});

test('what is not from a replica is counted, and told of once', async (t) => {
  const pair = await startPair(t, STDIO);
  const [home] = await replicasOf(pair);
  for (let count = 0; count < 3; count += 1) {
    const answer = await fetch(`${home?.url}/exchange`, { method: 'POST', body: '{}' });
    assert.equal(answer.status, 403);
    await answer.text();
  }
  const scrape = await (await fetch(`${pair.service.replicas[0]?.adminUrl}/metrics`)).text();
  assert.match(scrape, /^portico_replica_refusals_total\{reason="request"\} 3$/m);
  const told = pair.service.logs.filter(({ msg }) => String(msg).includes('listener for replicas'));
  assert.deepEqual(
    told.map(({ reason }) => reason),
    ['request'],
  );
});
