// F58, F59: which values are kept out of logs, and that no problem ever repeats one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadedConfig, loadText, problemTexts } from './written-config.ts';

const CANARY = 'canary-6f1d2c';

interface SecretCase {
  readonly name: string;
  readonly server?: string;
  readonly gateway?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly files?: Record<string, string>;
  readonly secrets: readonly string[];
}

const CASES: readonly SecretCase[] = [
  {
    name: 'a header from the environment, alone and in its header',
    server: `url: "http://x", headers: { Authorization: "Bearer \${T}" }`,
    env: { T: CANARY },
    secrets: [`Bearer ${CANARY}`, CANARY],
  },
  {
    name: 'a header from a file',
    server: `url: "http://x", headers: { X-Key: "\${file:key}" }`,
    files: { key: `${CANARY}\n` },
    secrets: [CANARY],
  },
  {
    name: 'a header in plain sight',
    server:
      'url: "http://x", headers: { Authorization: "Basic dXNlcjpw", X-Tenant: acme, User-Agent: some-agent/1.0 }',
    secrets: ['Basic dXNlcjpw', 'dXNlcjpw'],
  },
  {
    name: 'a variable with a telling name',
    server:
      'command: node, env: { GITHUB_TOKEN: ghp_1234, DB_PASSWORD: hunter2, LOG_LEVEL: info, MODE: production }',
    secrets: ['ghp_1234', 'hunter2'],
  },
  {
    name: 'a variable with any name, from the environment',
    server: `command: node, env: { A: "\${A}", B: "\${B}", C: "\${C}", D: "\${D}" }`,
    env: { A: CANARY, B: 'short', C: 'production', D: '/home/ada/work' },
    secrets: [CANARY],
  },
  {
    name: 'arguments',
    server: `command: node, args: [--api-key, "key-1234", "--token=tok-1234", --header, "Authorization: Bearer bea-1234", "\${A}", --port, "8080"]`,
    env: { A: CANARY },
    secrets: ['bea-1234', CANARY, 'key-1234', 'tok-1234'],
  },
  {
    name: 'credentials and queries of URLs',
    server: 'url: "https://user:p%40ss@x/mcp?api_key=qwerty&region=eu-central"',
    secrets: ['eu-central', 'p%40ss', 'qwerty', 'p@ss'],
  },
  {
    name: 'a password in the URL of a variable',
    server: `command: node, env: { DATABASE_URL: "postgres://app:\${PW}@db/app" }`,
    env: { PW: 'pw-12345' },
    secrets: ['pw-12345'],
  },
  {
    name: 'the admin token and the proxy',
    server: 'url: "http://x"',
    gateway: `{ admin: { token: "\${T}" }, outbound: { proxy: "http://u:proxy-pass@p:1" } }`,
    env: { T: `${CANARY}-0123456789` },
    secrets: [`${CANARY}-0123456789`, 'proxy-pass'],
  },
  {
    name: 'nothing where a placeholder holds no credential',
    server: 'url: "http://x"',
    gateway: `{ publicUrl: "\${U}", listen: { port: "\${P}" }, log: { level: "\${L}" } }`,
    env: { U: 'https://mcp.example.com', P: '8080', L: 'debug' },
    secrets: [],
  },
];

for (const { name, server, gateway = '{}', env = {}, files = {}, secrets } of CASES) {
  test(`F58 secrets: ${name}`, async (t) => {
    const text = `mcpServers: { a: { ${server} } }\ngateway: ${gateway}\n`;
    const { config } = await loadedConfig(t, text, { env, files });
    assert.deepEqual([...config.secrets].sort(), [...secrets].sort());
    const lengths = config.secrets.map((secret) => secret.length);
    assert.deepEqual(
      lengths,
      lengths.toSorted((one, other) => other - one),
      'the longest first',
    );
  });
}

test('F58 a user and password in a url become a header, and the url holds neither', async (t) => {
  const { config } = await loadedConfig(
    t,
    'mcpServers: { a: { url: "https://us%20er:p%40ss@x.example/mcp?a=b" } }',
  );
  assert.ok(config.servers[0]?.type === 'http');
  assert.equal(config.servers[0].url, 'https://x.example/mcp?a=b');
  const authorization = `Basic ${Buffer.from('us er:p@ss').toString('base64')}`;
  assert.deepEqual(config.servers[0].headers, { authorization });
});

test('F59 no problem and no warning repeats a value, wherever it stands', async (t) => {
  const places = [
    ...[
      'command',
      'cwd',
      'url',
      'type',
      'protocol',
      'prefix',
      'startTimeout',
      'maxMessage',
      'maxLinks',
      'nonsense',
    ].map((key) => `mcpServers: { a: { ${key}: "\${C}" } }`),
    ...['headers: { X: C }', 'headers: { Host: C }', 'env: { A: C }', 'tls: { ca: C }', 'tools: C'].map(
      (keys) => `mcpServers: { a: { url: "http://x", ${keys.replace(' C', ` "\${C}"`)} } }`,
    ),
    ...['publicUrl', 'insecure', 'origins', 'bodyLimit', 'auth', 'log', 'nonsense'].map(
      (key) => `mcpServers: { a: { url: "http://x" } }\ngateway: { ${key}: "\${C}" }`,
    ),
    ...['origins', 'hosts', 'trustedProxies'].map(
      (key) => `mcpServers: { a: { url: "http://x" } }\ngateway: { ${key}: ["\${C}"] }`,
    ),
    `mcpServers: { a: { url: "http://x" } }\ngateway: { listen: { host: "\${C}" }, admin: { token: "\${C}", host: "\${C}" } }`,
  ];
  for (const value of [CANARY, `http://${CANARY}/`, `${CANARY}\n`, `/${CANARY}`]) {
    for (const text of places) {
      const loaded = await loadText(t, text, { env: { C: value } });
      const said = problemTexts(loaded).join('\n');
      assert.ok(!said.includes(CANARY), `${text}\n${said}`);
    }
  }
});
