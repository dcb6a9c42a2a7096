// One of three replicas is killed under load. `npm run replicas:kill` is the same for longer and with more clients.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, renderKill } from '../replicas/kill-report.ts';
import { killOneUnderLoad } from '../replicas/killed-replica.ts';
import { startRedis } from '../support/redis.ts';

test('F01, F44: of three replicas one is killed: its calls in flight and its children’s sessions are lost, and nothing else', async (t) => {
  await using redis = await startRedis();
  const report = await killOneUnderLoad({ redisUrl: redis.url, clients: 6, seconds: 6 });
  for (const line of renderKill(report).split('\n')) t.diagnostic(line);
  assert.deepEqual(faultsOf(report), []);
});
