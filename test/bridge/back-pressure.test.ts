// A client that reads too slowly, on a link of its own: its server waits for it, and nothing is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { openSession } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';

/** More than a reply may hold back for one client: 4 MiB. */
const STEPS = 60_000;
/** How often, and for how long, the same has to be held; a look at a busy gateway may take seconds. */
const LOOKS = 3;
const SAME_FOR_MS = 200;
const PATIENCE_MS = 60_000;

test("a session's child waits for a client that reads slowly, and every message arrives", async () => {
  await using gateway = await startGateway({ stdio: { switches: ['--era=legacy'] } });
  await using session = await openSession(gateway.url);
  const params = {
    name: 'progress',
    arguments: { values: Array.from({ length: STEPS }, (_, step) => step) },
    _meta: { progressToken: 'a token that is long enough to fill a pipe in no time at all' },
  };
  const answer = await session.start('tools/call', params, { headers: { accept: 'text/event-stream' } })
    .answer;
  let looks = 0;
  let before = 0;
  let sameSince = 0;
  const isSteady = async () => {
    const held = await bufferedBytes(gateway.adminUrl);
    const isSame = held > 0 && held === before;
    looks = isSame ? looks + 1 : 0;
    if (!isSame) sameSince = performance.now();
    before = held;
    return looks >= LOOKS && performance.now() - sameSince >= SAME_FOR_MS;
  };
  await eventually('no more is held for the client, since its server waits', isSteady, PATIENCE_MS);
  assert.ok(before < 2 * 1024 * 1024, `${before} bytes are held`);
  const messages = await answer.messages();
  assert.equal(messages.filter(({ method }) => method === 'notifications/progress').length, STEPS);
  assert.ok(messages.at(-1)?.result);
});

async function bufferedBytes(adminUrl: string): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1]);
  // What could be replayed is bounded by itself.
  return gauge('portico_buffered_bytes') - gauge('portico_replay_bytes');
}
