// Redis: reached, signed in to, and able to count.
import { type Check, failed, type Surroundings } from './check-parts.ts';

export function redisChecks({ config, lasting }: Surroundings): Check[] {
  const { redis } = config.gateway;
  if (redis === undefined) return [];
  const { protocol, host } = new URL(redis.url);
  return [
    {
      kind: 'redis',
      subject: `${protocol}//${host}`,
      async run() {
        try {
          await lasting.store.open();
          await lasting.store.take([{ key: 'doctor', amount: 1, max: 1_000, windowMs: 1_000 }]);
          return { verdict: 'ok', text: 'answers and counts' };
        } catch (thrown) {
          return failed(thrown, 'Check gateway.redis.url, and what docs/operations.md says its user may do.');
        }
      },
    },
  ];
}
