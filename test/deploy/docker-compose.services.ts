// The image and the compose file, as their users start them. Needs a Docker engine with compose and BuildKit.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from 'undici';
import { CLIENT_KINDS, connectClient } from '../support/sdk-clients.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROJECT = `portico-test-${process.pid}`;

describe('docker compose up', () => {
  let env: NodeJS.ProcessEnv;
  let url: string;
  let adminUrl: string;

  const run = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)('docker', args, {
      cwd: ROOT,
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.trim();
  };
  const compose = (...args: string[]) => run('compose', '--project-name', PROJECT, ...args);
  const containerId = () => compose('ps', '--quiet', '--all', 'portico');

  before(
    async () => {
      const [port, adminPort] = await freePorts();
      env = { ...process.env, PORTICO_PORT: String(port), PORTICO_ADMIN_PORT: String(adminPort) };
      url = `http://127.0.0.1:${port}/mcp`;
      adminUrl = `http://127.0.0.1:${adminPort}`;
      await compose('build', '--quiet');
      await compose('up', '--detach', '--wait', '--wait-timeout', '60');
    },
    { timeout: 600_000 },
  );
  after(() => compose('down', '--volumes', '--timeout', '30'), { timeout: 60_000 });

  test('publishes its ports to this machine only', async () => {
    const ports = JSON.parse(
      await run('inspect', '--format', '{{json .NetworkSettings.Ports}}', await containerId()),
    ) as Record<string, { HostIp: string }[]>;
    const addresses = Object.values(ports).flat();
    assert.equal(addresses.length, 2);
    assert.deepEqual([...new Set(addresses.map(({ HostIp }) => HostIp))], ['127.0.0.1']);
  });

  for (const kind of CLIENT_KINDS) {
    test(`the client ${kind} initializes, lists and calls through it`, async () => {
      await using client = await connectClient(kind, url);
      assert.ok((await client.listTools()).includes('echo'));
      assert.equal((await client.call('echo', { message: 'hello' })).text, 'Echo: hello');
    });
  }

  test('is ready, and healthy in the eyes of the engine', async () => {
    const ready = await request(`${adminUrl}/readyz`);
    await ready.body.dump();
    assert.equal(ready.statusCode, 200);
    assert.equal(
      await run('inspect', '--format', '{{.State.Health.Status}}', await containerId()),
      'healthy',
    );
  });

  test('counts in the Redis that stands beside it, which nobody else reaches', async () => {
    const metrics = await request(`${adminUrl}/metrics`);
    assert.match(await metrics.body.text(), /^portico_store_available 1$/m);
    assert.match(await compose('exec', 'redis', 'redis-cli', 'KEYS', 'portico:limit:guard:*'), /\S/);
    const ports = JSON.parse(
      await run(
        'inspect',
        '--format',
        '{{json .NetworkSettings.Ports}}',
        await compose('ps', '--quiet', 'redis'),
      ),
    ) as Record<string, unknown>;
    assert.deepEqual(
      Object.values(ports).filter((published) => published !== null),
      [],
    );
  });

  test('runs as no root, with a root file system that nobody writes to', async () => {
    assert.notEqual(await compose('exec', 'portico', 'id', '-u'), '0');
    await assert.rejects(compose('exec', 'portico', 'touch', '/app/file'), /Read-only file system/);
  });

  test('reaps a process whose parent has gone (F07)', async () => {
    // The shell ends at once and leaves its child to PID 1, which has to wait for it.
    await compose('exec', 'portico', 'bash', '-c', 'exec -a orphan sleep 0.3 &');
    const states = 'for f in /proc/[0-9]*/stat; do read -r _ name state _ < "$f"; echo "$name $state"; done';
    let seen: string;
    do seen = await compose('exec', 'portico', 'bash', '-c', states);
    while (seen.includes('(sleep) S'));
    assert.doesNotMatch(seen, /\(sleep\)| Z$/m);
  });

  test('ends with code 0 when told to stop', async () => {
    const id = await containerId();
    await compose('stop', '--timeout', '30', 'portico');
    assert.equal(await run('inspect', '--format', '{{.State.ExitCode}}', id), '0');
  });
});

/** Two ports that were free a moment ago: Portico's own URL names the port, so it has to be known before. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  const ports: number[] = [];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) server.close();
  return [ports[0] ?? 0, ports[1] ?? 0];
}
