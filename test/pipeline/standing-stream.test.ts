// A subscription that has been left to itself: what ends it, and that it leaves nothing with its link.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayError } from '../../src/errors.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import { OpenListens } from '../../src/pipeline/open-listens.ts';
import { leaveStanding } from '../../src/pipeline/standing-stream.ts';
import { NEVER, Stop, type StopListener } from '../../src/runtime/stop.ts';
import { untilAborted } from '../../src/servers/within-time.ts';
import { newRecord } from '../../src/telemetry/exchange-record.ts';

/** A link's end that knows who waits for it. */
class Watched extends Stop {
  readonly waiting = new Set<StopListener>();

  override addEventListener(type: 'abort', listener: StopListener): void {
    this.waiting.add(listener);
    super.addEventListener(type, listener);
  }

  override removeEventListener(type: 'abort', listener: StopListener): void {
    this.waiting.delete(listener);
    super.removeEventListener(type, listener);
  }
}

interface RigOptions {
  readonly linkGone?: Watched;
  readonly closing?: Promise<void>;
}

function rig({ linkGone = new Watched(), closing }: RigOptions = {}) {
  const said: string[] = [];
  const listens = new OpenListens();
  const [clientGone, signedOut] = [new Stop(), new Stop()];
  const exchange = {
    ...{ view: 'raw', clientGone, signedOut, record: newRecord('x', 0) },
    reply: { end: () => said.push('ended'), fail: ({ code }: GatewayError) => said.push(code) },
  } as unknown as Exchange;
  const output = { send: () => undefined, respond: () => said.push('completed'), end: () => {} };
  const open = listens.open(exchange, '1', output);
  const close = () => {
    said.push('heard no more');
    return closing;
  };
  leaveStanding(exchange, { open, place: undefined, listen: { linkGone, close } });
  return { said, listens, clientGone, signedOut, linkGone, exchange };
}

for (const [what, end, outcome] of [
  ['its link has gone', ({ linkGone }) => linkGone.abort(), 'ok'],
  ['its caller is signed out', ({ signedOut }) => signedOut.abort(), 'ok'],
  ['Portico drains', ({ listens }) => listens.endAll(), 'ok'],
  ['its client leaves', ({ clientGone }) => clientGone.abort(), 'cancelled'],
] as [string, (one: ReturnType<typeof rig>) => void, string][]) {
  test(`it ends once when ${what}, and is held by nothing`, () => {
    const one = rig();
    assert.equal(one.listens.size, 1);
    end(one);
    one.linkGone.abort();
    one.signedOut.abort();
    one.clientGone.abort();
    assert.deepEqual(one.said, ['heard no more', outcome === 'ok' ? 'completed' : 'ended']);
    assert.equal(one.exchange.record.outcome, outcome);
    assert.equal(one.exchange.standing?.aborted, true);
    assert.equal(one.listens.size, 0);
    assert.equal(one.linkGone.waiting.size, 0);
  });
}

test('it is over at once where its link has gone before', () => {
  const linkGone = new Watched();
  linkGone.abort();
  const { said, listens } = rig({ linkGone });
  assert.deepEqual(said, ['heard no more', 'completed']);
  assert.equal(listens.size, 0);
});

test('what its reader was too slow for stays its outcome', () => {
  const { exchange, clientGone } = rig();
  exchange.record.outcome = 'no-capacity';
  clientGone.abort();
  assert.equal(exchange.record.outcome, 'no-capacity');
});

test('F44: while its last word is waited for it is no open stream, which a drain would not wait for', async () => {
  const { promise: closing, resolve } = Promise.withResolvers<void>();
  const { said, listens, exchange } = rig({ closing });
  listens.endAll();
  assert.equal(listens.size, 0);
  assert.equal(exchange.standing?.aborted, false);
  assert.deepEqual(said, ['heard no more']);
  resolve();
  await untilAborted(exchange.standing ?? NEVER).catch(() => {});
  assert.deepEqual(said, ['heard no more', 'completed']);
});

test('what goes wrong at its end is told to its client, and ends it all the same', async () => {
  const { said, signedOut, exchange } = rig({ closing: Promise.reject(new Error('of the end')) });
  signedOut.abort();
  await untilAborted(exchange.standing ?? NEVER).catch(() => {});
  assert.deepEqual(said, ['heard no more', 'internal']);
});

test('one that opens once Portico has drained is over at once', () => {
  const listens = new OpenListens();
  listens.endAll();
  const exchange = { view: 'raw', clientGone: NEVER, signedOut: NEVER } as unknown as Exchange;
  const output = { send: () => undefined, respond: () => {}, end: () => {} };
  assert.equal(listens.open(exchange, '1', output).aborted, true);
});
