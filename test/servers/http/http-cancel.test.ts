// Cancelling calls over HTTP: what reaches the server, and that no connection is lost on the way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpFault } from '../../support/faulty-http-replies.ts';
import { failure, type HttpRig, legacyRig, modernRig, openRig } from '../../support/http-rig.ts';

async function cancelOnce(rig: HttpRig, fault: HttpFault): Promise<{ id: unknown; ended: string }> {
  const mend = rig.server.fault('tools/call:never', fault);
  const stop = new AbortController();
  const call = rig.tool('never', {}, { signal: stop.signal });
  const request = await rig.server.request(
    'tools/call:never',
    rig.server.requests('tools/call:never').length + 1,
  );
  stop.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
  mend();
  return { id: request.message?.id, ended: await request.ended };
}

const PHASES: [name: string, fault: HttpFault][] = [
  ['before the headers', {}],
  ['after the headers', { framing: 'events', stall: 'after-headers' }],
  ['in the middle of a stream', { framing: 'events', resumable: true }],
];
for (const [name, fault] of PHASES) {
  test(`F26: cancelling a modern call ${name} closes its stream, and says nothing else`, async (t) => {
    const rig = await modernRig(t);
    assert.equal((await cancelOnce(rig, fault)).ended, 'broken');
    await rig.text('echo', { text: 'next' });
    assert.ok(rig.server.received.every(({ message }) => message?.method === 'tools/call'));
  });

  test(`F26: cancelling a legacy call ${name} also says so, with the id that the server knows`, async (t) => {
    const rig = await legacyRig(t);
    const { id, ended } = await cancelOnce(rig, fault);
    assert.equal(ended, 'broken');
    await rig.server.until(() => rig.server.cancelled.length === 1);
    assert.deepEqual(rig.server.cancelled, [id]);
    const notice = rig.server.requests('notifications/cancelled')[0];
    assert.ok(notice?.headers['mcp-session-id']);
    assert.equal(notice.headers['mcp-protocol-version'], '2025-11-25');
  });
}

test('F26: initialize is given up without a word', async (t) => {
  const rig = await openRig(t, 'legacy', {});
  rig.server.fault('initialize', { stall: 'at-once' });
  const stop = new AbortController();
  const call = rig.request('initialize', {}, { signal: stop.signal });
  const request = await rig.server.request('initialize');
  stop.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
  await request.ended;
  await rig.transport.close();
  assert.equal(rig.server.received.length, 1);
});

test('F26: a call that is cancelled before it starts is never sent', async (t) => {
  const rig = await legacyRig(t);
  const sent = rig.server.received.length;
  await assert.rejects(rig.tool('echo', {}, { signal: AbortSignal.abort(new Error('no')) }), /no/);
  await rig.transport.close();
  assert.deepEqual(
    rig.server.received.slice(sent).map(({ http }) => http),
    ['DELETE'],
  );
});

test('F26: a cancellation that races the answer settles the call once, and hurts nothing', async (t) => {
  const rig = await legacyRig(t);
  for (let n = 0; n < 20; n += 1) {
    const stop = new AbortController();
    const call = rig.text('echo', { text: 'x' }, { signal: stop.signal });
    setImmediate(() => stop.abort(new Error('enough')));
    const [outcome] = await Promise.allSettled([call]);
    assert.ok(
      outcome?.status === 'fulfilled' ? outcome.value === 'x' : /enough/.test(String(outcome?.reason)),
    );
  }
  assert.equal(await rig.text('echo', { text: 'still here' }), 'still here');
});

for (const [era, openLeg] of Object.entries({ modern: modernRig, legacy: legacyRig })) {
  test(`F26: more callers leave than there are connections, and none of them is lost (${era})`, async (t) => {
    const rig = await openLeg(t, { outbound: { maxConnections: { calls: 4 } } });
    const faults: HttpFault[] = [
      {},
      { framing: 'events', stall: 'after-headers' },
      { framing: 'events', stall: 'mid-body' },
      { framing: 'events', endless: true },
    ];
    for (let n = 0; n < 12; n += 1) {
      const mend = rig.server.fault('tools/call:echo', faults[n % faults.length] ?? {});
      const stop = new AbortController();
      const before = rig.server.requests('tools/call').length;
      const call = n % faults.length === 0 ? rig.tool('never', {}, stop) : rig.tool('echo', {}, stop);
      const request = await rig.server.request('tools/call', before + 1);
      stop.abort(new Error('gone'));
      await assert.rejects(call);
      await request.ended;
      mend();
    }
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => rig.text('echo', { text: `${n}` })),
    );
    assert.equal(answers.length, 16);
  });
}

test('F26: callers who leave while they wait for a connection leave nothing behind', async (t) => {
  const rig = await modernRig(t, { outbound: { maxConnections: { calls: 1 } } });
  const stop = new AbortController();
  const holder = rig.tool('never', {}, { signal: stop.signal });
  await rig.server.request('tools/call');
  const waiting = Array.from({ length: 50 }, () => rig.tool('echo', {}, { signal: AbortSignal.timeout(30) }));
  for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.status, 'rejected');
  stop.abort(new Error('enough'));
  await assert.rejects(holder, /enough/);
  assert.equal(await rig.text('echo', { text: 'next' }), 'next');
  assert.equal(rig.server.requests('tools/call').length, 2, 'what was cancelled in the queue was never sent');
});

test('a server that keeps the stream open after the response loses its connection, not the call', async (t) => {
  const rig = await modernRig(t, { outbound: { maxConnections: { calls: 2 } } });
  rig.server.fault('tools/call', { framing: 'events', linger: true });
  for (let n = 0; n < 4; n += 1) assert.equal(await rig.text('echo', { text: `${n}` }), `${n}`);
  for (const { ended } of rig.server.requests('tools/call')) assert.equal(await ended, 'broken');
});

test('calls beyond maxInFlight wait, and are refused beyond the queue', async (t) => {
  const rig = await modernRig(t, { config: { maxInFlight: 2, queue: { max: 1, timeoutMs: 5_000 } } });
  const stop = new AbortController();
  const busy = [0, 1].map(() => rig.tool('never', {}, { signal: stop.signal }));
  const queued = rig.text('echo', { text: 'in its turn' });
  await assert.rejects(rig.tool('echo'), failure('no-capacity', 'queue-full'));
  await rig.server.request('tools/call', 2);
  stop.abort(new Error('enough'));
  await Promise.allSettled(busy);
  assert.equal(await queued, 'in its turn');
});

test('an answer to a question finds a connection though the calls have taken all of theirs', async (t) => {
  const rig = await legacyRig(t, { outbound: { maxConnections: { calls: 1 } } });
  const answer = await rig.text(
    'ask',
    { method: 'roots/list', params: {} },
    {
      onMessage(message) {
        assert.ok('id' in message);
        void rig.transport.respond(message.id, { result: { roots: [] } });
      },
    },
  );
  assert.equal(answer, '{"roots":[]}');
});
