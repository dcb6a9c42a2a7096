// F24: the streams that one caller may hold open, and nobody else's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RawAnswer } from '../support/raw-answer.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { startSeveral } from '../support/several-servers.ts';
import { startGateway } from '../support/start-gateway.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../support/two-callers.ts';

const LISTEN = { notifications: { toolsListChanged: true } };

async function assertRefused(answer: RawAnswer): Promise<void> {
  assert.deepEqual([answer.status, answer.headers['retry-after']], [503, '10']);
  const { error } = await answer.json();
  assert.equal(error?.code, 5030);
  assert.doesNotMatch(error?.message ?? '', /\d/, 'no counts');
}

test('F24: one stream too many of one caller is refused, of either kind; one that ends makes room', async () => {
  await using gateway = await startGateway({
    stdio: { switches: ['--era=modern'] },
    gateway: { auth: TWO_CALLERS, streams: { maxPerPrincipal: 3 } },
    secrets: KEYS,
  });
  await using alice = new ModernClient(gateway.url, ALICE);
  await using session = await openSession(gateway.url, ALICE);
  await using second = await openSession(gateway.url, ALICE);
  await using bob = new ModernClient(gateway.url, BOB);
  const listens = [1, 2].map((id) => alice.start('subscriptions/listen', LISTEN, { id: String(id) }));
  for (const listen of listens) assert.ok(await (await listen.answer).message());
  assert.equal((await session.listen()).status, 200);

  await assertRefused(await alice.start('subscriptions/listen', LISTEN).answer);
  await assertRefused(await second.listen());
  const other = await bob.start('subscriptions/listen', LISTEN).answer;
  assert.ok(await other.message(), 'another caller has streams of their own');
  assert.equal(await alice.tool('echo', { text: 'calls are no such streams' }), 'calls are no such streams');

  listens[0]?.abort();
  for (let answer = await second.listen(); ; answer = await second.listen()) {
    if (answer.status === 200) break;
    await answer.text();
  }
});

test('F24: subscriptions on a view of several servers count like any other, and make room when they end', async (t) => {
  const { gateway } = await startSeveral(t, {
    servers: { a: 'modern', b: 'legacy' },
    gateway: { streams: { maxPerPrincipal: 2 } },
  });
  await using client = new ModernClient(gateway.url);
  const listen = (url: string, id: string) => client.start('subscriptions/listen', LISTEN, { id, url });
  const open = [listen(gateway.url, '1'), listen(`${gateway.url}/a`, '2')];
  for (const stream of open) assert.ok(await (await stream.answer).message());
  await assertRefused(await listen(gateway.url, '3').answer);
  open[0]?.abort();
  for (let answer = await listen(gateway.url, '4').answer; ; answer = await listen(gateway.url, '4').answer) {
    if (answer.status === 200) break;
    await answer.text();
  }
});
