// A stream that broke, taken up again by the id of the last event that arrived (F25).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { legacyHttpBehind, sessionLimits } from '../support/legacy-http.ts';
import type { Message, RawExchange } from '../support/raw-client.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';

function startProgress(session: RawSession, token: string, steps = 3, everyMs = 100): RawExchange {
  const params = { name: 'progress', arguments: { steps, everyMs } };
  return session.start('tools/call', params, { id: JSON.stringify(token), meta: { progressToken: token } });
}

/** Cuts a call's connection after its first progress. @returns the id of the last event seen */
async function cutAfterFirst(exchange: RawExchange): Promise<string> {
  const answer = await exchange.answer;
  for (;;) {
    const event = await answer.event();
    assert.ok(event?.id, 'every event has an id');
    if (event.data === '') continue;
    exchange.abort();
    return event.id;
  }
}

const stepsOf = (messages: readonly Message[]) =>
  messages.flatMap(({ params }) => (params === undefined ? [] : [[params.progressToken, params.progress]]));

test('F25: two streams are cut and resumed, each with the rest of its own and nothing else', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const cut = await Promise.all(['a', 'b'].map((token) => cutAfterFirst(startProgress(session, token))));
  assert.notEqual(cut[0], cut[1]);
  for (const [index, token] of ['a', 'b'].entries()) {
    const messages = await (await session.listen(cut[index])).messages();
    assert.deepEqual(stepsOf(messages), [
      [token, 2],
      [token, 3],
    ]);
    const last = messages.at(-1);
    assert.equal(last?.id, token, 'the response comes last, and ends the stream');
    assert.deepEqual(last?.result?.content, [{ type: 'text', text: 'done' }]);
    assert.equal(messages.length, 3);
  }
});

test('F25, F26: the call runs on while nobody listens, and its answer is kept', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const lastSeen = await cutAfterFirst(startProgress(session, 'a', 2, 50));
  const { ended } = await server.request('tools/call:progress');
  assert.equal(await ended, 'answered');
  assert.deepEqual(server.cancelled, []);
  const messages = await (await session.listen(lastSeen)).messages();
  assert.equal(messages.at(-1)?.id, 'a');
});

test('F25: the same place can be returned to, and what came live is there again', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const lastSeen = await cutAfterFirst(startProgress(session, 'a'));
  const first = await session.listen(lastSeen);
  assert.equal((await first.message())?.params?.progress, 2);
  first.abort();
  const messages = await (await session.listen(lastSeen)).messages();
  assert.deepEqual(
    stepsOf(messages).map(([, step]) => step),
    [2, 3],
  );
});

test('F25: a resumed stream that has nothing more to say ends at once', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const answer = await startProgress(session, 'a', 1, 0).answer;
  const { events } = await answer.whole();
  const resumed = await session.listen(events.at(-1)?.id);
  assert.equal(resumed.status, 200);
  assert.deepEqual(await resumed.messages(), []);
});

test('F25: before any event, the priming id is the place to return to', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const exchange = session.start('tools/call', { name: 'wait', arguments: { ms: 1_500 } });
  const primed = await (await exchange.answer).event();
  assert.equal(primed?.data, '');
  exchange.abort();
  const [answer] = await (await session.listen(primed?.id)).messages();
  assert.deepEqual(answer?.result?.content, [{ type: 'text', text: 'waited' }]);
});

test('F19: revisions before 2025-11-25 get no priming event', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  for (const version of ['2025-06-18', '2025-03-26', '2024-11-05']) {
    await using session = await openSession(gateway.url, { version });
    const { events } = await (await startProgress(session, 'a', 1, 0).answer).whole();
    assert.ok(events.every(({ data }) => data !== ''));
  }
});

test('F25: ids that name nothing here are refused, and the session goes on', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  await using other = await openSession(gateway.url);
  for (let i = 0; i < 3; i += 1) await (await startProgress(other, 'x', 1, 0).answer).whole();
  const { events } = await (await startProgress(other, 'x', 1, 0).answer).whole();
  const foreign = events.at(-1)?.id ?? '';
  const malformed = [
    '',
    ' ',
    '-',
    '1',
    '1-',
    '-1',
    '1-1-1',
    'a-b',
    '1_1',
    '99999999999-1',
    '0x1-1',
    '../1-1',
  ];
  for (const id of [foreign, '999-1', '1-999', ...malformed]) {
    const answer = await session.listen(id);
    assert.equal(answer.status, 400, `"${id}"`);
    assert.equal((await answer.json()).error?.code, -32600);
  }
  assert.equal(await session.tool('echo', { text: 'well' }), 'well');
});

test('F25: what is too old, or was too much, is gone, and is not replayed in part', async (t) => {
  const limits = sessionLimits({ replay: { bytes: 1_000, forMs: 60_000 } });
  const { gateway, server } = await legacyHttpBehind(t, { gateway: limits });
  await using session = await openSession(gateway.url);
  const lastSeen = await cutAfterFirst(startProgress(session, 'a', 20, 5));
  await (await server.request('tools/call:progress')).ended;
  while ((await session.listen(lastSeen)).status !== 400) await delay(10);
});

test('F25, F04: what was kept is forgotten after its time', async (t) => {
  const limits = sessionLimits({ idleTimeoutMs: 2_000, replay: { bytes: 100_000, forMs: 100 } });
  const { gateway, server } = await legacyHttpBehind(t, { gateway: limits });
  await using session = await openSession(gateway.url);
  const lastSeen = await cutAfterFirst(startProgress(session, 'a', 3, 10));
  await (await server.request('tools/call:progress')).ended;
  while ((await session.listen(lastSeen)).status !== 400) await delay(20);
});

test('F25: a call that was answered with JSON has no stream to return to', async (t) => {
  const { gateway } = await legacyHttpBehind(t);
  await using session = await openSession(gateway.url);
  const answer = await session.start('tools/call', { name: 'echo', arguments: { text: 'x' } }).answer;
  assert.equal(answer.headers['content-type'], 'application/json');
  await answer.text();
  for (const id of ['2-0', '2-1']) assert.equal((await session.listen(id)).status, 400);
});

test('F25: a modern client has nothing to resume: the header means nothing', async (t) => {
  const { gateway } = await legacyHttpBehind(t, { era: 'both' });
  await using client = new ModernClient(gateway.url);
  const headers = { 'last-event-id': '1-1' };
  assert.equal(await client.tool('echo', { text: 'fine' }, { headers }), 'fine');
  const get = await client.send({
    method: 'GET',
    headers: { ...headers, 'mcp-protocol-version': '2026-07-28' },
  });
  assert.equal(get.status, 405);
});

test('F25: modern event streams carry no ids', async (t) => {
  const { gateway } = await legacyHttpBehind(t, { era: 'both' });
  await using client = new ModernClient(gateway.url);
  const params = { name: 'progress', arguments: { steps: 2 } };
  const answer = await client.start('tools/call', params, { meta: { progressToken: 1 } }).answer;
  const { events, before } = await answer.whole();
  assert.equal(before.length, 2);
  assert.ok(events.every(({ id, data }) => id === undefined && data !== ''));
});
