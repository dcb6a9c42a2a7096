// How long a call may take, and what is left of it when its time is up (F43).
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StdioServerConfig } from '../../src/config/config.ts';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import type { Message } from '../support/raw-client.ts';
import { ModernClient, openSession, textOf } from '../support/raw-session.ts';
import { PROCESSES } from '../support/replicas-wanted.ts';
import { startGateway } from '../support/start-gateway.ts';

async function child(t: TestContext, limits: Partial<StdioServerConfig>) {
  const gateway = await startGateway({
    stdio: { switches: ['--era=legacy'], isolation: 'shared', ...limits },
  });
  t.after(() => gateway.close());
  return gateway;
}

test('F43: a call that takes too long is one error with its id, and is cancelled at the server', async (t) => {
  const gateway = await child(t, { callTimeoutMs: 500 });
  await using client = new ModernClient(gateway.url);
  const answer = await client.ask('tools/call', { name: 'never', arguments: {} }, { id: '"slow"' });
  assert.deepEqual([answer.id, answer.error?.code], ['slow', 5040]);
  const received = JSON.parse(await client.tool('received')) as Message[];
  const called = received.find(({ params }) => params?.name === 'never');
  const cancelled = received.find(({ method }) => method === 'notifications/cancelled');
  assert.equal(cancelled?.params?.requestId, called?.id);
});

test('F43: over HTTP the stream of the call is closed', async (t) => {
  const { gateway, server } = await legacyHttpBehind(t, { era: 'modern', config: { callTimeoutMs: 500 } });
  await using client = new ModernClient(gateway.url);
  assert.equal((await client.ask('tools/call', { name: 'never', arguments: {} })).error?.code, 5040);
  assert.equal(await (await server.request('tools/call:never')).ended, 'broken');
});

const STALLS = [
  { stall: 'at-once' },
  { stall: 'after-headers' },
  { stall: 'mid-body' },
  { dripMs: 40 },
] as const;
for (const fault of STALLS) {
  test(`F43: one clock runs to the last byte: ${JSON.stringify(fault)}`, async (t) => {
    const { gateway, server } = await legacyHttpBehind(t, { era: 'modern', config: { callTimeoutMs: 400 } });
    await using client = new ModernClient(gateway.url);
    await client.tool('echo', { text: 'lists are known' });
    server.fault('tools/call', fault);
    const startedAt = performance.now();
    const { error } = await client.ask('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(200) } });
    assert.equal(error?.code, 5040);
    assert.ok(performance.now() - startedAt < 3_000);
  });
}

test('F43: progress extends the time', async (t) => {
  const { gateway } = await legacyHttpBehind(t, { config: { callTimeoutMs: 400, maxCallTimeMs: 30_000 } });
  await using session = await openSession(gateway.url);
  const params = { name: 'progress', arguments: { steps: 5, everyMs: 200 } };
  const meta = { progressToken: 1 };
  assert.equal(textOf(await session.ask('tools/call', params, { meta })), 'done');
});

test('F43: not past the maximum', async (t) => {
  const limits = { callTimeoutMs: 300, maxCallTimeMs: 600 };
  const { gateway } = await legacyHttpBehind(t, { config: limits });
  await using session = await openSession(gateway.url);
  const params = { name: 'progress', arguments: { steps: 100, everyMs: 50 } };
  const answer = await session.start('tools/call', params, { meta: { progressToken: 1 } }).answer;
  const { response, before } = await answer.whole();
  assert.equal(response.error?.code, 5040);
  assert.ok(before.length > 5, 'it was at work all the time');
});

test('F43: a question to the client and its answer extend the time too', async (t) => {
  const { gateway } = await legacyHttpBehind(t, { config: { callTimeoutMs: 800 } });
  await using session = await openSession(gateway.url, { capabilities: { roots: {} } });
  // Each step is shorter than the timeout, any two of them are longer.
  const params = { name: 'ask', arguments: { method: 'roots/list', params: {}, thinkMs: 500 } };
  const answer = await session.start('tools/call', params).answer;
  const question = await answer.message();
  await new Promise((resolve) => setTimeout(resolve, 500));
  await session.respond(question?.id, { result: { roots: [] } });
  assert.equal(textOf((await answer.whole()).response), '{"roots":[]}');
});

test('F43: in a legacy session an expired call is an error on its stream', async (t) => {
  const gateway = await child(t, { callTimeoutMs: 1_300 });
  await using session = await openSession(gateway.url);
  const answer = await session.start('tools/call', { name: 'never', arguments: {} }, { id: '"it"' }).answer;
  assert.ok(answer.isStream, 'its status went out after a second');
  const { response } = await answer.whole();
  assert.deepEqual([response.id, response.error?.code], ['it', 5040]);
});

test('who waits in line too long, or finds it full, is told to come back later', async (t) => {
  const gateway = await child(t, { maxInFlight: 1, queue: { max: 1, timeoutMs: 300 } });
  await using client = new ModernClient(gateway.url);
  const places = Array.from({ length: PROCESSES }, (_, index) => index);
  for (const _ of places) await client.tool('echo', { text: 'lists are known' });
  const running = places.map(() => client.start('tools/call', { name: 'never', arguments: {} }));
  while ((await gateway.status()).servers.faulty?.inFlight !== places.length);
  const answers = places
    .flatMap((id) => [id, -id])
    .map(async (id) => {
      const answer = await client.start('tools/call', { name: 'echo', arguments: {} }, { id: String(id) })
        .answer;
      return {
        status: answer.status,
        retryAfter: answer.headers['retry-after'],
        message: await answer.json(),
      };
    });
  for (const { status, retryAfter, message } of await Promise.all(answers)) {
    assert.deepEqual([status, message.error?.code], [503, 5030]);
    assert.match(String(retryAfter), /^\d+$/);
  }
  for (const call of running) call.abort();
});
