// A legacy session on two replicas: it lives on the one that opened it, and the other one serves it as well (F01).
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import type { Members, Message } from '../support/raw-client.ts';
import { openSession, type RawSession, requestText, textOf, through } from '../support/raw-session.ts';
import { type ReplicaPair, startPair } from '../support/replica-pair.ts';
import { NEVER_ISSUED } from '../support/session-requests.ts';
import { ALICE, BOB, KEYS, TWO_CALLERS } from '../support/two-callers.ts';

const ALLOWED = { roots: 'allow', sampling: 'allow', elicitation: 'allow' } as const;
const FORM = { mode: 'form', message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
const ACCEPTED = { action: 'accept', content: { name: 'Ada' } };
const CAPABILITIES = { elicitation: {} };

interface Behind extends ReplicaPair {
  /** Resolves when the server has a call of that tool. */
  untilCalled(tool: string, session: RawSession): Promise<unknown>;
}
type Options = Parameters<typeof startPair>[1];

async function stdio(t: TestContext, options: Options = {}): Promise<Behind> {
  const pair = await startPair(t, {
    ...options,
    stdio: { switches: ['--era=legacy'], client: ALLOWED },
  });
  return {
    ...pair,
    untilCalled: (tool, session) =>
      eventually(`${tool} is called`, async () => (await session.tool('received')).includes(`"${tool}"`)),
  };
}

async function http(t: TestContext, options: Options = {}): Promise<Behind> {
  const server = await startFaultyHttpServer({ era: 'legacy' });
  t.after(() => server.close());
  const pair = await startPair(t, { ...options, http: { url: server.url, client: ALLOWED } });
  return { ...pair, untilCalled: (tool) => server.request(`tools/call:${tool}`) };
}

async function textsHeard(session: RawSession): Promise<unknown[]> {
  const heard = JSON.parse(await session.tool('received')) as Message[];
  return heard.flatMap(({ params }) => (params?.arguments as Members | undefined)?.text ?? []);
}

test('F01: calls by either replica reach the one process of the session', async (t) => {
  const { a, b, service } = await stdio(t);
  await using session = await openSession(a);
  await using other = through(b, session);
  assert.equal(await session.tool('echo', { text: 'by a' }), 'by a');
  assert.equal(await other.tool('echo', { text: 'by b' }), 'by b');
  assert.deepEqual(await textsHeard(other), ['by a', 'by b']);
  assert.equal(service.children().length, 3, 'two for lists, one for the session');
});

test('big numbers and unknown fields survive the hop, and so does the id', async (t) => {
  const { a, b } = await stdio(t);
  await using session = await openSession(a);
  await using other = through(b, session);
  const args = '{"text":"x","big":12345678901234567890,"unknown":{"deep":[1.50]}}';
  const body = `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`;
  const answer = await (await other.send({ body, headers: other.headers })).text();
  assert.match(answer, /"id":9007199254740993[,}]/);
  const raw = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"big":12345678901234567890,"deep":[1.50]}}\n';
  const call = requestText('"r"', 'tools/call', { name: 'raw', arguments: { text: raw } });
  const said = await (await other.send({ body: call, headers: other.headers })).text();
  assert.match(said, /"big":12345678901234567890,"deep":\[1\.50\]/);
});

test('an answer as large as a server may give makes the hop', async (t) => {
  const { a, b } = await stdio(t);
  await using session = await openSession(a);
  await using other = through(b, session);
  assert.equal((await other.tool('big', { bytes: 3_000_000 })).length, 3_000_000);
});

test('so does one that a server may give since the last reload', async (t) => {
  const switches = ['--era=legacy'];
  const { a, b, service } = await startPair(t, { stdio: { switches, maxMessageBytes: 10_000 } });
  const outcome = await service.reload({ stdio: { switches, maxMessageBytes: 4_000_000 } });
  assert.equal(outcome, 'applied');
  await using session = await openSession(a);
  await using other = through(b, session);
  assert.equal((await other.tool('big', { bytes: 3_000_000 })).length, 3_000_000);
});

test('F01: a message that is too large for its home is refused, and the session lives on', async (t) => {
  // As while a new config goes round.
  const seat: Options['seat'] = (config, index) =>
    index === 0 ? { ...config, bodyLimitBytes: 2_000 } : config;
  const { a, b } = await stdio(t, { seat });
  await using session = await openSession(a);
  await using other = through(b, session);
  await session.tool('echo', { text: 'has a process' });
  const { error } = await other.ask('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(4_000) } });
  assert.equal(error?.code, 5020);
  assert.equal(await other.tool('echo', { text: 'over there' }), 'over there');
  assert.equal(await session.tool('echo', { text: 'here' }), 'here');
});

for (const [wire, start] of [
  ['stdio', stdio],
  ['http', http],
] as const) {
  describe(`a legacy server over ${wire}`, () => {
    test('F01: calls, lists and pings are answered by either replica, in one session', async (t) => {
      const { a, b, service } = await start(t);
      await using session = await openSession(a);
      await using other = through(b, session);
      assert.equal(await session.tool('echo', { text: 'by a' }), 'by a');
      assert.equal(await other.tool('echo', { text: 'by b' }), 'by b');
      const { result } = await other.ask('tools/list');
      assert.ok(Array.isArray(result?.tools) && result.tools.length > 3);
      assert.deepEqual((await other.ask('ping')).result, {});
      assert.equal((await service.status()).sessions, 1);
    });

    test('F23: a question asked by one replica is answered by the other', async (t) => {
      const { a, b } = await start(t);
      await using session = await openSession(a, { capabilities: CAPABILITIES });
      for (const [asking, answering] of [
        [a, b],
        [b, a],
      ] as const) {
        await using one = through(asking, session);
        await using two = through(answering, session);
        const call = { name: 'ask', arguments: { method: 'elicitation/create', params: FORM } };
        const answer = await one.start('tools/call', call, { id: '"call"' }).answer;
        const question = await answer.message();
        assert.equal(question?.method, 'elicitation/create');
        assert.equal(await two.respond(question?.id, { result: ACCEPTED }), 202);
        assert.deepEqual(JSON.parse(textOf((await answer.whole()).response)), ACCEPTED);
      }
    });

    test('F26: a call by one replica is cancelled by the other', async (t) => {
      const { a, b, untilCalled } = await start(t);
      await using session = await openSession(a);
      await using other = through(b, session);
      for (const [calling, cancelling, tool] of [
        [session, other, 'never'],
        [other, session, 'wait'],
      ] as const) {
        const call = { name: tool, arguments: { ms: 20_000 } };
        const waiting = calling.start('tools/call', call, { id: '"w"' });
        await untilCalled(tool, session);
        assert.equal(await cancelling.notify('notifications/cancelled', { requestId: 'w' }), 202);
        const messages = await (await waiting.answer).messages();
        assert.deepEqual(
          messages.filter(({ id }) => id !== undefined),
          [],
          'it gets no response',
        );
      }
    });

    test('progress comes by the replica that the call came by', async (t) => {
      const { a, b } = await start(t);
      await using session = await openSession(a);
      await using other = through(b, session);
      const call = { name: 'progress', arguments: { values: [1, 2, 3] } };
      const started = other.start('tools/call', call, { meta: { progressToken: 'mine' } });
      const { before, events } = await (await started.answer).whole();
      assert.deepEqual(
        before.map(({ params }) => params?.progressToken),
        ['mine', 'mine', 'mine'],
      );
      assert.ok(
        events.every(({ id }) => id !== undefined),
        'with the ids to come back with',
      );
    });

    test('F25: a call that was cut is taken up again by the other replica, and goes on meanwhile', async (t) => {
      const { a, b } = await start(t);
      await using session = await openSession(a, { capabilities: CAPABILITIES });
      for (const [cut, resumed] of [
        [b, a],
        [a, b],
        [b, b],
      ] as const) {
        await using one = through(cut, session);
        await using two = through(resumed, session);
        const call = { name: 'ask', arguments: { method: 'elicitation/create', params: FORM } };
        const exchange = one.start('tools/call', call, { id: '"cut"' });
        const answer = await exchange.answer;
        let last = await answer.event();
        while (last?.data === '') last = await answer.event();
        const question = JSON.parse(last?.data ?? '');
        exchange.abort();
        await exchange.closed;
        const rest = await two.listen(last?.id);
        assert.equal(rest.status, 200);
        assert.equal(await two.respond(question.id, { result: ACCEPTED }), 202);
        const messages = await rest.messages();
        assert.deepEqual(
          messages.map(({ id }) => id),
          ['cut'],
        );
      }
    });

    test('F25: what belongs to no call comes on a GET stream by either replica, one at a time', async (t) => {
      const { a, b } = await start(t);
      await using session = await openSession(a, { capabilities: CAPABILITIES });
      await using other = through(b, session);
      await session.tool('echo', { text: 'opens the link' });
      const first = await session.listen();
      assert.equal(first.status, 200);
      const second = await other.listen();
      assert.equal(second.status, 200);
      assert.equal(await first.ended(), true, 'the newest has it');
      second.abort();
    });

    test('F04: a DELETE by the other replica ends it for both', async (t) => {
      const { a, b, service } = await start(t);
      await using session = await openSession(a);
      await using other = through(b, session);
      await session.tool('echo', { text: 'opens the link' });
      const stream = await other.listen();
      assert.equal(await other.delete(), 204);
      assert.equal(await stream.ended(), true);
      for (const one of [session, other]) assert.equal((await one.listen()).status, 404);
      assert.equal((await service.status()).sessions, 0);
      if (wire === 'stdio') await eventually('the child is gone', () => service.children().length === 2);
    });

    test("F05: somebody else's session id is an unknown one at either replica, and nothing is told apart", async (t) => {
      const { a, b } = await start(t, { gateway: { auth: TWO_CALLERS }, secrets: KEYS });
      await using alice = await openSession(a, ALICE);
      for (const url of [a, b]) {
        await using bob = through(url, alice, BOB);
        const unknown = through(url, alice, BOB);
        unknown.id = NEVER_ISSUED;
        const bodies = [bob, unknown].map(async (one) => {
          const answer = await one.send({ body: requestText('1', 'tools/list', {}), headers: one.headers });
          return [answer.status, await answer.text()];
        });
        const [foreign, absent] = await Promise.all(bodies);
        assert.equal(foreign?.[0], 404);
        assert.deepEqual(foreign, absent);
        assert.equal((await bob.listen()).status, 404);
        assert.equal(await bob.delete(), 404);
      }
      await using other = through(b, alice, ALICE);
      assert.equal(await other.tool('echo', { text: 'undisturbed' }), 'undisturbed');
    });
  });
}
