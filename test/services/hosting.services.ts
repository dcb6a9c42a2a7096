// Servers as they are found in the field: a package runner with nothing in its cache, a Python script that prints, a
// program under another user, a container.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually.ts';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { descendantsOf, stillAlive } from '../support/process-tree.ts';
import { ModernClient, openSession } from '../support/raw-session.ts';

const EVERYTHING_SERVER = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const BANNER_SERVER = fileURLToPath(new URL('../support/banner-server.py', import.meta.url));

interface About {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly home: string;
  readonly pid: number;
}

async function gatewayFor(t: TestContext, server: object): Promise<GatewayProcess> {
  const gateway = await startGateway({ config: { mcpServers: { one: server } } });
  t.after(() => gateway.stop());
  return gateway;
}

async function whoami({ url }: GatewayProcess): Promise<About> {
  await using session = await openSession(url);
  const about = JSON.parse(await session.tool('whoami')) as About;
  await session.delete();
  return about;
}

test('F14: npx with nothing in its cache: ten clients wait for the one download, and get their answers', async (t) => {
  const cache = await mkdtemp(join(tmpdir(), 'portico-'));
  t.after(() => rm(cache, { recursive: true, force: true }));
  const gateway = await gatewayFor(t, {
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-everything', 'stdio'],
    // Where TLS is looked into, npm has to be told whom to trust: none of ours reaches it by itself.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the config
    env: { npm_config_cache: cache, NODE_EXTRA_CA_CERTS: '${NODE_EXTRA_CA_CERTS:-}' },
    isolation: 'shared',
    startTimeout: '3m',
  });
  const answers = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      await using client = new ModernClient(gateway.url);
      const message = `client ${index}`;
      assert.equal(await client.tool('echo', { message }), `Echo: ${message}`);
      return message;
    }),
  );
  assert.equal(answers.length, 10);
  const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as {
    servers: { one: { starts: number } };
  };
  assert.equal(status.servers.one.starts, 1);
});

test('F07: a server of npm behind a shell: its process is gone with its session, and with Portico', async (t) => {
  const args = ['-c', '"$0" "$@"; exit $?', process.execPath, EVERYTHING_SERVER, 'stdio'];
  const gateway = await startGateway({ config: { mcpServers: { one: { command: '/bin/sh', args } } } });
  t.after(() => gateway.stop().catch(() => {}));
  const session = await openSession(gateway.url);
  const lists = descendantsOf(gateway.pid);
  assert.equal(await session.tool('echo', { message: 'through a shell' }), 'Echo: through a shell');
  const known = new Set(lists.map(({ pid }) => pid));
  const own = descendantsOf(gateway.pid).filter(({ pid }) => !known.has(pid));
  assert.ok(own.length >= 2, 'the shell and the server');
  await session.delete();
  await eventually('both are gone', () => stillAlive(own).length === 0);
  await openSession(gateway.url).then((another) => another.tool('echo', { message: 'again' }));
  const family = descendantsOf(gateway.pid);
  assert.ok(family.length >= 5, 'two shells with a server each, and the guardian');
  process.kill(gateway.pid, 'SIGKILL');
  await eventually('nothing is left', () => stillAlive(family).length === 0);
  await assert.rejects(gateway.stop(), /SIGKILL/);
});

test('F17: a Python server that prints a banner, and words among its messages', async (t) => {
  const gateway = await gatewayFor(t, { command: 'python3', args: [BANNER_SERVER] });
  assert.equal((await whoami(gateway)).uid, process.getuid?.());
});

test('as root, a server runs as the user and group of its entry, in a home that is its own', async (t) => {
  assert.equal(process.getuid?.(), 0, 'this test needs root');
  const gateway = await gatewayFor(t, {
    command: '/usr/bin/env',
    args: ['python3', BANNER_SERVER],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    user: 'nobody',
    group: 'daemon',
  });
  await using session = await openSession(gateway.url);
  const { uid, gid, groups, home } = JSON.parse(await session.tool('whoami')) as About;
  assert.deepEqual([uid, gid], [65_534, 1]);
  assert.ok(!groups.includes(0), 'nothing of ours');
  const { uid: owner, mode } = await stat(home);
  assert.deepEqual([owner, mode & 0o777], [65_534, 0o700]);
});

const docker = async (...args: string[]) => (await promisify(execFile)('docker', args)).stdout.trim();
const containers = async () =>
  (await docker('ps', '--all', '--quiet', '--filter', 'name=portico-boxed-')).split('\n').filter(Boolean);

/** A container whose server takes no notice of the end of its input. */
function boxed(): object {
  const image = process.env.NODE_IMAGE ?? 'local/node:24';
  const script = `
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    setInterval(() => {}, 1000);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      const serverInfo = { name: 'boxed', version: '1' };
      if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
      else if (method === 'tools/list') send({ id, result: { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] } });
      else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: '{}' }] } });
      else send({ id, error: { code: -32601, message: 'no such method' } });
    });`;
  return { command: 'docker', args: ['run', '--network=none', image, 'node', '-e', script] };
}

test('F07: a container is gone with its client, however deaf its server is, and with Portico', async (t) => {
  const gateway = await startGateway({ config: { mcpServers: { boxed: boxed() } } });
  t.after(async () => {
    for (const id of await containers()) await docker('rm', '--force', id);
  });
  await whoami(gateway);
  await eventually(
    'the session’s own is gone with it',
    async () => (await containers()).length === 1,
    30_000,
  );
  const family = descendantsOf(gateway.pid);
  const [client] = family.filter(({ pid }) => pid !== gateway.pid);
  assert.ok(client);
  process.kill(gateway.pid, 'SIGKILL');
  await eventually('the clients are gone', () => stillAlive(family).length === 0);
  await eventually('so is the container', async () => (await containers()).length === 0, 30_000);
  await assert.rejects(gateway.stop(), /SIGKILL/);
});
