// Calls, ids, progress, cancellation, slots and back-pressure, over a real child.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { GatewayError } from '../../../src/errors.ts';
import type { JsonObject } from '../../../src/protocol/json-text.ts';
import type { ServerMessage } from '../../../src/servers/transport.ts';
import type { Frame } from '../../support/faulty-tool-host.ts';
import { modernMeta, type StdioRig, startRig, textOf } from '../../support/stdio-rig.ts';

/** Everything that the server has received, in order. */
async function received(rig: StdioRig): Promise<Frame[]> {
  return JSON.parse(await rig.text('received')) as Frame[];
}

function progressOf(messages: readonly ServerMessage[]): unknown[] {
  return messages.map(({ params }) => [params?.progressToken, params?.progress]);
}

test('a legacy server is spoken to as well as a modern one', async (t) => {
  const rig = await startRig(t, ['--era=legacy', '--log-before-initialize']);
  const refused = await rig.request('server/discover', { _meta: modernMeta() });
  assert.ok('error' in refused && refused.error.code === -32601);
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const welcome = await rig.request('initialize', params);
  assert.ok('result' in welcome && welcome.result.protocolVersion === '2025-06-18');
  assert.equal(rig.unsolicited[0]?.method, 'notifications/message', 'a log line may come before the answer');
  await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  assert.equal(await rig.text('echo', { text: 'hello' }), 'hello');
});

test("a server's question goes to the link, and the answer back to the server under its own id", async (t) => {
  for (const id of [7, 'seven', 0, '']) {
    const rig: StdioRig = await startRig(t, [], {
      onUnsolicited(message) {
        assert.ok('id' in message && message.id === id);
        assert.equal(message.method, 'roots/list');
        void rig.transport.respond(message.id, { result: { roots: [] } });
      },
    });
    assert.equal(await rig.text('ask', { id, method: 'roots/list' }), '{"roots":[]}');
  }
});

test('F21: overlapping calls get their own answers, the slower one first', async (t) => {
  const rig = await startRig(t);
  const slow = rig.text('wait', { ms: 60 });
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => rig.text('echo', { text: `${n}` })));
  assert.deepEqual(
    answers,
    answers.map((_, n) => `${n}`),
  );
  assert.equal(await slow, 'waited');
});

test('F21: an answer under an id that nobody used, and a second answer, reach no one', async (t) => {
  const rig = await startRig(t);
  assert.equal(await rig.text('foreign-id', { id: 4711 }), 'own');
  assert.equal(await rig.text('answer-twice'), 'first');
  assert.equal(await rig.text('foreign-id', { id: 'x' }), 'own');
  assert.equal(await rig.text('echo', { text: 'still in step' }), 'still in step');
  assert.equal(rig.transport.stats.lateReplies, 3);
  assert.ok('result' in (await rig.tool('string-id')), 'an id that came back as a string is ours');
});

test('F22: callers that use the same token each get their own progress, under the token they gave', async (t) => {
  const rig = await startRig(t);
  const tokens = [1, '1', 0, '', 1, 9007199254740991];
  const calls = tokens.map(async (token, n) => {
    const messages: ServerMessage[] = [];
    const values = [n, n + 0.5, n + 0.5, n];
    await rig.tool('progress', { values }, { token, onMessage: (message) => messages.push(message) });
    return { seen: progressOf(messages), expected: values.map((value) => [token, value]) };
  });
  for (const { seen, expected } of await Promise.all(calls)) assert.deepEqual(seen, expected);
  const sent = (await received(rig)).map(
    ({ params }) => (params?._meta as JsonObject | undefined)?.progressToken,
  );
  const given = sent.filter((token) => token !== undefined);
  assert.equal(new Set(given).size, tokens.length, 'upstream every call has a token of its own');
  assert.deepEqual(rig.unsolicited, []);
});

test('F22: progress comes before the answer settles, and never after it', async (t) => {
  const rig = await startRig(t);
  const order: string[] = [];
  const note = { token: 't', onMessage: () => void order.push('progress') };
  await rig.tool('progress', { values: [1, 2] }, note).then(() => order.push('answer'));
  assert.deepEqual(order, ['progress', 'progress', 'answer']);
  await rig.tool('progress-after-answer', {}, note);
  await rig.text('echo');
  assert.equal(order.length, 3);
  assert.equal(rig.transport.stats.lateNotifications, 1);
});

test('F22: progress that nobody asked for, or under a token that nobody gave, is dropped', async (t) => {
  const rig = await startRig(t);
  const onMessage = () => assert.fail('no progress was asked for');
  const wanted: ServerMessage[] = [];
  const waiting = rig.tool('wait', { ms: 50 }, { token: 'w', onMessage: (message) => wanted.push(message) });
  for (const token of ['made-up', 0, null, 99, 'w'])
    await rig.tool('invented-progress', { token }, { onMessage });
  await rig.tool('progress', {}, { onMessage });
  await waiting;
  assert.deepEqual([wanted, rig.unsolicited], [[], []]);
  assert.equal(rig.transport.stats.lateNotifications, 8);
});

test('F10: an aborted call is cancelled upstream under our id; its late answer and progress are dropped', async (t) => {
  const rig = await startRig(t);
  const leaving = new AbortController();
  const reason = new Error('the client left');
  const messages: ServerMessage[] = [];
  const call = rig.tool(
    'late-answer',
    {},
    { token: 5, signal: leaving.signal, onMessage: (message) => messages.push(message) },
  );
  await rig.text('echo');
  leaving.abort(reason);
  await assert.rejects(call, reason);

  const frames = await received(rig);
  const cancelled = frames.filter(({ method }) => method === 'notifications/cancelled');
  const [request] = frames.filter(({ params }) => params?.name === 'late-answer');
  assert.deepEqual(
    cancelled.map(({ params }) => params),
    [{ requestId: request?.id }],
  );
  assert.deepEqual(messages, []);
  const { lateReplies, lateNotifications } = rig.transport.stats;
  assert.deepEqual([lateReplies, lateNotifications], [1, 1]);
});

test('a handshake given up is not cancelled upstream; everything else is', async (t) => {
  const rig = await startRig(t);
  for (const method of ['initialize', 'server/discover', 'tools/list']) {
    const leaving = new AbortController();
    const call = rig.request(method, { _meta: modernMeta() }, { signal: leaving.signal });
    // Let it be written: what was never sent is not cancelled in any case.
    await new Promise((resolve) => setImmediate(resolve));
    leaving.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
  }
  const frames = await received(rig);
  const cancelled = frames.filter(({ method }) => method === 'notifications/cancelled');
  const [list] = frames.filter(({ method }) => method === 'tools/list');
  assert.deepEqual(
    cancelled.map(({ params }) => params?.requestId),
    [list?.id],
  );
});

test('an aborted signal sends nothing at all', async (t) => {
  const rig = await startRig(t);
  const signal = AbortSignal.abort(new Error('never mind'));
  await assert.rejects(rig.tool('echo', {}, { signal }), /never mind/);
  const leaving = new AbortController();
  const sameTick = rig.tool('echo', {}, { signal: leaving.signal });
  leaving.abort(new Error('changed my mind'));
  await assert.rejects(sameTick, /changed my mind/);
  assert.deepEqual(
    (await received(rig)).map(({ params }) => params?.name),
    ['received'],
  );
});

test('calls beyond maxInFlight wait their turn; beyond the queue they are refused; subscriptions do not count', async (t) => {
  const rig = await startRig(t, [], { config: { maxInFlight: 2, queue: { max: 1, timeoutMs: 5_000 } } });
  const gate = new AbortController();
  const listen = rig.transport.call({
    method: 'subscriptions/listen',
    params: { _meta: modernMeta(), notifications: { toolsListChanged: true } },
    longLived: true,
    signal: gate.signal,
    onMessage: () => {},
  });
  const stuck = [1, 2].map(() => rig.tool('never', {}, { signal: gate.signal }));
  const waiting = rig.text('echo', { text: 'my turn' });
  await assert.rejects(rig.tool('echo'), (error) => {
    assert.ok(error instanceof GatewayError && error.code === 'no-capacity');
    assert.ok((error.details.retryAfterMs ?? 0) > 0);
    return true;
  });
  gate.abort(new Error('make room'));
  for (const call of [listen, ...stuck]) await assert.rejects(call, /make room/);
  assert.equal(await waiting, 'my turn');
});

test('events of a subscription reach its call alone, and it ends with its result or by cancellation', async (t) => {
  const rig = await startRig(t);
  const open = () => {
    const events: string[] = [];
    const acknowledged = Promise.withResolvers<void>();
    const call = rig.transport.call({
      method: 'subscriptions/listen',
      params: { _meta: modernMeta(), notifications: { toolsListChanged: true } },
      longLived: true,
      signal: new AbortController().signal,
      onMessage({ method }) {
        events.push(method);
        acknowledged.resolve();
      },
    });
    return { events, call, acknowledged: acknowledged.promise };
  };
  const first = open();
  const second = open();
  await Promise.all([first.acknowledged, second.acknowledged]);
  await rig.tool('list-changed');
  const expected = ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed'];
  assert.deepEqual([first.events, second.events, rig.unsolicited], [expected, expected, []]);
  await rig.tool('end-listens', { gracefully: true });
  assert.ok('result' in (await first.call));
  await second.call;

  const third = open();
  await third.acknowledged;
  const ended = assert.rejects(third.call, (error) => {
    assert.ok(error instanceof GatewayError && error.details.reason === 'subscription-ended');
    return true;
  });
  await rig.tool('end-listens', { gracefully: false });
  await ended;
  assert.equal(third.events.at(-1), 'notifications/cancelled');
});

test("a legacy server's withdrawal of its own question never ends a call of ours with the same number", async (t) => {
  const rig = await startRig(t);
  const waiting = rig.text('wait', { ms: 80 });
  await rig.tool('ask-and-withdraw', { id: 1 });
  assert.deepEqual(
    rig.unsolicited.map(({ method }) => method),
    ['elicitation/create', 'notifications/cancelled'],
  );
  assert.equal(await waiting, 'waited');
});

test('an answer that is no answer fails its call, and no other', async (t) => {
  const rig = await startRig(t);
  const other = rig.text('wait', { ms: 50 });
  await assert.rejects(rig.tool('bad-answer'), (error) => {
    assert.ok(error instanceof GatewayError && error.code === 'server-unavailable');
    assert.equal(error.details.reason, 'bad-answer');
    return true;
  });
  const passedOn = await rig.tool('protocol-error', { code: -32042 });
  assert.ok('error' in passedOn && passedOn.error.code === -32042, "a server's own error is an answer");
  assert.equal(await other, 'waited');
});

test('numbers that no double holds come through as they were written', async (t) => {
  const rig = await startRig(t);
  const frame = '{"jsonrpc":"2.0","id":$ID,"result":{"n":9007199254740993,"f":1.0}}\n';
  const outcome = await rig.tool('raw', { text: frame });
  assert.equal(JSON.stringify(outcome), '{"result":{"n":9007199254740993,"f":1.0}}');
});

test('F18: a request nested too deeply to be written is refused; the wire lives on', async (t) => {
  const rig = await startRig(t);
  let nested: JsonObject = {};
  for (let level = 0; level < 100_000; level += 1) nested = { nested };
  await assert.rejects(rig.tool('echo', nested), (error) => {
    assert.ok(error instanceof GatewayError && error.code === 'params-invalid');
    return true;
  });
  assert.equal(await rig.text('echo', { text: 'alive' }), 'alive');
});

test('a child that stops reading holds back what is sent, up to a bound; then it goes on', async (t) => {
  const maxMessageBytes = 4 * 1024 * 1024;
  const rig = await startRig(t, [], { config: { maxMessageBytes } });
  assert.equal(await rig.text('stop-reading', { ms: 400 }), 'not listening');
  const filler = 'x'.repeat(1024 * 1024);
  const calls = Array.from({ length: 12 }, () => rig.text('echo', { text: filler }));
  const outcomes = await Promise.allSettled(calls);
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  assert.ok(refused.length > 0 && refused.length < 12, `${refused.length} of 12 refused`);
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') assert.equal(outcome.value.length, filler.length);
    else assert.equal((outcome.reason as GatewayError).code, 'no-capacity');
  }
  assert.equal(await rig.text('echo', { text: 'and on' }), 'and on');
});

test('a call that waits behind a full pipe can be withdrawn: the server never hears of it', async (t) => {
  const rig = await startRig(t);
  await rig.tool('stop-reading', { ms: 300 });
  const filler = rig.text('echo', { text: 'x'.repeat(2 * 1024 * 1024) });
  const leaving = new AbortController();
  const waiting = rig.tool('late-answer', {}, { signal: leaving.signal });
  await new Promise((resolve) => setImmediate(resolve));
  leaving.abort(new Error('left'));
  await assert.rejects(waiting, /left/);
  await filler;
  const methods = (await received(rig)).map(({ method, params }) => params?.name ?? method);
  assert.deepEqual(methods, ['stop-reading', 'echo', 'received']);
});

test('a paused reader holds the child back instead of filling our memory', async (t) => {
  const rig = await startRig(t);
  await rig.text('echo');
  const resume = rig.transport.pauseReading();
  const flood = rig.text('flood', { count: 50_000 });
  const [seen] = await Promise.race([
    flood.then(() => assert.fail('nothing is read')),
    once(AbortSignal.timeout(150), 'abort').then(() => [rig.unsolicited.length]),
  ]);
  assert.equal(seen, 0);
  resume();
  resume();
  assert.equal(await flood, 'flooded');
  assert.equal(rig.unsolicited.length, 50_000);
});

test('a handler that throws costs one message, not the wire', async (t) => {
  const rig = await startRig(t, [], {
    onUnsolicited() {
      throw new Error('a bug of ours');
    },
  });
  assert.equal(await rig.text('log'), 'logged');
  assert.ok(rig.logs.some((line) => line.includes('a bug of ours')));
});

test('a thousand concurrent calls, ids and tokens all alike: none lost, none swapped', async (t) => {
  const rig = await startRig(t);
  const calls = Array.from({ length: 1_000 }, async (_, n) => {
    const values: unknown[] = [];
    const onMessage = ({ params }: ServerMessage) => void values.push(params?.progress);
    if (n % 2 === 0) {
      await rig.tool('progress', { values: [n, n + 0.5] }, { token: 1, onMessage });
      return values.join() === `${n},${n + 0.5}`;
    }
    const outcome = await rig.tool('echo', { text: `call ${n}` }, { token: 1, onMessage });
    return textOf(outcome) === `call ${n}` && values.length === 0;
  });
  const right = await Promise.all(calls);
  assert.equal(right.filter(Boolean).length, 1_000);
  assert.deepEqual([rig.transport.stats.lateReplies, rig.transport.stats.lateNotifications], [0, 0]);
});
