// The end of a session that moves between replicas while it is looked for: it is over wherever it was found last (F04).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS } from '../../src/access/principal.ts';
import type { LegacySession } from '../../src/bridge/sessions/legacy-session.ts';
import type { LocatedSession } from '../../src/bridge/sessions/legacy-sessions.ts';
import type { Exchange } from '../../src/pipeline/exchange.ts';
import type { GatewayContext } from '../../src/pipeline/gateway-context.ts';
import { endElsewhere } from '../../src/pipeline/session-elsewhere.ts';
import type { StoredSession } from '../../src/state/session-store.ts';
import { failure } from '../support/http-rig.ts';

type Elsewhere = Extract<LocatedSession, { at: 'elsewhere' }>;

const EXCHANGE = { principal: ANONYMOUS, view: undefined, headers: {} } as Exchange;

/** As it is on record after so many moves. */
function elsewhere(stamp: string): Elsewhere {
  return { at: 'elsewhere', owner: 'gone', stored: { key: 'k', stamp, owner: 'gone' } as StoredSession };
}

/** Each time that it is to be forgotten, another replica has got it by then, as long as there are places. */
function moving(places: readonly LocatedSession[]) {
  const left = [...places];
  const done: string[] = [];
  const gateway = {
    replicas: { lookFor: async () => undefined },
    sessions: {
      locate: async () => left.shift(),
      async forget({ stamp }: StoredSession) {
        done.push(`forget ${stamp}`);
        return left.length === 0;
      },
      async end({ key }: LegacySession) {
        done.push(`end ${key}`);
      },
    },
  } as unknown as GatewayContext;
  return { done, end: () => endElsewhere(gateway, EXCHANGE, { ...elsewhere('first'), id: 'i' }) };
}

test('F04: the record that nobody takes up meanwhile is removed', async () => {
  const { done, end } = moving([]);
  assert.equal(await end(), false);
  assert.deepEqual(done, ['forget first']);
});

test('F04: one that moves to another dead replica is ended there, as it is on record by then', async () => {
  const { done, end } = moving([elsewhere('second')]);
  assert.equal(await end(), false);
  assert.deepEqual(done, ['forget first', 'forget second']);
});

test('F04: one that is taken up here meanwhile is ended here', async () => {
  const { done, end } = moving([{ at: 'here', session: { key: 'k' } as LegacySession }]);
  assert.equal(await end(), false);
  assert.deepEqual(done, ['forget first', 'end k']);
});

test('one that never stays is not said to be ended', async () => {
  const { done, end } = moving(['2', '3', '4', '5'].map(elsewhere));
  await assert.rejects(end(), failure('session-unknown', 'session_moved'));
  assert.equal(done.length, 3);
});
