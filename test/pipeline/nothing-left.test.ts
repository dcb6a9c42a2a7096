// Two hundred sessions that nobody ends, some that are, and what is left of them (F04, F06).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { legacyHttpBehind, sessionLimits } from '../support/legacy-http.ts';
import { RawClient } from '../support/raw-client.ts';
import { ModernClient, openSession, type RawSession } from '../support/raw-session.ts';
import { LIST_LINKS } from '../support/replicas-wanted.ts';
import { startGateway } from '../support/start-gateway.ts';

const SESSIONS = 200;
const DELETED = 60;

test('F04: 200 abandoned sessions leave no session, no stream, no connection upstream', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { gateway: sessionLimits() });
  await using watcher = new ModernClient(gateway.url);
  await watcher.tool('echo', { text: 'one link that stays' });
  await server.until(() => server.listening === LIST_LINKS + 1);
  const sessions: RawSession[] = [];
  for (let begun = 0; begun < SESSIONS; begun += 20) {
    // Each on its own: none is idle for long while the others of a busy machine open.
    const opening = Array.from({ length: 20 }, async (_, n) => {
      const session = await openSession(gateway.url);
      await session.tool('progress', { steps: 1 });
      if (n < 5) assert.equal((await session.listen()).status, 200);
      return session;
    });
    sessions.push(...(await Promise.all(opening)));
  }
  assert.ok(server.requests('initialize').length > SESSIONS, 'each had a session upstream');
  for (const session of sessions) await session[Symbol.asyncDispose]();
  // Only now: on a busy machine opening them all takes longer than any short time.
  await gateway.reload({ gateway: sessionLimits({ idleTimeoutMs: 200 }) });
  while ((await gateway.status()).sessions > 0) await delay(50);
  await server.until(() => server.sessions.size === LIST_LINKS + 1 && server.listening === LIST_LINKS + 1);
  const { servers } = await gateway.status();
  assert.deepEqual([servers.faulty?.links, servers.faulty?.inFlight], [LIST_LINKS + 1, 0]);
});

test('F04: sessions that are deleted leave as little', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t);
  for (let begun = 0; begun < DELETED; begun += 20) {
    const some = await Promise.all(Array.from({ length: 20 }, () => openSession(gateway.url)));
    await Promise.all(some.map((session) => session.tool('echo', { text: 'x' })));
    await Promise.all(some.map((session) => session.delete()));
  }
  await server.until(() => server.sessions.size === LIST_LINKS && server.listening === LIST_LINKS);
  const { sessions, servers } = await gateway.status();
  assert.deepEqual([sessions, servers.faulty?.links], [0, LIST_LINKS]);
});

test('F06: 100 requests without a session need one child', async () => {
  await using gateway = await startGateway({ stdio: { switches: ['--era=legacy'], isolation: 'shared' } });
  await using modern = new ModernClient(gateway.url);
  await using legacy = new RawClient(gateway.url, { headers: { 'mcp-protocol-version': '2025-06-18' } });
  await modern.tool('echo', { text: 'up' });
  for (let round = 0; round < 50; round += 1) {
    assert.equal(await modern.tool('echo', { text: `${round}` }), `${round}`);
    const params = { name: 'echo', arguments: { text: 'x' } };
    const answer = await legacy.send({ body: { jsonrpc: '2.0', id: round, method: 'tools/call', params } });
    assert.equal((await answer.whole()).response.id, round);
  }
  assert.equal(gateway.children().length, LIST_LINKS);
  assert.equal((await gateway.status()).servers.faulty?.starts, LIST_LINKS);
});
