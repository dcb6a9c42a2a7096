// The life of a call that may be parked: every state, every event, and nothing in between.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isOver,
  nextParkedState,
  type ParkedEvent,
  type ParkedState,
} from '../../../src/bridge/parking/parked-state.ts';

const STATES: readonly ParkedState[] = [
  'open',
  'parked',
  'withdrawn',
  'resumed',
  'answered',
  'expired',
  'cancelled',
];
const EVENTS: readonly ParkedEvent[] = ['park', 'resume', 'withdraw', 'answer', 'expire', 'cancel'];

/** All that may happen, each with what it stands for; every other pair must mean nothing. */
const TRANSITIONS: readonly (readonly [ParkedState, ParkedEvent, ParkedState, string])[] = [
  ['open', 'park', 'parked', 'the server asks, the exchange ends with the question'],
  ['open', 'answer', 'answered', 'the server answers without asking'],
  ['open', 'cancel', 'cancelled', 'the client leaves before there is anything to tell it'],
  ['parked', 'resume', 'resumed', 'the client comes back'],
  ['parked', 'withdraw', 'withdrawn', 'the server takes its questions back'],
  ['parked', 'expire', 'expired', 'nobody comes back'],
  ['parked', 'cancel', 'cancelled', 'the gateway ends'],
  ['withdrawn', 'resume', 'resumed', 'the client comes back with an answer that nobody wants'],
  ['withdrawn', 'expire', 'expired', 'nobody comes back, though nothing is asked any more'],
  ['withdrawn', 'cancel', 'cancelled', 'the gateway ends'],
  ['resumed', 'park', 'parked', 'the server asks again'],
  ['resumed', 'answer', 'answered', 'the server answers'],
  ['resumed', 'cancel', 'cancelled', 'the client leaves the second time'],
];

for (const [from, event, to, what] of TRANSITIONS) {
  test(`${from} > ${event} > ${to}: ${what}`, () => {
    assert.equal(nextParkedState(from, event), to);
  });
}

test('nothing else happens', () => {
  const possible = new Set(TRANSITIONS.map(([from, event]) => `${from} ${event}`));
  for (const state of STATES) {
    for (const event of EVENTS) {
      if (!possible.has(`${state} ${event}`)) assert.equal(nextParkedState(state, event), undefined);
    }
  }
});

test('answered, expired and cancelled are the ends, and the only ones', () => {
  assert.deepEqual(STATES.filter(isOver), ['answered', 'expired', 'cancelled']);
});
