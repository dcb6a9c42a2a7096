// Many callers on one child: whatever ids and tokens they choose, each gets its own answer and progress (F21, F22).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Members, Message } from '../support/raw-client.ts';
import { ModernClient, openSession, type RawSession, textOf } from '../support/raw-session.ts';
import { LIST_LINKS } from '../support/replicas-wanted.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

/** One child for everyone, whichever era it is of. */
async function sharedChild(t: TestContext, era: 'legacy' | 'modern'): Promise<StartedGateway> {
  const gateway = await startGateway({
    stdio: { switches: [`--era=${era}`], isolation: 'shared', queue: { max: 2_000, timeoutMs: 30_000 } },
  });
  t.after(() => gateway.close());
  return gateway;
}

type Caller = ModernClient | RawSession;
const callers: readonly [string, (url: string) => Promise<Caller>][] = [
  ['modern', async (url) => new ModernClient(url)],
  ['legacy', (url) => openSession(url)],
];

/** A call to its end: the id as it stood on the wire, and all messages. */
async function call(caller: Caller, name: string, args: Members, id: string, token?: unknown) {
  const meta = token === undefined ? {} : { meta: { progressToken: token } };
  const answer = await caller.start('tools/call', { name, arguments: args }, { id, ...meta }).answer;
  const text = await answer.text();
  const messages = answer.isStream
    ? [...text.matchAll(/^data: ?(.+)$/gm)].map(([, json]) => JSON.parse(json ?? '') as Message)
    : [JSON.parse(text) as Message];
  const last = /"id":([^,]+),"(?:result|error)"/.exec(text)?.[1];
  return { idText: last, messages, progress: messages.filter(({ method }) => method !== undefined) };
}

for (const era of ['legacy', 'modern'] as const) {
  for (const [kind, connect] of callers) {
    test(`F21: on a ${era} child, two ${kind} callers with the same id get their own answers`, async (t) => {
      const gateway = await sharedChild(t, era);
      await using slow = await connect(gateway.url);
      await using fast = await connect(gateway.url);
      const first = call(slow, 'wait', { ms: 300 }, '1');
      const second = await call(fast, 'echo', { text: 'fast' }, '1');
      assert.equal(textOf(second.messages.at(-1) ?? {}), 'fast');
      assert.equal(textOf((await first).messages.at(-1) ?? {}), 'waited');
      assert.deepEqual([second.idText, (await first).idText], ['1', '1']);
    });

    test(`F21: on a ${era} child, one ${kind} caller may use an id twice at once`, async (t) => {
      const gateway = await sharedChild(t, era);
      await using caller = await connect(gateway.url);
      const texts = ['a', 'b', 'c'];
      const calls = [
        call(caller, 'wait', { ms: 200 }, '1'),
        ...texts.map((text) => call(caller, 'echo', { text }, '1')),
      ];
      const answers = await Promise.all(calls);
      assert.deepEqual(
        answers.map(({ messages }) => textOf(messages.at(-1) ?? {})),
        ['waited', ...texts],
      );
    });

    test(`F21: on a ${era} child, ids of a ${kind} caller come back digit by digit`, async (t) => {
      const gateway = await sharedChild(t, era);
      await using caller = await connect(gateway.url);
      const ids = [
        '0',
        '""',
        '1',
        '"1"',
        '-1',
        '9007199254740993',
        '1e3',
        '"ä \\u0000"',
        '123456789012345678901234567890',
      ];
      const answers = await Promise.all(ids.map((id) => call(caller, 'echo', { text: id }, id)));
      for (const [index, { messages, idText }] of answers.entries()) {
        assert.equal(textOf(messages.at(-1) ?? {}), ids[index]);
        assert.deepEqual(JSON.parse(idText ?? ''), JSON.parse(ids[index] ?? ''));
      }
      assert.equal(answers[5]?.idText, '9007199254740993');
      assert.equal(answers[8]?.idText, '123456789012345678901234567890');
    });

    test(`F22: on a ${era} child, progress tokens of ${kind} callers collide and do not mix`, async (t) => {
      const gateway = await sharedChild(t, era);
      const tokens = [1, '1', 1, 0, '', 'a'];
      const clients = await Promise.all(tokens.map(() => connect(gateway.url)));
      const answers = await Promise.all(
        tokens.map((token, index) => {
          const values = [index * 10 + 1, index * 10 + 2];
          return call(clients[index] as Caller, 'progress', { values }, '1', token);
        }),
      );
      for (const [index, token] of tokens.entries()) {
        const seen = answers[index]?.progress.map(({ params }) => [params?.progressToken, params?.progress]);
        assert.deepEqual(seen, [
          [token, index * 10 + 1],
          [token, index * 10 + 2],
        ]);
      }
      for (const client of clients) await client[Symbol.asyncDispose]();
    });

    test(`F22: on a ${era} child, progress that a ${kind} caller did not ask for does not reach it`, async (t) => {
      const gateway = await sharedChild(t, era);
      await using caller = await connect(gateway.url);
      await using bystander = await connect(gateway.url);
      const waiting = call(bystander, 'wait', { ms: 300 }, '1', 'mine');
      const silent = await call(caller, 'progress', {}, '1');
      assert.deepEqual(silent.progress, []);
      for (const token of [1, 2, 3, 'mine']) {
        const invented = await call(caller, 'invented-progress', { token }, '1');
        assert.deepEqual(invented.progress, []);
      }
      assert.deepEqual((await call(caller, 'progress-after-answer', {}, '1', 7)).progress, []);
      assert.deepEqual((await waiting).progress, [], 'and does not reach anybody else');
    });
  }

  test(`F21, F22: 64 callers, 1,000 calls at once through one ${era} child: none lost, none swapped`, async (t) => {
    const gateway = await sharedChild(t, era);
    const clients = await Promise.all(
      Array.from({ length: 64 }, (_, index) => callers[index % 2]?.[1](gateway.url) as Promise<Caller>),
    );
    const calls = Array.from({ length: 1_000 }, async (_, index) => {
      const client = clients[index % 64] as Caller;
      // Ids and tokens of the callers, and of each caller's own calls, are the same on purpose.
      const id = String(1 + (index % 3));
      const token = index % 2 === 0 ? 1 : '1';
      if (index % 4 === 3) {
        const echoed = await call(client, 'echo', { text: `text ${index}` }, id, token);
        assert.equal(textOf(echoed.messages.at(-1) ?? {}), `text ${index}`);
        return echoed.idText === id;
      }
      const reported = await call(client, 'progress', { values: [index, index + 0.5] }, id, token);
      assert.deepEqual(
        reported.progress.map(({ params }) => [params?.progressToken, params?.progress]),
        [
          [token, index],
          [token, index + 0.5],
        ],
      );
      assert.equal(textOf(reported.messages.at(-1) ?? {}), 'done');
      return reported.idText === id;
    });
    assert.ok((await Promise.all(calls)).every(Boolean));
    const { servers } = await gateway.status();
    assert.deepEqual([servers.faulty?.starts, servers.faulty?.inFlight], [LIST_LINKS, 0]);
    for (const client of clients) await client[Symbol.asyncDispose]();
  });
}

test('a caller who does not read holds up nobody else on the same child', async (t) => {
  const gateway = await sharedChild(t, 'legacy');
  await using slow = new ModernClient(gateway.url);
  await using quick = new ModernClient(gateway.url);
  const params = { name: 'big', arguments: { bytes: 20 * 1024 * 1024 } };
  const unread = await slow.start('tools/call', params).answer;
  for (const text of ['a', 'b', 'c']) assert.equal(await quick.tool('echo', { text }), text);
  assert.equal((await unread.text()).length > 20 * 1024 * 1024, true, 'and gets all of it in the end');
});
