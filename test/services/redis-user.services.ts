// The user of Redis in docs/operations.md may do all that two replicas need, and nothing that they do is refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { LimitConfig } from '../../src/config/limits-config.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultyHttpServer } from '../support/faulty-http-server.ts';
import { openSession, through } from '../support/raw-session.ts';
import { startRedis } from '../support/redis.ts';
import { REPLICA_SECRET } from '../support/replicas-wanted.ts';
import { runGateways } from '../support/running-gateways.ts';
import { replicaSeat } from '../support/start-replicas.ts';

const DOCUMENT = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const RULES = /^ACL SETUSER (\S+) on >(\S+) (.*)$/m;
const LIMIT: LimitConfig = {
  name: 'fair',
  key: ['ip'],
  match: '*',
  max: 1_000,
  windowMs: 60_000,
  inFlight: undefined,
  cost: undefined,
  lease: 100,
};

test('F55: the documented user of Redis is enough for limits, sessions and news of two replicas', async (t) => {
  await using redis = await startRedis();
  const [, user = '', password = '', rules = ''] = RULES.exec(DOCUMENT) ?? [];
  await redis.command('ACL', 'SETUSER', user, 'on', `>${password}`, ...rules.split(' '));
  const server = await startFaultyHttpServer({ era: 'legacy' });
  t.after(() => server.close());
  const url = redis.url.replace('redis://', `redis://${user}:${password}@`);
  const shared = { url, keyPrefix: 'portico:', timeoutMs: 2_000 };
  const seats = await Promise.all([replicaSeat(shared), replicaSeat(shared)]);
  const service = await runGateways(
    { http: { url: server.url }, gateway: { limits: [LIMIT] }, secrets: [REPLICA_SECRET] },
    seats,
  );
  t.after(() => service.close());
  const [first, second] = service.members;
  await using session = await openSession(`${first?.url}/mcp`);
  await using same = through(`${second?.url}/mcp`, session);
  assert.equal(await same.tool('echo', { text: 'handed over' }), 'handed over');
  await first?.close();
  assert.equal(await same.tool('echo', { text: 'taken over' }), 'taken over');
  await eventually('it is alone', async () => {
    const status = (await (await fetch(`${second?.adminUrl}/status`)).json()) as { replicas: unknown[] };
    return status.replicas.length === 1;
  });
  assert.equal(await same.delete(), 204);
  assert.deepEqual(await redis.command('ACL', 'LOG'), []);
});
