// The two images, as their users start them: with no file of their own, and with one. Needs a Docker engine.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { request } from 'undici';
import { buildImage, docker, logOf, typed } from '../support/docker.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { connectClient, type SdkClient } from '../support/sdk-clients.ts';
import { startHttpServer } from '../support/sdk-server-process.ts';

const IMAGES = ['portico', 'portico-slim'] as const;
/** The engine asks for health at once, rather than after five seconds. */
const HARDENED = [
  '--health-interval=500ms',
  '--read-only',
  '--tmpfs',
  '/tmp',
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges',
];
const START_TIMEOUT_MS = 30_000;
const NPX_TIMEOUT_MS = 180_000;

/** Of everything below the program's folder. */
const LIST_OWNERS = `
  const { lstatSync, readdirSync } = require('node:fs');
  for (const name of readdirSync('/app', { recursive: true })) console.log(lstatSync('/app/' + name).uid);
`;

before(
  async () => {
    for (const image of IMAGES) await buildImage(image, image);
  },
  { timeout: 600_000 },
);

/** @returns its id, once the engine calls it healthy */
async function started(t: TestContext, args: readonly string[]): Promise<string> {
  const id = await docker(['run', '--detach', ...HARDENED, ...args]);
  t.after(() => docker(['rm', '--force', '--volumes', id]));
  const state = (field: string) => docker(['inspect', '--format', `{{.State.${field}}}`, id]);
  let seen = '';
  await eventually(
    'the container is healthy',
    async () => {
      seen = `${await state('Status')} ${await state('Health.Status')}`;
      return seen !== 'running starting';
    },
    START_TIMEOUT_MS,
  );
  assert.equal(seen, 'running healthy', await logOf(id));
  return id;
}

/** A folder with a config, as it is mounted at /etc/portico; both listeners are of this machine's loopback. */
async function configured(t: TestContext, mcpServers: Readonly<Record<string, unknown>>) {
  const folder = await mkdtemp(join(tmpdir(), 'portico-image-'));
  t.after(() => rm(folder, { recursive: true }));
  const [port, adminPort] = [await freePort(), await freePort()];
  const gateway = {
    listen: { host: '127.0.0.1', port },
    admin: { host: '127.0.0.1', port: adminPort },
  };
  await writeFile(join(folder, 'portico.yaml'), JSON.stringify({ mcpServers, gateway }));
  await openToAll(folder);
  const mounted = ['--network', 'host', '--volume', `${folder}:/etc/portico:ro`];
  const probed = ['--env', `PORTICO_LIVEZ=http://127.0.0.1:${adminPort}/livez`];
  return { args: [...mounted, ...probed], mounted, url: `http://127.0.0.1:${port}/mcp` };
}

/** The user of the image is another one. */
async function openToAll(folder: string): Promise<void> {
  await promisify(execFile)('chmod', ['-R', 'a+rX', folder]);
}

for (const image of IMAGES) {
  describe(image, () => {
    test('starts with nothing mounted: healthy, serves nobody, and says what to do', async (t) => {
      const [port, adminPort] = [await freePort(), await freePort()];
      const ports = ['--publish', `127.0.0.1:${port}:8080`, '--publish', `127.0.0.1:${adminPort}:9090`];
      const publicUrl = `http://127.0.0.1:${port}`;
      const id = await started(t, [...ports, '--env', `PORTICO_PUBLIC_URL=${publicUrl}`, image]);
      const statusOf = async (url: string, init?: Parameters<typeof request>[1]) => {
        const { statusCode, body } = await request(url, init);
        await body.dump();
        return statusCode;
      };
      const headers = { 'content-type': 'application/json', authorization: 'Bearer guess' };
      assert.equal(await statusOf(`${publicUrl}/mcp`, { method: 'POST', headers, body: '{}' }), 401);
      assert.equal(await statusOf(`http://127.0.0.1:${adminPort}/readyz`), 200);
      assert.equal(await statusOf(`http://127.0.0.1:${adminPort}/status`), 401);
      assert.match(
        await logOf(id),
        /portico\.yaml:\d+:\d+ .*no server is enabled.*mount a folder with a portico\.yaml/,
      );
    });

    test('runs as no root, and ends with code 0 when told to stop', async (t) => {
      const id = await started(t, [image]);
      assert.equal(await docker(['exec', id, 'node', '-p', 'process.getuid()']), '1000');
      await docker(['stop', '--time', '30', id]);
      assert.equal(await docker(['inspect', '--format', '{{.State.ExitCode}}', id]), '0');
    });

    test('takes the commands of portico', async () => {
      assert.match(await docker(['run', '--rm', image, '--version']), /^\d+\.\d+\.\d+$/);
      assert.match(await docker(['run', '--rm', image, 'check']), /portico\.yaml/);
    });

    test('has what Node has compiled of it, as files that it cannot write', async (t) => {
      const id = await started(t, ['--env', 'NODE_DEBUG_NATIVE=COMPILE_CACHE', image]);
      assert.match(await logOf(id), /parts\/gateway\.js was accepted/);
      const owners = await docker(['exec', id, 'node', '-e', LIST_OWNERS]);
      assert.deepEqual(new Set(owners.split('\n')), new Set(['0']));
    });

    test('serves a server over HTTP with the config that is mounted', async (t) => {
      const server = await startHttpServer('sdk-v2-server');
      t.after(() => server.stop());
      const { args, url } = await configured(t, { remote: { url: server.url } });
      await started(t, [...args, image]);
      await using client = await connectClient('v2 modern', url);
      assert.equal((await client.call('echo', { text: 'hello' })).text, 'hello');
    });
  });
}

test('portico starts a server by npx, which keeps what it downloads in the cache volume', async (t) => {
  const ca = process.env.BUILD_CA;
  const trusted = ca === undefined ? [] : ['--volume', `${ca}:/run/ca.crt:ro`];
  const { args, url } = await configured(t, {
    memory: {
      command: 'npx',
      args: ['-y', '@modelcontextprotocol/server-memory@2026.8.31'],
      env: {
        MEMORY_FILE_PATH: '/tmp/memory.json',
        ...(ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: '/run/ca.crt' }),
      },
      startTimeout: `${NPX_TIMEOUT_MS / 1_000}s`,
    },
  });
  const id = await started(t, [...args, ...trusted, 'portico']);
  // Until it is downloaded, its only server is not there to be greeted or listed.
  let connected: SdkClient | undefined;
  const lists = async () => {
    connected ??= await connectClient('v2 modern', url);
    return (await connected.listTools()).includes('read_graph');
  };
  await eventually('it lists', () => lists().catch(() => false), NPX_TIMEOUT_MS);
  assert.ok(connected !== undefined);
  await using client = connected as SdkClient;
  assert.equal((await client.call('read_graph')).isError, false);
  assert.match(await docker(['exec', id, 'ls', '/var/cache/portico/.npm']), /_npx/);
  await assert.rejects(docker(['exec', id, 'touch', '/app/file']), /Read-only file system/);
});

test('portico reaps a process whose parent has gone (F07)', async (t) => {
  const id = await started(t, ['portico']);
  // The shell ends at once and leaves its child to process 1, which has to wait for it.
  await docker(['exec', id, 'bash', '-c', 'sleep 0.3 &']);
  // Others come and go meanwhile, such as what asks for health.
  const names =
    'for f in /proc/[0-9]*/stat; do read -r _ name _ 2>/dev/null < "$f" && echo "$name"; done; true';
  const seen = () => docker(['exec', id, 'bash', '-c', names]);
  assert.match(await seen(), /\(bash\)/, 'it looks');
  await eventually(
    'nothing is left of it, not even a zombie',
    async () => !(await seen()).includes('(sleep)'),
  );
});

test('portico-slim has no program but node, and refuses servers that are programs with what to do', async (t) => {
  const { mounted } = await configured(t, { files: { command: 'npx', args: ['-y', 'mcp-files'] } });
  const programs = `fs.readdirSync('/').filter((name) => /bin/.test(name)).join() + ' ' + fs.readdirSync('/usr/local/bin')`;
  assert.equal(await docker(['run', '--rm', '--entrypoint', 'node', 'portico-slim', '-p', programs]), 'node');
  await assert.rejects(
    docker(['run', '--rm', ...mounted, 'portico-slim']),
    /mcpServers\.files\.command: no program is started here.*Use the image portico/s,
  );
});

describe('the commands of docs/deploy.md', () => {
  const folderWithConfig = async (t: TestContext) => {
    const folder = await mkdtemp(join(tmpdir(), 'portico-typed-'));
    t.after(() => rm(folder, { recursive: true }));
    const document = await readFile(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
    await mkdir(join(folder, 'my-config'));
    await writeFile(join(folder, 'my-config/portico.yaml'), /```yaml\n(.*?)```/s.exec(document)?.[1] ?? '');
    await openToAll(folder);
    return folder;
  };

  test('a config is checked', async (t) => {
    const said = await typed('docker run --rm --volume "$PWD/my-config:/etc/portico:ro" portico check', {
      cwd: await folderWithConfig(t),
    });
    assert.match(said, /portico\.yaml is valid/);
  });

  test('a config is served', async (t) => {
    const command =
      'docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --publish 127.0.0.1:8080:8080 --volume "$PWD/my-config:/etc/portico:ro" --volume portico-cache:/var/cache/portico portico';
    const folder = await folderWithConfig(t);
    const port = String(await freePort());
    // Whoever runs this may have a volume of that name.
    const volume = `portico-cache-${process.pid}`;
    t.after(() => docker(['volume', 'rm', volume]));
    const here = command.replace('1:8080', `1:${port}`).replace('portico-cache', volume);
    const child = spawn('sh', ['-c', `exec ${here}`], { cwd: folder });
    const exited = once(child, 'exit');
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (said += text));
    const metadata = `http://127.0.0.1:${port}/.well-known/oauth-protected-resource/mcp`;
    await eventually(
      'it answers',
      async () => {
        const answer = await request(metadata, { headers: { host: 'mcp.example.com' } }).catch(
          () => undefined,
        );
        await answer?.body.dump();
        return answer?.statusCode === 200;
      },
      START_TIMEOUT_MS,
    ).catch((thrown: unknown) => assert.fail(`${thrown}: ${said}`));
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  });
});
