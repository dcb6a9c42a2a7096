// How soon a stream that a server ended is opened again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { watchLists } from '../../src/servers/list-watch.ts';
import { ReopenPause } from '../../src/servers/reopen-pause.ts';
import { scriptedLink } from '../support/scripted-link.ts';

test('each time later, up to a bound, until one has held for a while', () => {
  const pause = new ReopenPause({ firstMs: 1_000, maxMs: 5_000 });
  assert.deepEqual(
    [0, 20, 0, 0, 60_000, 20].map((livedMs) => pause.after(livedMs)),
    [1_000, 2_000, 4_000, 5_000, 1_000, 2_000],
  );
});

test('F12: a modern server that agrees to a listen and ends it, again and again, is asked ever more seldom', async () => {
  const { link, wire } = scriptedLink({ era: 'modern', capabilities: { tools: { listChanged: true } } });
  const told: string[] = [];
  const over = new AbortController();
  const options = { unwanted: over.signal, firstPauseMs: 20 };
  const watching = watchLists(link, ({ method }) => told.push(method), options);
  const window = AbortSignal.timeout(500);
  let ended = 0;
  while (!window.aborted) {
    for (const open of wire.calls.slice(ended)) {
      open.onMessage({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged' });
      open.answer();
      ended += 1;
    }
    await delay(5);
  }
  over.abort();
  await watching;
  assert.ok(ended <= 6, `${ended} times`);
  assert.equal(told.length, ended - 1, 'each time some changes may have been missed');
});
