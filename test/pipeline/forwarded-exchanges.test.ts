// Exchanges at the replica that they were handed over to, and word that the client of one has left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callerOf } from '../../src/access/caller-of.ts';
import { ANONYMOUS } from '../../src/access/principal.ts';
import { SealedState } from '../../src/bridge/seals/sealed-state.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import { ForwardedExchanges } from '../../src/pipeline/forwarded-exchanges.ts';
import { Stop, type StopSignal } from '../../src/runtime/stop.ts';

function rig({ isDraining = false } = {}) {
  const exchanges = new ForwardedExchanges(new SealedState(), 'home', () => isDraining);
  const said: string[] = [];
  const arrived = (kind: 'permitted' | 'left', replica: string, id: string) => {
    const reply = {
      accept: () => said.push(`${kind} ${id} accepted`),
      end: () => said.push(`${kind} ${id} ended`),
    };
    return {
      ...{ id, reply, principal: ANONYMOUS, caller: callerOf(ANONYMOUS, () => undefined) },
      ...{ forwarded: { replica, kind }, clientGone: new AbortController().signal },
    } as unknown as Exchange;
  };
  const never = () => assert.fail('what a client has left needs no handling');
  return {
    exchanges,
    said,
    leave: (replica: string, id: string) => exchanges.run(arrived('left', replica, id), never),
    /** One that stands once it has been handled, until it is told to end. */
    stream(replica: string, id: string) {
      const standing = new Stop();
      const over = exchanges.run(arrived('permitted', replica, id), async (exchange) => {
        exchange.standing = standing;
      });
      return {
        async end() {
          standing.abort();
          await over;
        },
      };
    },
    /** A call that runs until it is told to end. */
    call(replica: string, id: string) {
      const done = Promise.withResolvers<void>();
      let gone: StopSignal | undefined;
      const over = exchanges.run(arrived('permitted', replica, id), ({ clientGone }) => {
        gone = clientGone;
        return done.promise;
      });
      return {
        isLeft: () => gone?.aborted,
        async end() {
          done.resolve();
          await over;
        },
      };
    },
  };
}

test('word that a client has left is for its exchange alone, and is the word of its own replica', async () => {
  const { said, leave, call } = rig();
  const [one, other] = [call('edge', 'x1'), call('edge', 'x2')];
  await leave('third', 'x1');
  await leave('edge', 'x3');
  assert.deepEqual([one.isLeft(), other.isLeft()], [false, false]);
  await leave('edge', 'x1');
  assert.deepEqual([one.isLeft(), other.isLeft()], [true, false]);
  said.length = 0;
  await one.end();
  await other.end();
  assert.deepEqual(said, ['permitted x1 ended'], 'its record is waited for, the other one answers itself');
});

test('what is over is forgotten, and no word of it is held against the next', async () => {
  const { exchanges, leave, call, said } = rig();
  const first = call('edge', 'x1');
  assert.equal(exchanges.running, 1);
  await first.end();
  assert.equal(exchanges.running, 0);
  await leave('edge', 'x1');
  assert.deepEqual(said, ['left x1 accepted']);
  const again = call('edge', 'x1');
  assert.equal(again.isLeft(), false);
  await again.end();
});

test('F44: word that a client has left is heard while the home drains too, which says so', async () => {
  const { leave, call } = rig({ isDraining: true });
  const one = call('edge', 'x1');
  await assert.rejects(leave('edge', 'x1'), { code: 'draining' });
  assert.equal(one.isLeft(), true);
  await one.end();
});

test('what stands runs on until it is over', async () => {
  const { exchanges, stream } = rig();
  const one = stream('edge', 'x1');
  await new Promise(setImmediate);
  assert.equal(exchanges.running, 1);
  await one.end();
  assert.equal(exchanges.running, 0);
});
