// What becomes of an exchange at another replica when one of the two ends of the hop goes away.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS } from '../../src/access/principal.ts';
import { GatewayError } from '../../src/errors.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import { type Forward, forwardExchange, type RepeatedReply } from '../../src/pipeline/forward-exchange.ts';
import type { GatewayContext } from '../../src/pipeline/gateway-context.ts';
import { endElsewhere, openElsewhere } from '../../src/pipeline/session-elsewhere.ts';
import type { ForwardedExchange, ReplyFrame } from '../../src/replicas/replicas.ts';
import type { StoredSession } from '../../src/state/session-store.ts';
import { newRecord } from '../../src/telemetry/exchange-record.ts';
import { eventually } from '../support/eventually.ts';
import { failure } from '../support/http-rig.ts';

type Answer = (sent: ForwardedExchange, signal: AbortSignal) => AsyncIterable<ReplyFrame>;

const OPEN: ReplyFrame = { open: { primingEventId: '1-1' } };
const RESPONSE: ReplyFrame = { respond: { idText: '1', outcome: { result: {} } } };
const CALL = { to: 'home', kind: 'permitted', outlivesClient: true } as const;
const ELSEWHERE = { owner: 'home', stored: { key: 'k', owner: 'home' } as StoredSession };

/** An exchange at its edge. @param answer what the home says to all that is handed to it */
function edge(answer: Answer) {
  const sent: ForwardedExchange[] = [];
  const said: unknown[][] = [];
  const [ending, leaving] = [new AbortController(), new AbortController()];
  const note =
    (what: string) =>
    (...args: unknown[]) =>
      void said.push([what, ...args]);
  const reply = {
    setHeader: note('header'),
    openStream: note('open'),
    send: note('send'),
    respond: note('respond'),
    accept: note('accept'),
    end: note('end'),
    get committed() {
      return said.length > 0;
    },
  } satisfies RepeatedReply & { committed: boolean };
  const exchange = {
    ...{ id: 'x1', httpMethod: 'POST', view: undefined, headers: {}, principal: ANONYMOUS, reply },
    ...{ body: Buffer.from('{}'), arrival: { address: '' }, record: newRecord('x1', 0) },
    ...{ clientGone: leaving.signal, signedOut: new AbortController().signal },
  } as unknown as Exchange;
  const gateway = {
    ending: ending.signal,
    replicas: {
      lookFor: async (id: string) => (id === 'home' ? {} : undefined),
      async forward(_to: string, message: ForwardedExchange, signal: AbortSignal) {
        sent.push(message);
        return answer(message, signal);
      },
    },
    sessions: { locate: async () => undefined, forget: () => assert.fail('its home ends it') },
  } as unknown as GatewayContext;
  const forward = (options: Forward = CALL) => forwardExchange(gateway, exchange, options);
  return { gateway, exchange, sent, said, forward, ending, leaving };
}

/** Says something, and then what `last` comes to. */
function slowly(last: (signal: AbortSignal) => Promise<ReplyFrame>, first = OPEN): Answer {
  return async function* ({ kind }, signal) {
    // It is told that the client has left, and has nothing to say to that: it goes on.
    if (kind === 'left') return;
    yield first;
    yield await last(signal);
  };
}

const untilCut = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

test('the home of a call is told that its client has left, and the end of the call is waited for', async () => {
  const done = Promise.withResolvers<ReplyFrame>();
  const call = slowly(() => done.promise);
  const { forward, sent, said, leaving } = edge((message, signal) =>
    message.kind === 'left' ? answers({ accept: 202 }) : call(message, signal),
  );
  const over = forward();
  await eventually('it is under way', () => said.length > 0);
  leaving.abort();
  await eventually('the home is told', () => sent.length > 1);
  const [asked, left] = sent;
  assert.deepEqual([left?.kind, left?.id, left?.body.length], ['left', asked?.id, 0]);
  done.resolve(RESPONSE);
  await over;
  assert.deepEqual(
    said.map(([what]) => what),
    ['open', 'respond'],
  );
  assert.equal(sent.length, 2, 'once');
});

test('where the home cannot be told that the client has left, the connection that ends says it', async () => {
  const call = slowly(untilCut);
  const { forward, said, leaving } = edge((message, signal) =>
    message.kind === 'left'
      ? answers({ fail: { code: 'no-capacity', details: {}, era: 'legacy' } })
      : call(message, signal),
  );
  const over = forward();
  await eventually('it is under way', () => said.length > 0);
  leaving.abort();
  await assert.rejects(over, failure('server-unavailable', 'replica_lost'));
});

test('an answer that has no end is none', async () => {
  const { forward } = edge(() => answers(OPEN));
  await assert.rejects(forward(), failure('server-unavailable', 'replica_lost'));
});

const STAYS: ReplyFrame = { accept: 202 };
const DRAINS: ReplyFrame = { fail: { code: 'draining', details: {}, era: 'legacy' } };

for (const [what, first, home, ended] of [
  ['F44: a stream that its client can come back for ends in good order with its edge', OPEN, STAYS, true],
  ['F44: one whose home drains as well fails', OPEN, DRAINS, false],
  ['F44: one that it cannot come back for fails', { open: {} }, STAYS, false],
] as const) {
  test(what, async () => {
    const call = slowly(untilCut, first);
    const { forward, said, exchange, ending } = edge((message, signal) =>
      message.kind === 'left' ? answers(home) : call(message, signal),
    );
    const over = forward();
    await eventually('it is under way', () => said.length > 0);
    ending.abort(new Error('the end'));
    if (!ended) return assert.rejects(over, failure('draining'));
    await over;
    assert.deepEqual([said.at(-1), exchange.record.outcome], [['end'], 'draining']);
  });
}

test('F24: a GET stream ends where its home is lost, and is cut where its client leaves', async () => {
  const lost = Promise.withResolvers<never>();
  const atLost = edge(slowly(() => lost.promise));
  await openElsewhere(atLost.gateway, atLost.exchange, { elsewhere: ELSEWHERE, sole: undefined });
  lost.reject(new GatewayError('server-unavailable', { reason: 'replica_lost' }));
  await eventually('it has ended', () => atLost.said.at(-1)?.[0] === 'end');

  const cut = Promise.withResolvers<void>();
  const left = edge(
    slowly((signal) => {
      signal.addEventListener('abort', () => cut.resolve());
      return untilCut(signal);
    }),
  );
  await openElsewhere(left.gateway, left.exchange, { elsewhere: ELSEWHERE, sole: undefined });
  left.leaving.abort();
  await cut.promise;
});

test('F04: a session is ended by the replica that it lives on, where that is live', async () => {
  const { gateway, exchange, sent, said } = edge(() => answers({ accept: 204 }));
  assert.equal(await endElsewhere(gateway, exchange, { at: 'elsewhere', ...ELSEWHERE, id: 'i' }), true);
  assert.deepEqual([sent.length, said], [1, [['accept', 204]]]);
});

async function* answers(...frames: ReplyFrame[]): AsyncGenerator<ReplyFrame> {
  yield* frames;
}
