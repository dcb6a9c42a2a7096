// What the sealed state of a parked call says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTicket, writeTicket } from '../../../src/bridge/parking/parked-ticket.ts';

test('a ticket is read as it was written, with a replica and without', () => {
  for (const ticket of [
    { replica: undefined, id: 'a-b_C', round: 1 },
    { replica: '0b1c2d3e-0000-4000-8000-000000000000', id: '123', round: 12 },
  ]) {
    assert.deepEqual(readTicket(writeTicket(ticket)), ticket);
  }
  assert.equal(writeTicket({ replica: undefined, id: 'x', round: 2 }), 'parked x 2');
});

test('what is no ticket is none', () => {
  for (const text of ['afresh', '', 'parked', 'parked x', 'parked x y', 'parked a b c 1', ' parked x 1']) {
    assert.equal(readTicket(text), undefined, text);
  }
});
