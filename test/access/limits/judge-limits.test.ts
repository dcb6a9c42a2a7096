// gateway.limits and gateway.redis: what they become, and what they may not say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeLimits } from '../../../src/access/limits/judge-limits.ts';
import { gateway, testBadConfigs } from '../../config/bad-config.ts';
import { loadedConfig, loadText, problemTexts } from '../../config/written-config.ts';

const judges = [judgeLimits];
const AUTH = `auth: { apiKeys: [{ name: ci, sha256: "${'a'.repeat(64)}" }] }`;
const REDIS = 'redis: { url: "redis://127.0.0.1" }';

/** One limit with these keys. */
function limit(keys: string, others = ''): string {
  return gateway(`{ ${AUTH}, ${others === '' ? '' : `${others}, `}limits: [{ name: l, ${keys} }] }`);
}

test('every key is read, and what is left out has its default', async (t) => {
  const text = gateway(`
  ${AUTH}
  redis: { url: "rediss://user:p%40ss@redis.internal:6380/2", keyPrefix: "mcp:", timeout: 50ms }
  limits:
    - { name: guard, key: ip, max: 600 }
    - name: work
      key: principal+tool
      match: "a/search_*"
      max: 100
      window: 1h
      inFlight: 4
      cost: { call: 5 }
      lease: 10
    - { name: busy, key: group, inFlight: 20 }`);
  const { config, warnings } = await loadedConfig(t, text, { judges });
  assert.deepEqual(warnings, []);
  const nothing = { max: undefined, inFlight: undefined, cost: undefined, lease: undefined };
  assert.deepEqual(config.gateway.limits, [
    { ...nothing, name: 'guard', key: ['ip'], match: '*', max: 600, windowMs: 60_000 },
    {
      name: 'work',
      key: ['principal', 'tool'],
      match: 'a/search_*',
      max: 100,
      windowMs: 3_600_000,
      inFlight: 4,
      cost: { call: 5, list: 1 },
      lease: 10,
    },
    { ...nothing, name: 'busy', key: ['group'], match: '*', windowMs: 60_000, inFlight: 20 },
  ]);
  assert.deepEqual(config.gateway.redis, {
    url: 'rediss://user:p%40ss@redis.internal:6380/2',
    keyPrefix: 'mcp:',
    timeoutMs: 50,
  });
  for (const secret of ['p%40ss', 'p@ss']) assert.ok(config.secrets.includes(secret), secret);
});

test('a lease means nothing where there is no Redis, and is left out', async (t) => {
  const { config } = await loadedConfig(t, limit('key: principal, max: 100, lease: 10'), { judges });
  assert.equal(config.gateway.limits[0]?.lease, undefined);
});

testBadConfigs(
  'limits that would not do what they say are refused',
  [
    {
      name: 'no such key',
      text: limit('key: ▸user, max: 1'),
      problems: 'gateway.limits[0].key: expected ip, principal',
    },
    {
      name: 'keys joined by a comma',
      text: limit('key: ▸"ip,tool", max: 1'),
      problems: 'gateway.limits[0].key: expected',
    },
    {
      name: 'nothing to limit',
      text: gateway(`{ limits: [▸{ name: l, key: ip }] }`),
      problems: 'gateway.limits[0]: this limits nothing',
    },
    { name: 'nothing at all', text: limit('key: ip, max: ▸0'), problems: 'gateway.limits[0].max: expected' },
    {
      name: 'a name twice',
      text: gateway('{ limits: [{ name: l, key: ip, max: 1 }, { name: ▸l, key: tool, max: 1 }] }'),
      problems: 'gateway.limits[1].name: a limit above has the same name',
    },
    {
      name: 'a target of no server',
      text: limit('key: ip, max: 1, match: ▸"aa/x"'),
      problems: 'gateway.limits[0].match: there is no server aa',
      hint: 'Did you mean a?',
    },
    {
      name: 'a target that is none',
      text: limit('key: ip, max: 1, match: ▸"*/x"'),
      problems: 'gateway.limits[0].match: expected *, server',
    },
    {
      name: 'a cost that never fits',
      text: limit('key: ip, max: 4, cost: { call: ▸5 }'),
      problems: 'gateway.limits[0].cost.call: one such request costs more than max',
    },
    {
      name: 'a cost of what is no kind',
      text: limit('key: ip, max: 4, cost: { ▸read: 5 }'),
      problems: 'gateway.limits[0].cost.read: there is no key',
    },
    {
      name: 'a lease of more than all',
      text: limit('key: ip, max: 4, lease: ▸5', REDIS),
      problems: 'gateway.limits[0].lease: a lease is more than the whole limit',
    },
  ].map((bad) => ({ ...bad, judges })),
);

testBadConfigs('a URL that leads to no Redis is refused', [
  {
    name: 'another scheme',
    text: gateway('{ redis: { url: ▸"http://x" } }'),
    problems: 'gateway.redis.url: expected a redis:// or rediss:// URL',
  },
  {
    name: 'no URL',
    text: gateway('{ redis: { url: ▸"redis://[" } }'),
    problems: 'gateway.redis.url: expected a redis:// or rediss:// URL',
  },
  {
    name: 'no host',
    text: gateway('{ redis: { url: ▸"redis://" } }'),
    problems: 'gateway.redis.url: the URL names no host',
  },
  {
    name: 'a path',
    text: gateway('{ redis: { url: ▸"redis://x/a" } }'),
    problems: 'gateway.redis.url: what stands behind the host',
  },
  {
    name: 'options in the query',
    text: gateway('{ redis: { url: ▸"redis://x?enableOfflineQueue=true" } }'),
    problems: 'gateway.redis.url: a query means nothing here',
  },
]);

const DOUBTS: readonly [name: string, text: string, warning: string][] = [
  [
    'callers that nobody knows',
    gateway('{ limits: [{ name: l, key: principal, max: 1 }] }'),
    'gateway.limits[0].key: without gateway.auth everyone is one',
  ],
  [
    'a lease alone',
    limit('key: ip, max: 9, lease: 2'),
    'gateway.limits[0].lease: lease means nothing without gateway.redis',
  ],
  [
    'a window for nothing',
    limit('key: ip, inFlight: 1, window: 1h'),
    'gateway.limits[0].window: window means nothing without max',
  ],
  [
    'a slip in a kind',
    limit('key: ip, max: 1, match: "a/tool/x"'),
    'gateway.limits[0].match: this means tools',
  ],
  [
    'one address for all',
    limit('key: ip, max: 1', 'publicUrl: "https://mcp.example.com"'),
    'gateway.limits[0].key: TLS seems to end at a proxy',
  ],
];
for (const [name, text, warning] of DOUBTS) {
  test(`${name} is warned of`, async (t) => {
    const loaded = await loadText(t, text, { judges });
    assert.ok(loaded.ok);
    const texts = problemTexts(loaded);
    assert.equal(texts.length, 1, texts.join('\n'));
    assert.ok(texts[0]?.includes(warning), texts[0]);
  });
}

test('with proxies that are known, and with auth, nothing is to be said', async (t) => {
  const others = 'publicUrl: "https://mcp.example.com", trustedProxies: [10.0.0.1]';
  const { warnings } = await loadedConfig(t, limit('key: ip+principal, max: 1', others), { judges });
  assert.deepEqual(warnings, []);
});
