import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlaceHolder, type ProcessCaps, ProcessPlaces } from '../../src/servers/process-places.ts';
import { failure } from '../support/http-rig.ts';

const never = new AbortController().signal;

/** A process that is in use unless `idleSince` says otherwise. */
function holder(changes: Partial<PlaceHolder> = {}): PlaceHolder {
  return {
    server: 'a',
    maxOfServer: 100,
    owner: undefined,
    pinned: false,
    idleSince: () => undefined,
    letGo: () => false,
    ...changes,
  };
}

function caps(changes: Partial<ProcessCaps> = {}): ProcessPlaces {
  return new ProcessPlaces({ max: 100, maxPerPrincipal: 100, idleEnoughMs: 0, ...changes });
}

const CAPS = [
  { what: 'of one server', places: caps(), fills: { maxOfServer: 2 }, free: { server: 'b' } },
  {
    what: 'of one principal',
    places: caps({ maxPerPrincipal: 2 }),
    fills: { owner: 'ada' },
    free: { owner: 'bob' },
  },
  { what: 'of all', places: caps({ max: 2 }), fills: {}, free: undefined },
];

for (const { what, places, fills, free } of CAPS) {
  test(`over the cap ${what} there is no place, and nobody else is harmed`, () => {
    places.take(holder(fills));
    const second = places.take(holder(fills));
    assert.throws(() => places.take(holder(fills)), failure('no-capacity'));
    if (free !== undefined) places.take(holder({ ...fills, ...free }));
    second.free();
    places.take(holder(fills));
  });
}

test('F12: a process that is being stopped still has its place: the next waits until it is gone', async () => {
  const places = caps({ max: 1 });
  const first = places.take(holder());
  first.leave();
  const second = places.take(holder());
  assert.deepEqual([places.occupied, second.waiting], [1, true]);
  assert.throws(() => places.take(holder()), failure('no-capacity'));
  const ready = second.ready(never);
  first.free();
  await ready;
  assert.equal(places.occupied, 1);
});

test('whoever gives up waiting leaves the place to the next', async () => {
  const places = caps({ max: 1 });
  const first = places.take(holder());
  first.leave();
  const leaving = new AbortController();
  const second = places.take(holder());
  const ready = second.ready(leaving.signal);
  const reason = new Error('left');
  leaving.abort(reason);
  await assert.rejects(ready, reason);
  second.free();
  const third = places.take(holder());
  first.free();
  await third.ready(never);
});

test('of all servers the one that has been idle longest gives way', () => {
  const places = caps({ max: 3 });
  const gone: string[] = [];
  for (const [server, idleSince] of [
    ['a', 30],
    ['b', 10],
    ['c', 20],
  ] as const) {
    const place = places.take(
      holder({
        server,
        idleSince: () => idleSince,
        letGo() {
          gone.push(server);
          place.leave();
          return true;
        },
      }),
    );
  }
  const next = places.take(holder({ server: 'd' }));
  assert.deepEqual(gone, ['b']);
  assert.equal(next.waiting, true, 'it has not ended yet');
});

test('a principal at the cap loses a process of its own, not one of another', () => {
  const places = caps({ max: 3, maxPerPrincipal: 1 });
  const gone: string[] = [];
  for (const owner of ['ada', 'bob']) {
    const place = places.take(
      holder({
        owner,
        idleSince: () => (owner === 'ada' ? 1 : 2),
        letGo() {
          gone.push(owner);
          place.leave();
          return true;
        },
      }),
    );
  }
  places.take(holder({ owner: 'bob' }));
  assert.deepEqual(gone, ['bob']);
});

test('a place is handed over only to whom has one left', () => {
  const places = caps({ maxPerPrincipal: 1 });
  const spare = places.take(holder());
  places.take(holder({ owner: 'ada' }));
  assert.throws(() => places.handOver(spare, holder({ owner: 'ada' })), failure('no-capacity'));
  places.handOver(spare, holder({ owner: 'bob' }));
  assert.throws(() => places.take(holder({ owner: 'bob' })), failure('no-capacity'));
});
