// What of a new config a running gateway cannot take over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config, GatewayConfig } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { runnableConfig } from '../../src/lifecycle/restart-keys.ts';
import { writeConfig } from '../config/written-config.ts';
import { authOf } from '../support/access-rig.ts';

const PUBLIC = { host: '0.0.0.0', port: 8080, tls: undefined };
const LOCAL = { host: '127.0.0.1', port: 8080, tls: undefined };

async function configWith(
  t: Parameters<typeof writeConfig>[0],
  changes: Partial<GatewayConfig>,
): Promise<Config> {
  const { file } = await writeConfig(t, 'mcpServers: {}');
  const loaded = await loadConfig(file, { env: {} });
  assert.ok(loaded.ok);
  return { ...loaded.config, gateway: { ...loaded.config.gateway, ...changes } };
}

test('keys that need a restart are kept as they are and named, the rest is taken', async (t) => {
  const running = await configWith(t, {});
  const wanted = await configWith(t, {
    listen: PUBLIC,
    publicUrl: 'https://mcp.example.com',
    auth: authOf({ ann: {} }),
    bodyLimitBytes: 7,
  });
  const { config, needRestart, isOpen } = runnableConfig(running, wanted);
  assert.deepEqual(needRestart, ['gateway.listen', 'gateway.publicUrl']);
  assert.deepEqual(config.gateway.listen, running.gateway.listen);
  assert.equal(config.gateway.publicUrl, running.gateway.publicUrl);
  assert.equal(config.gateway.bodyLimitBytes, 7);
  assert.deepEqual(config.gateway.auth, wanted.gateway.auth);
  assert.equal(isOpen, false);
});

test('without sign-in, a config for loopback is not put on an address that others reach', async (t) => {
  const running = await configWith(t, { listen: PUBLIC, auth: authOf({ ann: {} }) });
  for (const [changes, isOpen] of [
    [{ listen: LOCAL, auth: undefined }, true],
    [{ listen: LOCAL, auth: undefined, insecure: true }, false],
    [{ listen: LOCAL, auth: authOf({ ben: {} }) }, false],
  ] as const) {
    assert.equal(runnableConfig(running, await configWith(t, changes)).isOpen, isOpen);
  }
});
