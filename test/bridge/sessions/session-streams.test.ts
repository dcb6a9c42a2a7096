import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { StreamSink } from '../../../src/bridge/call-output.ts';
import { SessionStreams } from '../../../src/bridge/sessions/session-streams.ts';
import { type JsonObject, readJson, writeJson } from '../../../src/protocol/json-text.ts';
import { BufferBudget } from '../../../src/state/buffer-budget.ts';

/** A connection that is written down. */
function connection({ json = true } = {}) {
  const written: string[] = [];
  const gone = new AbortController();
  let committed = false;
  const sink: StreamSink = {
    accepts: { json, events: true },
    get committed() {
      return committed;
    },
    holdFor: () => {},
    openStream: () => {
      committed = true;
    },
    send(message, eventId) {
      committed = true;
      written.push(`${eventId} ${'method' in message ? message.method : 'response'}`);
      return undefined;
    },
    respond(idText, _outcome, options = {}) {
      committed = true;
      written.push(`${options.eventId} answer to ${idText}`);
    },
    end: () => written.push('end'),
  };
  return { sink, written, gone };
}

const FAR = { bytes: 100_000, forMs: 60_000 };
const roomy = () => new BufferBudget(Number.POSITIVE_INFINITY);
const said = (method: string) => ({ jsonrpc: '2.0' as const, method });

test('F04: streams whose answer went out as JSON, or to nobody, are forgotten at once', () => {
  const streams = new SessionStreams(FAR, roomy());
  const answered = streams.open();
  const { sink, gone } = connection();
  answered.attach(sink, gone.signal);
  answered.respond('1', { result: {} }, 200);
  const lost = streams.open();
  const left = connection();
  lost.attach(left.sink, left.gone.signal);
  left.gone.abort();
  void lost.send(said('progress'));
  lost.respond('2', { result: {} }, 200);
  assert.equal(streams.size, 0);
  assert.equal(streams.loggedBytes, 0, 'nothing is kept for whoever cannot come back');
});

test('F04: a stream that was cancelled before it said anything is forgotten', () => {
  const streams = new SessionStreams(FAR, roomy());
  streams.open().end();
  assert.equal(streams.size, 0);
});

test('F25: a finished stream stays as long as its events do, and no longer', async () => {
  const streams = new SessionStreams({ bytes: 100_000, forMs: 30 }, roomy());
  const stream = streams.open();
  const { sink, gone } = connection();
  stream.attach(sink, gone.signal);
  void stream.send(said('progress'));
  stream.respond('1', { result: {} }, 200);
  assert.equal(streams.find('1-1')?.stream, stream);
  await delay(50);
  streams.prune();
  assert.equal(streams.find('1-1'), undefined);
  assert.equal(streams.size, 0);
});

test('F25: the bytes of a whole session are bounded, the oldest of any stream going first', () => {
  const streams = new SessionStreams({ bytes: 400, forMs: 60_000 }, roomy());
  const pair = [streams.open(), streams.open()] as const;
  for (const stream of pair) {
    const { sink, gone } = connection();
    stream.attach(sink, gone.signal);
    void stream.send(said('a'.repeat(200)));
  }
  assert.ok(streams.loggedBytes <= 400);
  assert.equal(streams.find('1-0'), undefined, 'its event is gone');
  assert.equal(streams.find('1-1')?.stream, pair[0], 'whoever saw it has missed nothing');
  assert.equal(streams.find('2-0')?.stream, pair[1]);
});

test('F25: an event larger than the whole bound still reaches who listens', () => {
  const streams = new SessionStreams({ bytes: 50, forMs: 60_000 }, roomy());
  const stream = streams.open();
  const { sink, gone, written } = connection();
  stream.attach(sink, gone.signal);
  void stream.send(said('x'.repeat(500)));
  assert.equal(written.length, 1);
  assert.equal(streams.loggedBytes, 0);
});

test('a thousand finished calls cost the next event nothing', () => {
  const streams = new SessionStreams({ bytes: 10_000_000, forMs: 60_000 }, roomy());
  for (let i = 0; i < 5_000; i += 1) {
    const stream = streams.open();
    const { sink, gone } = connection();
    stream.attach(sink, gone.signal);
    void stream.send(said('progress'));
    stream.respond('1', { result: {} }, 200);
  }
  const startedAt = performance.now();
  const stream = streams.open({ holds: true });
  for (let i = 0; i < 1_000; i += 1) void stream.send(said('event'));
  assert.ok(performance.now() - startedAt < 5_000);
});

test('closing ends every connection and lets go of everything', () => {
  const streams = new SessionStreams(FAR, roomy());
  const stream = streams.open({ holds: true });
  void stream.send(said('held'));
  const { sink, gone, written } = connection();
  stream.resume(sink, gone.signal, 0);
  streams.close();
  assert.deepEqual(written, ['1-1 held', 'end']);
  assert.deepEqual([streams.size, streams.loggedBytes], [0, 0]);
  void stream.send(said('late'));
  assert.equal(streams.loggedBytes, 0);
});

test('F25: when memory is short, the oldest events of any session go, and count as gone', () => {
  const budget = new BufferBudget(2_000);
  const [one, other] = [new SessionStreams(FAR, budget), new SessionStreams(FAR, budget)];
  const early = one.open({ holds: true });
  void early.send(said('e'.repeat(500)));
  const late = other.open({ holds: true });
  void late.send(said('l'.repeat(500)));
  assert.ok(one.find('1-0') !== undefined && other.find('1-0') !== undefined);
  const request = budget.open();
  assert.ok(request.resize(1_000), 'a request finds its room');
  assert.equal(one.find('1-0'), undefined);
  assert.deepEqual([one.loggedBytes, other.find('1-0')?.stream], [0, late]);
  request.resize(1_900);
  void late.send(said('m'.repeat(500)));
  assert.equal(other.find('1-1'), undefined, 'what found no room is gone from the start');
  request.resize(0);
  for (const streams of [one, other]) streams.close();
  assert.equal(budget.usedBytes, 0);
});

test('what is replayed is what was said, digit by digit', () => {
  const streams = new SessionStreams(FAR, roomy());
  const stream = streams.open({ holds: true });
  const params = readJson('{"big":9007199254740993,"exact":1.0,"text":"é😀"}') as JsonObject;
  void stream.send({ ...said('told'), params });
  const [event] = streams.eventsAfter(stream, 0);
  assert.ok(event !== undefined && 'message' in event.content);
  assert.equal(
    writeJson(event.content.message),
    '{"jsonrpc":"2.0","method":"told","params":{"big":9007199254740993,"exact":1.0,"text":"é😀"}}',
  );
});

test('F25: an event id of a session as it was on another replica names nothing here, and the other way round', () => {
  const ids = ['', 'one.', 'other.'].map((epoch) => {
    const streams = new SessionStreams(FAR, roomy(), epoch);
    return { streams, id: streams.open({ holds: true }).nextEventId() };
  });
  for (const one of ids) {
    for (const other of ids) assert.equal(one.streams.find(other.id) !== undefined, one === other);
  }
});
