// Reloads while calls go on all the time: no call is lost, and none is made on rights that are gone.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { accessOf, authOf, keyOf, type RuleText } from '../support/access-rig.ts';
import { httpServerConfig } from '../support/http-server-config.ts';
import { startLibrary } from '../support/library-server.ts';
import type { Message } from '../support/raw-client.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';
import { faultyConfig } from '../support/stdio-rig.ts';

const ROUNDS = 6;
const WORKERS_EACH = 4;
const OPEN: Readonly<Record<string, RuleText>> = { all: { allow: ['*'] } };
const SHUT: Readonly<Record<string, RuleText>> = { all: { allow: ['*'], deny: ['library/write_*'] } };

test('no call is lost, and no stale permission used, while servers and rules come and go', async (t: TestContext) => {
  const library = await startLibrary('modern');
  const steady = httpServerConfig(library.url, { slug: 'library', name: 'library' });
  const changing = (round: number) =>
    faultyConfig(['--era=modern'], { slug: 'changing', name: 'changing', env: { ROUND: String(round) } });
  const passing = httpServerConfig(library.url, { slug: 'passing', name: 'passing' });
  const gateway = await startGateway({
    servers: [steady, changing(0)],
    gateway: { auth: authOf({ ann: {} }), access: accessOf(OPEN), drain: { delayMs: 0, graceMs: 5_000 } },
  });
  t.after(() => gateway.close().finally(() => library[Symbol.asyncDispose]()));
  await using modern = new ModernClient(gateway.url, keyOf('ann'));
  await using session = await openSession(`${gateway.url}/library`, keyOf('ann'));
  let over = false;
  let shut = false;
  const counts = { calls: 0, refused: 0 };

  const call = (slug: string, name: string, args = {}): Promise<Message> =>
    modern.ask('tools/call', { name, arguments: args }, { url: `${gateway.url}/${slug}` });
  const kinds: readonly (() => Promise<void>)[] = [
    async () => assert.ok((await call('library', 'read_book')).result),
    async () => assert.ok((await session.ask('tools/call', { name: 'read_book', arguments: {} })).result),
    async () => assert.ok((await call('changing', 'wait', { ms: 30 })).result),
    async () => {
      const { result, error } = await call('passing', 'read_book');
      assert.ok(result !== undefined || error?.code === 4041, JSON.stringify(error));
    },
    async () => {
      const wasShut = shut;
      const { result, error } = await call('library', 'write_book');
      if (wasShut && shut) assert.equal(result, undefined, 'a right that was gone was used');
      if (result === undefined) assert.equal(error?.code, -32602);
      if (result === undefined) counts.refused += 1;
    },
  ];
  const workers = kinds.flatMap((kind) =>
    Array.from({ length: WORKERS_EACH }, async () => {
      while (!over) {
        await kind();
        counts.calls += 1;
      }
    }),
  );
  const failed = Promise.all(workers);
  failed.catch(() => {
    over = true;
  });
  for (let round = 1; round <= ROUNDS && !over; round += 1) {
    const isShut = round % 2 === 1;
    if (!isShut) shut = false;
    const servers = [steady, changing(round), ...(isShut ? [passing] : [])];
    const outcome = await gateway.reload({ servers, gateway: { access: accessOf(isShut ? SHUT : OPEN) } });
    assert.equal(outcome, 'applied');
    shut = isShut;
    const from = counts.calls;
    while (!over && counts.calls < from + 60) await delay(5);
  }
  over = true;
  await failed;
  assert.ok(counts.refused > 0);
  assert.equal((await gateway.status()).sessions, 1);
});
