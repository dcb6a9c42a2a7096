// Good configs: what a file says, resolved.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { loadedConfig, loadText, writeConfig } from './written-config.ts';

test('an HTTP server is told by its url and may ask for roots', async (t) => {
  const { config } = await loadedConfig(t, 'mcpServers: { docs: { url: "https://docs.example.com/mcp" } }');
  const [server] = config.servers;
  assert.ok(server?.type === 'http');
  assert.equal(server.url, 'https://docs.example.com/mcp');
  assert.deepEqual(server.headers, {});
  assert.equal(server.tls, undefined);
  assert.equal(server.client.roots, 'allow');
});

test('the default call timeout gives way to a shorter maxCallTime', async (t) => {
  const { config } = await loadedConfig(t, 'mcpServers: { a: { url: "http://x", maxCallTime: 5s } }');
  assert.equal(config.servers[0]?.callTimeoutMs, 5_000);
});

test('sections whose keys are commented out count as left out', async (t) => {
  const text = `
mcpServers:
  a:
    url: http://x
    headers: # none
    queue:
gateway:
  listen:
    # host: 0.0.0.0
  sessions: ~
  admin:
  auth:
`;
  const { config } = await loadedConfig(t, text);
  assert.equal(config.gateway.listen.host, '127.0.0.1');
  assert.equal(config.gateway.admin?.port, 9090);
  const bare = await loadedConfig(t, 'mcpServers: { a: { url: "http://x" } }\ngateway:\n');
  assert.equal(bare.config.gateway.sessions.max, 10_000);
});

test('numbers and truth values in arguments, variables and headers are what is written', async (t) => {
  const text = `mcpServers:
  a: { command: node, args: [--port, 8080, 1.10], env: { PORT: 8080, VERSION: 1.10, HEX: 0x1F, ON: true, OFF: null } }
  b: { url: "http://b", headers: { X-Version: 2, X-On: false } }
`;
  const { config } = await loadedConfig(t, text);
  const [a, b] = config.servers;
  assert.ok(a?.type === 'stdio' && b?.type === 'http');
  assert.deepEqual(a.args, ['--port', '8080', '1.10']);
  assert.deepEqual(a.env, { PORT: '8080', VERSION: '1.10', HEX: '0x1F', ON: 'true' });
  assert.deepEqual(b.headers, { 'X-Version': '2', 'X-On': 'false' });
});

test('aliases repeat a value', async (t) => {
  const text =
    'mcpServers:\n  a: { url: "http://a", queue: &q { max: 5 } }\n  b: { url: "http://b", queue: *q }\n';
  const { config } = await loadedConfig(t, text);
  assert.deepEqual(
    config.servers.map((server) => server.queue.max),
    [5, 5],
  );
});

test('--host and --port stand in for gateway.listen and its default publicUrl', async (t) => {
  const text = 'mcpServers: { a: { url: "http://x" } }\ngateway: { listen: { port: 1 } }';
  const { config } = await loadedConfig(t, text, { listen: { host: '::1', port: 8443 } });
  assert.deepEqual(config.gateway.listen, { host: '::1', port: 8443, tls: undefined });
  assert.equal(config.gateway.publicUrl, 'http://[::1]:8443');
});

test('F46 publicUrl is used as it is written', async (t) => {
  for (const url of [
    'https://MCP.Example.com',
    'https://mcp.example.com:443',
    'https://x.example/a/b',
    'http://127.0.0.1:8080',
  ]) {
    const { config } = await loadedConfig(
      t,
      `mcpServers: { a: { url: "http://x" } }\ngateway: { publicUrl: "${url}" }`,
    );
    assert.equal(config.gateway.publicUrl, url);
  }
});

test('a config that is not there, or is a folder, is one clear problem', async (t) => {
  const { folder } = await writeConfig(t, '');
  for (const [file, reason] of [
    [join(folder, 'none.yaml'), 'there is no such file'],
    [folder, 'it is a folder'],
    ['/dev/zero', 'it is not a regular file'],
  ] as const) {
    const loaded = await loadConfig(file, { env: {} });
    assert.deepEqual(loaded, {
      ok: false,
      files: [file],
      problems: [
        {
          file,
          line: 1,
          column: 1,
          path: '',
          message: `this config file is of no use: ${reason}`,
          hint: 'Name another with --config.',
        },
      ],
    });
  }
});

test('the prefix of names is the slug, without the dots that clients refuse in names', async (t) => {
  const { config } = await loadedConfig(t, 'mcpServers: { my.docs-2: { url: "http://x" } }');
  assert.equal(config.servers[0]?.prefix, 'my_docs-2');
});

test('where other replicas reach this one is taken as it is written', async (t) => {
  const secret = 'x'.repeat(32);
  const loaded = await loadText(
    t,
    'mcpServers: {}\ngateway: { redis: { url: "redis://r" }, replica: { listen: { host: "::", port: 9091 }, ' +
      `url: "https://[fd00::5]:9091", secret: "\${REPLICA}" } }`,
    { env: { REPLICA: secret } },
  );
  assert.ok(loaded.ok);
  assert.deepEqual(loaded.config.gateway.replica, {
    listen: { host: '::', port: 9091 },
    url: 'https://[fd00::5]:9091',
    secret,
  });
  assert.ok(loaded.config.secrets.includes(secret), 'the secret is kept out of logs');
});
