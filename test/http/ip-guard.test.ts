// The guard at the edge, on a real socket: what it counts, whom it takes for whom, and what it says.
import assert from 'node:assert/strict';
import { request as openRequest } from 'node:http';
import { test } from 'node:test';
import type { Arrival } from '../../src/access/limits/limit.ts';
import { GatewayError } from '../../src/errors.ts';
import { limitConfig } from '../access/limits/limits-rig.ts';
import { post, startEdge } from './edge.ts';

const GUARD = limitConfig({ name: 'guard', key: ['ip'], max: 2 });

function statusOf(url: string, method: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = openRequest(url, { method, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject).end();
  });
}

test('F57: what is over the limit is told when to come back, in JSON-RPC, and a browser may read it', async (t) => {
  const { url, settled } = await startEdge(t, { ipGuard: { guards: [GUARD] } });
  const headers = { Origin: 'http://localhost:1' };
  for (let n = 0; n < 2; n += 1) assert.equal((await post(`${url}/mcp`, '{}', headers)).status, 200);
  const refused = await post(`${url}/mcp`, '{"jsonrpc":"2.0","id":7}', headers);
  assert.equal(refused.status, 429);
  const seconds = Number(refused.headers.get('retry-after'));
  assert.ok(seconds >= 59 && seconds <= 60, String(seconds));
  assert.equal(refused.headers.get('access-control-allow-origin'), 'http://localhost:1');
  assert.match(refused.headers.get('access-control-expose-headers') ?? '', /Retry-After/);
  // The id is in the body, which has not been read.
  const { error, ...rest } = (await refused.json()) as { error: Record<string, unknown> };
  assert.deepEqual(rest, { jsonrpc: '2.0' });
  assert.deepEqual([error.code, error.message], [4290, 'Too many requests']);
  const { retryAfterMs } = error.data as { retryAfterMs: number };
  assert.ok(retryAfterMs > 58_000 && retryAfterMs <= 60_000);
  const last = settled.at(-1);
  assert.deepEqual([last?.outcome, last?.reason], ['rate-limited', 'rate:guard']);
});

test('F57: after the window all is as before', async (t) => {
  const guard = { ...GUARD, max: 1, windowMs: 150 };
  const { url } = await startEdge(t, { ipGuard: { guards: [guard] } });
  assert.equal((await post(`${url}/mcp`, '{}')).status, 200);
  let status: number;
  let refusals = 0;
  do {
    ({ status } = await post(`${url}/mcp`, '{}'));
    refusals += status === 429 ? 1 : 0;
  } while (status === 429);
  assert.equal(status, 200);
  assert.ok(refusals > 0);
});

test('every method counts but OPTIONS, and before anybody signs in (F53, F57)', async (t) => {
  let attempts = 0;
  const signIn = {
    authenticate: async () => {
      attempts += 1;
      throw new GatewayError('token-missing');
    },
    recognize: () => undefined,
    challenge: () => 'Test',
    metadata: () => undefined,
    watch: () => new AbortController().signal,
  };
  const { url } = await startEdge(t, { signIn, ipGuard: { guards: [GUARD] } });
  const preflight = { Origin: 'http://localhost:1', 'Access-Control-Request-Method': 'POST' };
  for (let n = 0; n < 5; n += 1) assert.equal(await statusOf(`${url}/mcp`, 'OPTIONS', preflight), 204);
  assert.equal(await statusOf(`${url}/mcp`, 'GET'), 401);
  assert.equal(await statusOf(`${url}/mcp/some-view`, 'DELETE'), 401);
  for (const method of ['POST', 'GET', 'DELETE']) assert.equal(await statusOf(`${url}/mcp`, method), 429);
  assert.equal(await statusOf(`${url}/mcp`, 'OPTIONS', preflight), 204);
  assert.equal(attempts, 2);
});

test('without trusted proxies nobody chooses an address', async (t) => {
  const { url } = await startEdge(t, { ipGuard: { guards: [GUARD] } });
  const from = (address: string) =>
    statusOf(`${url}/mcp`, 'POST', { ...JSON_BODY, 'X-Forwarded-For': address });
  const statuses = [await from('192.0.2.1'), await from('192.0.2.2'), await from('192.0.2.3')];
  assert.deepEqual(statuses, [200, 200, 429]);
});

const JSON_BODY = { 'Content-Type': 'application/json' };

test('a trusted proxy says who calls; what stands further left anybody may have written', async (t) => {
  const config = { trustedProxies: ['127.0.0.0/8', 'fd00::/8'] };
  const { url } = await startEdge(t, { config, ipGuard: { guards: [GUARD] } });
  const from = (...hops: string[]) =>
    statusOf(`${url}/mcp`, 'POST', { ...JSON_BODY, 'X-Forwarded-For': hops.join(', ') });
  const byOne: number[] = [];
  for (let n = 0; n < 3; n += 1) byOne.push(await from(`198.51.100.${n}`, '192.0.2.1', 'fd00::1'));
  assert.deepEqual(byOne, [200, 200, 429]);
  assert.equal(await from('192.0.2.2'), 200);
  const network: number[] = [];
  for (let n = 0; n < 3; n += 1) network.push(await from(`2001:db8:0:1::${n + 1}`));
  assert.deepEqual(network, [200, 200, 429]);
  assert.equal(await from('2001:db8:0:2::1'), 200);
  const inventions: number[] = [];
  for (let n = 0; n < 3; n += 1) inventions.push(await from(`nobody-${n}`));
  assert.deepEqual(inventions, [200, 200, 429]);
});

test('several guards hold, each for itself', async (t) => {
  const guards = [
    limitConfig({ name: 'minute', max: 100 }),
    limitConfig({ name: 'second', max: 1, windowMs: 5_000 }),
  ];
  const { url, settled } = await startEdge(t, { ipGuard: { guards } });
  await post(`${url}/mcp`, '{}');
  assert.equal((await post(`${url}/mcp`, '{}')).status, 429);
  assert.equal(settled.at(-1)?.reason, 'rate:second');
});

test('for all replicas it counts what it has let pass itself, and no more', async (t) => {
  const asked: Arrival[] = [];
  const admitAddress = async (arrival: Arrival) => {
    asked.push(arrival);
    if (asked.length > 1)
      throw new GatewayError('rate-limited', { reason: 'rate:guard', retryAfterMs: 2_000 });
  };
  const { url } = await startEdge(t, { ipGuard: { guards: [GUARD], admitAddress } });
  const answers: (string | null)[] = [];
  for (let n = 0; n < 5; n += 1) answers.push((await post(`${url}/mcp`, '{}')).headers.get('retry-after'));
  assert.deepEqual(answers.slice(0, 2), [null, '2']);
  assert.equal(asked.length, 2);
  assert.deepEqual(new Set(asked.map(({ address }) => address)), new Set(['127.0.0.1']));
});

test('where nothing is guarded, nothing is counted', async (t) => {
  const { url } = await startEdge(t, { ipGuard: { guards: [] } });
  for (let n = 0; n < 5; n += 1) assert.equal((await post(`${url}/mcp`, '{}')).status, 200);
});
