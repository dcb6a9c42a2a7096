// Limits over several replicas that share a Redis: exactly what is allowed, together.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { ModernClient } from '../support/raw-session.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const SERVER = fileURLToPath(new URL('../support/faulty-stdio-server.ts', import.meta.url));

describe('two gateways on one Redis', () => {
  let redis: TestRedis;
  let gateways: readonly GatewayProcess[];

  before(async () => {
    redis = await startRedis({ password: 'secret-of-redis' });
    const config = {
      mcpServers: { faulty: { command: process.execPath, args: [SERVER], isolation: 'shared' } },
      gateway: {
        redis: { url: redis.url, timeout: '2s' },
        limits: [
          { name: 'exact', key: 'server', match: 'faulty/tools/**', max: 1_000, window: '1m' },
          { name: 'leased', key: 'server', match: 'faulty/prompts/**', max: 1_000, lease: 20 },
          { name: 'guard', key: 'ip', max: 100_000 },
        ],
      },
    };
    const start = () => startGateway({ config, secrets: ['secret-of-redis'] });
    gateways = await Promise.all([start(), start()]);
  });
  after(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await redis.close();
  });

  /** How many of `times` requests were let through, from 64 callers at once, half at each gateway. */
  async function letThrough(times: number, method: string, params: Record<string, unknown>): Promise<number> {
    let left = times;
    let passed = 0;
    const caller = async (n: number) => {
      await using client = new ModernClient(gateways[n % 2]?.url ?? '', { keepAlive: true });
      while (left > 0) {
        left -= 1;
        const { error } = await client.ask(method, params);
        if (error?.code !== 4290) passed += 1;
        else assert.ok(Number(error.data?.retryAfterMs) > 0);
      }
    };
    await Promise.all(Array.from({ length: 64 }, (_, n) => caller(n)));
    return passed;
  }

  test('1,000 a minute is 1,000 under 64 callers at once', async () => {
    assert.equal(await letThrough(1_300, 'tools/call', { name: 'echo', arguments: { text: 'x' } }), 1_000);
  });

  test('leased, it is passed by one lease a replica at most', async () => {
    const passed = await letThrough(1_300, 'prompts/get', { name: 'no-such-prompt' });
    assert.ok(passed >= 1_000 - 2 * 20 && passed <= 1_000 + 2 * 20, String(passed));
  });

  test('they know of each other, and have asked nobody else', async () => {
    const known: (string | undefined)[] = [];
    for (const { adminUrl } of gateways) {
      const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
      assert.match(metrics, /^portico_store_available 1$/m);
      assert.match(metrics, /^portico_limit_fallbacks_total 0$/m);
      known.push(/^portico_replicas (\d+)$/m.exec(metrics)?.[1]);
    }
    // Whoever came first hears of the other a few seconds later.
    assert.ok(known.includes('2'), known.join());
  });
});
