// Calls over Streamable HTTP that go well, in every form that a server may choose for its answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerMessage } from '../../../src/servers/transport.ts';
import type { HttpFault } from '../../support/faulty-http-replies.ts';
import { type HttpRig, legacyRig, modernMeta, modernRig, shakeHands } from '../../support/http-rig.ts';

const eras = { modern: modernRig, legacy: legacyRig } as const;

for (const [era, openLeg] of Object.entries(eras)) {
  test(`a ${era} server is listed and called, with JSON and with events`, async (t) => {
    const rig = await openLeg(t);
    const params = era === 'modern' ? { _meta: modernMeta() } : {};
    const listed = await rig.request('tools/list', params);
    assert.ok('result' in listed && Array.isArray(listed.result.tools));
    for (const framing of ['json', 'events'] as const) {
      const mend = rig.server.fault('tools/call', { framing });
      assert.equal(await rig.text('echo', { text: `by ${framing} é€𝄞` }), `by ${framing} é€𝄞`);
      const refused = await rig.tool('protocol-error', { code: -32099 });
      assert.deepEqual(refused, { error: { code: -32099, message: 'as you wish' } });
      mend();
    }
  });

  test(`F19: every legal spelling of an event stream brings the same messages (${era})`, async (t) => {
    const rig = await openLeg(t);
    for (const eol of ['\n', '\r\n', '\r'] as const) {
      for (const cutEvery of [0, 1, 7]) {
        const spelling = { eol, cutEvery, chatter: true, dataLines: 'many', bom: true } as const;
        const mend = rig.server.fault('tools/call', { framing: 'events', spelling });
        const messages: ServerMessage[] = [];
        const answer = rig.text(
          'log',
          { data: 'é€𝄞\u2028' },
          { onMessage: (message) => messages.push(message) },
        );
        assert.equal(await answer, 'logged');
        assert.deepEqual(messages, [
          {
            jsonrpc: '2.0',
            method: 'notifications/message',
            params: { level: 'info', data: 'é€𝄞\u2028' },
          },
        ]);
        mend();
      }
    }
    assert.equal(rig.transport.strayMessages, 0);
  });

  test(`F21: overlapping calls get their own answers, the slower one first (${era})`, async (t) => {
    const rig = await openLeg(t);
    const slow = rig.text('wait', { ms: 80 });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => rig.text('echo', { text: `${n}` })),
    );
    assert.deepEqual(
      answers,
      answers.map((_, n) => `${n}`),
    );
    assert.equal(await slow, 'waited');
  });

  test(`F21: a response under another id is dropped and counted, noise too (${era})`, async (t) => {
    const rig = await openLeg(t);
    rig.server.fault('tools/call:echo', { framing: 'events', strays: true });
    assert.equal(await rig.text('echo', { text: 'mine' }), 'mine');
    assert.equal(rig.transport.strayMessages, 3);
    assert.equal(rig.logs.filter((line) => line.includes('belongs to nothing')).length, 1);
  });

  test(`F22: progress arrives with the caller's token, whatever its type, and never under another (${era})`, async (t) => {
    const rig = await openLeg(t);
    for (const token of [0, '0', 7, 'seven']) {
      const messages: ServerMessage[] = [];
      await rig.tool('progress', {}, { token, onMessage: (message) => messages.push(message) });
      assert.deepEqual(
        messages.map(({ params }) => [params?.progressToken, params?.progress]),
        [1, 2, 3].map((step) => [token, step]),
      );
    }
    const unasked: ServerMessage[] = [];
    await rig.tool('progress', { token: 4711 }, { token: 1, onMessage: (message) => unasked.push(message) });
    await rig.tool('progress', { token: 1 }, { onMessage: (message) => unasked.push(message) });
    assert.deepEqual(unasked, []);
  });

  test(`a batch in the place of a message is taken apart (${era})`, async (t) => {
    const rig = await openLeg(t);
    rig.server.fault('tools/call:echo', { batch: true });
    const messages: ServerMessage[] = [];
    assert.equal(
      await rig.text('echo', { text: 'x' }, { onMessage: (message) => messages.push(message) }),
      'x',
    );
    assert.deepEqual(
      messages.map(({ method }) => method),
      ['notifications/message'],
    );
  });
}

test('numbers that a double cannot hold come through digit by digit', async (t) => {
  const rig = await modernRig(t);
  const body = '{"jsonrpc":"2.0","id":1,"result":{"big":9007199254740993,"exact":1.10}}';
  rig.server.fault('tools/call', { answer: { status: 200, type: 'application/json', body } });
  const outcome = await rig.tool('echo');
  assert.equal(JSON.stringify(outcome), '{"result":{"big":9007199254740993,"exact":1.10}}');
});

test('an answer without a content type, or with a charset, is JSON', async (t) => {
  const rig = await modernRig(t);
  for (const type of ['application/json; charset=utf-8', 'Application/JSON', undefined]) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: rig.server.received.length + 1, result: {} });
    rig.server.fault('tools/call', { answer: { status: 200, body, ...(type && { type }) } }, 1);
    assert.deepEqual(await rig.tool('echo'), { result: {} });
  }
});

test('an id that comes back as a string is still ours', async (t) => {
  const rig = await modernRig(t);
  assert.equal(await rig.text('string-id'), 'by string');
});

const NOTICES: [name: string, answer: HttpFault['answer'] & object][] = [
  ['202 without a body', { status: 202 }],
  ['202 with a content type', { status: 202, type: 'application/json' }],
  ['202 with a text', { status: 202, type: 'text/plain', body: 'Accepted' }],
  ['200 without a body', { status: 200 }],
  ['200 with null', { status: 200, type: 'application/json', body: 'null' }],
  ['204', { status: 204 }],
  ['an empty chunked body', { status: 200, type: 'application/json', chunked: true }],
];
for (const [name, answer] of NOTICES) {
  test(`F37: a server may take notifications and answers with ${name}`, async (t) => {
    for (const openLeg of Object.values(eras)) {
      const rig = await openLeg(t);
      rig.server.fault((request) => request.message?.id === undefined, { answer });
      rig.server.fault('response', { answer });
      await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
      await rig.transport.notify({ jsonrpc: '2.0', method: 'notifications/unheard-of' });
      await rig.transport.respond('q', { result: {} });
      assert.equal(await rig.text('echo', { text: 'still here' }), 'still here');
    }
  });
}

test('F37: a stream that never ends, in answer to a notification, holds nothing up', async (t) => {
  const rig = await legacyRig(t);
  const place = 'notifications/roots/list_changed';
  const answer = { status: 200, type: 'text/event-stream' };
  rig.server.fault(place, { answer, stall: 'after-headers' });
  await rig.transport.notify({ jsonrpc: '2.0', method: place });
  assert.equal(await (await rig.server.request(place)).ended, 'broken');
});

test('F15: initialize, its answer, initialized: and the session and version from then on', async (t) => {
  const rig: HttpRig = await legacyRig(t, {}, '2025-06-18');
  await rig.text('echo', { text: 'x' });
  const [first, second, third] = rig.server.received;
  const [sessionId] = rig.server.sessions;
  assert.equal(first?.message?.method, 'initialize');
  assert.equal(first.headers['mcp-session-id'], undefined);
  assert.equal(first.headers['mcp-protocol-version'], undefined);
  for (const request of [second, third]) {
    assert.equal(request?.headers['mcp-session-id'], sessionId);
    assert.equal(request?.headers['mcp-protocol-version'], '2025-06-18');
  }
});

test('a server without sessions gets no session header', async (t) => {
  const rig = await legacyRig(t, { sessions: false });
  assert.equal(await rig.text('echo', { text: 'x' }), 'x');
  assert.ok(rig.server.received.every(({ headers }) => headers['mcp-session-id'] === undefined));
  await rig.transport.close();
  assert.equal(rig.server.requests('DELETE').length, 0);
});

test('a second initialize opens a new session and carries nothing of the old one', async (t) => {
  const rig = await legacyRig(t);
  await shakeHands(rig, '2025-03-26');
  const again = rig.server.requests('initialize')[1];
  assert.equal(again?.headers['mcp-session-id'], undefined);
  assert.equal(again?.headers['mcp-protocol-version'], undefined);
  assert.equal(rig.server.received.at(-1)?.headers['mcp-session-id'], [...rig.server.sessions][1]);
});

test("F23: a legacy server's question comes on the call's own stream, and our answer reaches it", async (t) => {
  const rig = await legacyRig(t);
  const asked: ServerMessage[] = [];
  const answer = await rig.text(
    'ask',
    { method: 'roots/list', params: {} },
    {
      onMessage(message) {
        asked.push(message);
        assert.ok('id' in message);
        void rig.transport.respond(message.id, { result: { roots: [] } });
      },
    },
  );
  assert.equal(answer, '{"roots":[]}');
  assert.deepEqual(
    asked.map(({ method }) => method),
    ['roots/list'],
  );
  assert.deepEqual(rig.unsolicited, []);
  assert.ok(rig.server.requests('response')[0]?.headers['mcp-session-id']);
});

test('a ping on the stream of a call is handed to the link, which answers it', async (t) => {
  const rig = await legacyRig(t);
  const heard: ServerMessage[] = [];
  const answered = rig.text(
    'ask',
    { method: 'ping', params: {} },
    { onMessage: (message) => heard.push(message) },
  );
  await rig.server.until(() => rig.unsolicited.length === 1);
  const [ping] = rig.unsolicited;
  assert.ok(ping && 'id' in ping && ping.method === 'ping');
  await rig.transport.respond(ping.id, { result: {} });
  assert.equal(await answered, '{}');
  assert.deepEqual(heard, []);
});

test('a subscription of the new era delivers until it is closed, and takes no place of a call', async (t) => {
  const rig = await modernRig(t, { config: { maxInFlight: 1, queue: { max: 0, timeoutMs: 1_000 } } });
  const heard: string[] = [];
  const stop = new AbortController();
  const params = { notifications: { toolsListChanged: true }, _meta: modernMeta() };
  const listening = rig.request('subscriptions/listen', params, {
    longLived: true,
    signal: stop.signal,
    onMessage({ method }) {
      heard.push(method);
      rig.server.changed();
    },
  });
  await rig.server.until(() => heard.length === 1);
  assert.equal(await rig.text('echo', { text: 'meanwhile' }), 'meanwhile');
  rig.server.announce({ method: 'notifications/tools/list_changed' });
  await rig.server.until(() => heard.length === 2);
  assert.deepEqual(heard, ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed']);
  stop.abort(new Error('enough'));
  await assert.rejects(listening, /enough/);
  assert.equal(await (await rig.server.request('subscriptions/listen')).ended, 'broken');
});
