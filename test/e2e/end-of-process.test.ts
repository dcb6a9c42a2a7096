// How a process of Portico ends while much is going on (F44).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway-process.ts';
import type { Members } from '../support/raw-client.ts';
import { ModernClient, openSession, textOf } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import { FAULTY_SERVER } from '../support/stdio-rig.ts';

const CHILDREN = 10;
const CALLS_EACH = 20;
const LISTENS = 30;
const GET_STREAMS = 20;
const CALL_MS = 2_500 * PROCESSES;

function faulty(...switches: string[]): Members {
  return { command: process.execPath, args: [FAULTY_SERVER, ...switches] };
}

test('F44: SIGTERM amid 200 calls, 50 streams and 10 children: no call is lost, all streams end well', async () => {
  const slugs = Array.from({ length: CHILDREN }, (_, index) => `server-${index}`);
  await using gateway = await startGateway({
    config: {
      mcpServers: Object.fromEntries(slugs.map((slug) => [slug, faulty('--era=both')])),
      gateway: { drain: { delay: '200ms', grace: '20s' } },
    },
  });
  const urls = slugs.map((slug) => `${gateway.url.replace(/\/mcp.*$/, '')}/mcp/${slug}`);
  const clients = urls.map((url) => new ModernClient(url));
  await Promise.all(clients.map((client) => client.tool('echo', { text: 'warm' })));
  const listens = await Promise.all(
    Array.from(
      { length: LISTENS },
      (_, index) =>
        clients[index % CHILDREN]?.start(
          'subscriptions/listen',
          { notifications: { toolsListChanged: true } },
          {
            id: `"listen-${index}"`,
          },
        ).answer,
    ),
  );
  const sessions = await Promise.all(
    Array.from({ length: GET_STREAMS }, (_, index) => openSession(urls[index % CHILDREN] ?? '')),
  );
  const streams = await Promise.all(sessions.map((session) => session.listen()));
  const inFlight = async () => {
    const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as {
      servers: Record<string, { inFlight: number }>;
    };
    return Object.values(status.servers).reduce((sum, server) => sum + server.inFlight, 0);
  };
  const calls = clients.flatMap((client, index) =>
    Array.from({ length: CALLS_EACH }, (_, call) =>
      client.ask('tools/call', { name: 'wait', arguments: { ms: CALL_MS } }, { id: `"${index}-${call}"` }),
    ),
  );
  await eventually('all calls are under way', async () => (await inFlight()) === CHILDREN * CALLS_EACH);
  const stopped = gateway.stop();
  await eventually(
    'readiness is red',
    async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 503,
  );
  for (const [index, answer] of (await Promise.all(calls)).entries()) {
    assert.equal(answer.id, `${Math.floor(index / CALLS_EACH)}-${index % CALLS_EACH}`);
    assert.equal(textOf(answer), 'waited');
  }
  for (const [index, listen] of listens.entries()) {
    const whole = await listen?.whole();
    assert.equal(whole?.response.id, `listen-${index}`);
    assert.equal(whole?.response.result?.resultType, 'complete');
  }
  assert.deepEqual(
    await Promise.all(streams.map((stream) => stream.ended())),
    streams.map(() => true),
  );
  assert.equal(await stopped, 0);
  for (const client of [...clients, ...sessions]) await client[Symbol.asyncDispose]();
});

test('F44: a second signal does not wait for a child that withstands the first', async () => {
  await using gateway = await startGateway({
    config: {
      mcpServers: { stubborn: faulty('--era=both', '--ignore-eof', '--ignore-sigterm') },
      gateway: { drain: { delay: '1m', grace: '1m' } },
    },
  });
  await using client = new ModernClient(gateway.url);
  const call = client.ask('tools/call', { name: 'never', arguments: {} }, { id: '"mine"' });
  await eventually('the child runs', async () => {
    const { servers } = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as {
      servers: { stubborn: { inFlight: number } };
    };
    return servers.stubborn.inFlight === 1;
  });
  const startedAt = performance.now();
  gateway.signal('SIGINT');
  // A terminal's Ctrl-C reaches the process directly and through npm: that is one signal, and hurries nothing.
  gateway.signal('SIGINT');
  await eventually('it drains', () => gateway.log().includes('told to end'));
  assert.doesNotMatch(gateway.log(), /"hurried":true/);
  const stopped = gateway.stop();
  const answer = await call;
  assert.equal(answer.id, 'mine');
  assert.ok([5020, 5030].includes(Number(answer.error?.code)));
  assert.equal(await stopped, 0);
  assert.ok(performance.now() - startedAt < 30_000, 'a minute of delay and one of grace were not waited for');
});
