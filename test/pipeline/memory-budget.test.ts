// One budget for all that is held: `gateway.maxBuffered`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import type { Message } from '../support/raw-client.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import { type StartedGateway, startGateway } from '../support/start-gateway.ts';

const MB = 1024 * 1024;

/** A call that asks its client something, so that all of it goes out as events. @returns the id of the first one */
async function callByEvents(session: RawSession, bytes: number): Promise<string> {
  const call = session.start('tools/call', { name: 'ask', arguments: {} });
  const answer = await call.answer;
  const first = await answer.event();
  const question = JSON.parse(first?.data || (await answer.event())?.data || '') as Message;
  await session.respond(question.id, { result: { action: 'accept', content: { text: 'x'.repeat(bytes) } } });
  await answer.whole();
  return first?.id ?? '';
}

async function metric(gateway: StartedGateway, name: string): Promise<number> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

test('F04: what sessions could replay is held within gateway.maxBuffered, and makes no request wait', async (t) => {
  const { gateway } = await legacyHttpBehind(t, { gateway: { maxBufferedBytes: MB } });
  const capabilities = { elicitation: {} };
  const sessions: RawSession[] = [];
  const firstEvents: string[] = [];
  for (let opened = 0; opened < 6 * PROCESSES; opened += 1) {
    const session = await openSession(gateway.url, { capabilities });
    sessions.push(session);
    firstEvents.push(await callByEvents(session, 200_000));
    assert.ok((await metric(gateway, 'portico_buffered_bytes')) <= MB * PROCESSES);
  }
  assert.ok((await metric(gateway, 'portico_replay_bytes')) > 0.5 * MB, 'what fits is kept');
  const [oldest] = sessions;
  const gone = await oldest?.listen(firstEvents[0]);
  assert.equal(gone?.status, 400, 'events that gave way are gone like any others');
  const kept = await sessions.at(-1)?.listen(firstEvents.at(-1));
  assert.equal(kept?.status, 200);
  for (const session of sessions) await session[Symbol.asyncDispose]();
});

test('a line that a server has not finished keeps new requests out, and is not cut for it', async () => {
  await using gateway = await startGateway({
    stdio: { switches: ['--era=modern'] },
    gateway: { maxBufferedBytes: MB },
  });
  await using client = new ModernClient(gateway.url);
  for (let turn = 0; turn < PROCESSES; turn += 1) await client.tool('echo', { text: 'up' });
  for (let turn = 0; turn < PROCESSES; turn += 1) await client.tool('answer-then-endless', { bytes: 3 * MB });
  while ((await metric(gateway, 'portico_buffered_bytes')) < 3 * MB * PROCESSES) await delay(5);
  const refused = await client.start('tools/list').answer;
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
  assert.equal((await refused.json()).error?.code, 5030);
  assert.equal((await gateway.status()).servers.faulty?.links, PROCESSES);
});
