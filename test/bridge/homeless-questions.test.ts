// Questions of a legacy server that nobody's call could have caused: bounded, refused in the end, gone with the link.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../support/raw-client.ts';
import { ModernClient } from '../support/raw-session.ts';
import { startGateway } from '../support/start-gateway.ts';

/** Makes the server ask `count` times, on a call that cannot be meant: one of a client without features. */
const asking = (count: number) => {
  const lines = Array.from({ length: count }, (_, id) =>
    JSON.stringify({ jsonrpc: '2.0', id: `q${id}`, method: 'roots/list' }),
  );
  return { name: 'raw', arguments: { text: `${lines.join('\n')}\n`, answer: true } };
};

test('F10: what waits for a call when the gateway ends is gone with its link', async () => {
  const gateway = await startGateway({
    stdio: {
      switches: ['--era=legacy', '--roots-after-initialized'],
      client: { roots: 'allow', sampling: 'allow', elicitation: 'allow' },
    },
    overrides: { questionPatienceMs: 60_000 },
  });
  await using client = new ModernClient(gateway.url, { capabilities: { roots: {} } });
  // A completion starts the link, and can be asked nothing itself.
  const ref = { type: 'ref/prompt', name: 'greet' };
  await client.ask('completion/complete', { ref, argument: { name: 'x', value: '' } });
  // Its end would be held up, or its timer found, were the question still waiting.
  await gateway.close();
});

test('F23: a server that asks without end is refused beyond a bound, and goes on being served', async () => {
  await using gateway = await startGateway({
    stdio: { switches: ['--era=legacy'], isolation: 'principal' },
    overrides: { questionPatienceMs: 60_000 },
  });
  await using client = new ModernClient(gateway.url);
  const answer = await client.ask('tools/call', asking(130));
  assert.ok(answer.result);
  let refused: Message[] = [];
  while (refused.length < 130) {
    const received = JSON.parse(await client.tool('received')) as Message[];
    refused = received.filter(({ error }) => error !== undefined);
  }
  assert.ok(refused.every(({ error }) => error?.code === -32601));
  assert.equal(await client.tool('echo', { text: 'fine' }), 'fine');
});
