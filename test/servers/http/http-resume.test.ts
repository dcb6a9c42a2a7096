// A legacy server may end the connection of a call's stream before the response, and have the stream taken up again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerMessage } from '../../../src/servers/transport.ts';
import { failure, legacyRig, modernRig } from '../../support/http-rig.ts';

for (const [name, cutHard] of [
  ['ends it in good order', undefined],
  ['breaks it', true],
] as const) {
  test(`a call's stream is taken up again when the server ${name}`, async (t) => {
    const rig = await legacyRig(t);
    const fault = { resumable: true, cutAfter: 2, retryMs: 120, ...(cutHard && { cutHard }) } as const;
    rig.server.fault('tools/call', fault);
    const progress: unknown[] = [];
    const onMessage = ({ params }: ServerMessage) => void progress.push(params?.progress);
    const startedAt = performance.now();
    const outcome = await rig.tool('progress', { steps: 4, everyMs: 5 }, { token: 'p', onMessage });
    assert.ok('result' in outcome);
    assert.ok(performance.now() - startedAt >= 115, 'the wait that the server asked for was not kept');
    assert.deepEqual(progress, [1, 2, 3, 4], 'nothing lost, nothing twice');
    const [resumed] = rig.server.requests('GET');
    assert.match(String(resumed?.headers['last-event-id']), /_1$/);
    assert.ok(resumed?.headers['mcp-session-id']);
    assert.equal(resumed.headers.accept, 'text/event-stream');
    assert.equal(rig.server.requests('tools/call').length, 1, 'the call itself is never sent again');
  });
}

test('a server may have its stream polled: priming event, end, and again, until there is an answer', async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('tools/call', { resumable: true, cutAfter: 1, retryMs: 20 });
  const poll = { status: 200, type: 'text/event-stream', body: 'retry: 20\n\n' };
  rig.server.fault('GET', { answer: poll }, 6);
  assert.equal(await rig.text('wait', { ms: 30 }), 'waited');
  assert.equal(rig.server.requests('GET').length, 7);
});

test('without an event id there is nothing to resume: the call fails at once', async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('tools/call', { framing: 'events', cutAfter: 1, cutHard: true });
  await assert.rejects(rig.tool('progress'), failure('server-unavailable', 'connection-lost'));
  assert.equal(rig.server.requests('GET').length, 0);
});

test('a modern stream is never resumed', async (t) => {
  const rig = await modernRig(t);
  rig.server.fault('tools/call', { resumable: true, cutAfter: 2, retryMs: 20 });
  await assert.rejects(rig.tool('progress'), failure('server-unavailable', 'no-response'));
  assert.equal(rig.server.requests('GET').length, 0);
});

test('a server that refuses to resume fails the call, once', async (t) => {
  for (const answer of [
    { status: 405 },
    { status: 400 },
    { status: 200, type: 'application/json', body: '{}' },
  ]) {
    const rig = await legacyRig(t);
    rig.server.fault('tools/call', { resumable: true, cutAfter: 2, retryMs: 20 });
    rig.server.fault('GET', { answer });
    await assert.rejects(rig.tool('progress'), failure('server-unavailable', 'no-response'));
    assert.equal(rig.server.requests('GET').length, 1);
    assert.deepEqual(rig.closed, []);
  }
});

test('F03: a session that is gone at the resume is lost, and the call is not fit to be sent again', async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('tools/call', { resumable: true, cutAfter: 2, retryMs: 20 });
  const call = rig.tool('progress');
  await (await rig.server.request('tools/call')).ended;
  rig.server.forgetSessions();
  await assert.rejects(call, failure('server-unavailable', 'no-response'));
  assert.deepEqual(rig.closed, ['session-lost']);
});

test('a server that stays away is given up after a few attempts', async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('tools/call', { resumable: true, cutAfter: 2, retryMs: 20 });
  rig.server.fault('GET', { answer: { status: 503 } });
  await assert.rejects(rig.tool('progress'), failure('server-unavailable', 'no-response'));
  assert.equal(rig.server.requests('GET').length, 6);
  const back = await legacyRig(t);
  back.server.fault('tools/call', { resumable: true, cutAfter: 2, retryMs: 20 });
  back.server.fault('GET', { reset: 'at-once' }, 1);
  back.server.fault('GET', { answer: { status: 502 } }, 1);
  assert.ok('result' in (await back.tool('progress')));
});

test('the caller may leave while a resume is due, or under way', async (t) => {
  for (const retryMs of [5_000, 20]) {
    const rig = await legacyRig(t);
    rig.server.fault('tools/call', { resumable: true, cutAfter: 1, retryMs });
    rig.server.fault('GET', { stall: 'at-once' });
    const stop = new AbortController();
    const call = rig.tool('never', {}, { signal: stop.signal });
    const request = await rig.server.request('tools/call');
    await request.ended;
    if (retryMs === 20) await rig.server.request('GET');
    stop.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
    await rig.server.until(() => rig.server.cancelled.length === 1);
    assert.deepEqual(rig.server.cancelled, [request.message?.id]);
  }
});

test('F25: two streams that were cut are resumed each from its own place', async (t) => {
  const rig = await legacyRig(t);
  rig.server.fault('tools/call', { resumable: true, cutAfter: 2, retryMs: 30 });
  const run = async (token: string) => {
    const seen: unknown[] = [];
    await rig.tool('progress', { steps: 3 }, { token, onMessage: ({ params }) => void seen.push(params) });
    return seen;
  };
  const [one, two] = await Promise.all([run('one'), run('two')]);
  assert.deepEqual(
    one,
    [1, 2, 3].map((progress) => ({ progressToken: 'one', progress })),
  );
  assert.deepEqual(
    two,
    [1, 2, 3].map((progress) => ({ progressToken: 'two', progress })),
  );
});

test('an event over the cap is not asked for again', async (t) => {
  const rig = await legacyRig(t, { config: { maxMessageBytes: 4_096 } });
  rig.server.fault('tools/call', { resumable: true });
  await assert.rejects(
    rig.tool('big', { bytes: 10_000 }),
    failure('server-unavailable', 'message-too-large'),
  );
  assert.equal(rig.server.requests('GET').length, 0);
});
