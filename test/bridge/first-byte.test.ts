// When the HTTP status goes out, and which.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';
import type { StartedGateway } from '../support/start-gateway.ts';

async function behind(t: TestContext, era: 'modern' | 'legacy'): Promise<StartedGateway> {
  return (await legacyHttpBehind(t, { era })).gateway;
}

for (const era of ['modern', 'legacy'] as const) {
  for (const [code, status] of [
    [-32021, 400],
    [-32601, 404],
    [-32602, 200],
    [-32000, 200],
    [42, 200],
  ] as const) {
    test(`a modern client is told error ${code} of a ${era} server with status ${status}, as JSON`, async (t) => {
      await using client = new ModernClient((await behind(t, era)).url);
      const call = { name: 'protocol-error', arguments: { code } };
      const answer = await client.start('tools/call', call).answer;
      assert.deepEqual([answer.status, answer.headers['content-type']], [status, 'application/json']);
      assert.equal((await answer.json()).error?.code, code);
    });
  }

  test(`after the first message of a ${era} server it is 200, and failures come as events`, async (t) => {
    const { gateway, server } = await legacyHttpBehind(t, { era });
    await using client = new ModernClient(gateway.url);
    const call = { name: 'progress', arguments: { steps: 1 } };
    server.fault('tools/call:progress', { framing: 'events', cutAfter: 1 });
    const answer = await client.start('tools/call', call, { meta: { progressToken: 'p' } }).answer;
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/event-stream']);
    const { response, before } = await answer.whole();
    assert.equal(before[0]?.params?.progressToken, 'p');
    assert.equal(response.error?.code, 5020);
  });
}

test('a legacy client gets its status within a second, a modern one only when there is something to say', async (t) => {
  const gateway = await behind(t, 'legacy');
  await using modern = new ModernClient(gateway.url);
  await using legacy = await openSession(gateway.url);
  const call = { name: 'wait', arguments: { ms: 1_500 } };
  const startedAt = performance.now();
  const waiting = modern.start('tools/call', call).answer;
  const early = await legacy.start('tools/call', call).answer;
  assert.equal(early.headers['content-type'], 'text/event-stream');
  const waitedMs = performance.now() - startedAt;
  assert.ok(waitedMs > 900 && waitedMs < 1_450, `after ${waitedMs} ms`);
  assert.equal((await waiting).headers['content-type'], 'application/json');
  assert.ok((await early.whole()).response.result);
});

test('a legacy client whose answer is quick gets JSON', async (t) => {
  await using session = await openSession((await behind(t, 'modern')).url);
  const answer = await session.start('tools/call', { name: 'echo', arguments: {} }).answer;
  assert.equal(answer.headers['content-type'], 'application/json');
  await answer.text();
});

test('after five seconds a modern client is told that somebody is at work', async (t) => {
  await using client = new ModernClient((await behind(t, 'modern')).url);
  const startedAt = performance.now();
  const exchange = client.start('tools/call', { name: 'never', arguments: {} });
  const answer = await exchange.answer;
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/event-stream']);
  assert.ok(performance.now() - startedAt > 4_900);
  exchange.abort();
});
