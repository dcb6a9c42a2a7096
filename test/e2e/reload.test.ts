// A reload as operators make it: a file that is changed, a link that is swapped, a signal.
import assert from 'node:assert/strict';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import type { Members } from '../support/raw-client.ts';
import { ModernClient } from '../support/raw-session.ts';
import { FAULTY_SERVER } from '../support/stdio-rig.ts';

interface Status {
  readonly config: {
    readonly lastReload?: {
      readonly outcome: string;
      readonly at: string;
      readonly problems: readonly string[];
    };
  };
  readonly servers: Members;
}

async function statusOf({ adminUrl }: GatewayProcess): Promise<Status> {
  return (await (await fetch(`${adminUrl}/status`)).json()) as Status;
}

function configOf(changes: { servers?: Members; gateway?: Members } = {}): string {
  const faulty = { command: process.execPath, args: [FAULTY_SERVER, '--era=modern'] };
  return JSON.stringify(
    {
      mcpServers: { faulty: { ...faulty, env: { SECRET: '\u0024{file:secret}' } }, ...changes.servers },
      gateway: {
        listen: { host: '127.0.0.1', port: 0 },
        admin: { host: '127.0.0.1', port: 0 },
        ...changes.gateway,
      },
    },
    null,
    2,
  );
}

interface Load {
  /** Resolves once the calls that were under way are answered. */
  end(): Promise<{ readonly answered: number; readonly failed: readonly unknown[] }>;
}

/** Four clients, each with one call after the other. */
function keepCalling(view: string): Load {
  let going = true;
  let answered = 0;
  const failed: unknown[] = [];
  const loops = Array.from({ length: 4 }, async () => {
    await using client = new ModernClient(view);
    while (going) {
      const { error } = await client.ask('tools/call', { name: 'echo', arguments: { text: 'x' } });
      if (error === undefined) answered += 1;
      else failed.push(error);
    }
  });
  return {
    async end() {
      going = false;
      await Promise.all(loops);
      return { answered, failed };
    },
  };
}

async function untilServers(gateway: GatewayProcess, ...slugs: string[]): Promise<void> {
  await eventually(`the servers are ${slugs.join(', ')}`, async () => {
    const { servers } = await statusOf(gateway);
    return Object.keys(servers).join() === slugs.join();
  });
}

test('a changed file is reloaded, a broken one changes nothing and says where it is broken', async () => {
  await using gateway = await startGateway({
    config: { mcpServers: { faulty: { command: process.execPath, args: [FAULTY_SERVER, '--era=modern'] } } },
  });
  const { file } = gateway;
  const folder = dirname(file);
  const view = `${gateway.url.replace(/\/mcp.*$/, '')}/mcp/faulty`;
  await using client = new ModernClient(view);
  const environment = async () =>
    JSON.parse(await client.tool('environment')) as { pid: number; env: Members };
  const first = await environment();

  await writeFile(file, '{ "mcpServers": {\n  "faulty": { "colour": 1 } } }');
  await eventually('the reload is refused', async () => {
    return (await statusOf(gateway)).config.lastReload?.outcome === 'refused';
  });
  const [problem = ''] = (await statusOf(gateway)).config.lastReload?.problems ?? [];
  assert.match(problem, /portico\.yaml:2:\d+ {2}mcpServers\.faulty/);
  const lines = () =>
    gateway
      .log()
      .split('\n')
      .filter((text) => text.includes('the config was not reloaded'));
  await eventually('the log says so', () => lines().length > 0);
  assert.equal(lines().length, 1);
  assert.ok(lines()[0]?.includes('portico.yaml:2:'));
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  assert.match(metrics, /^portico_config_last_reload_successful 0$/m);
  assert.match(metrics, /^portico_config_reloads_total\{outcome="refused"\} 1$/m);
  assert.equal((await environment()).pid, first.pid);

  await writeFile(join(folder, 'secret'), 'one');
  await writeFile(`${file}.new`, configOf({ servers: { more: { url: 'http://127.0.0.1:1/mcp' } } }));
  await rename(`${file}.new`, file);
  await untilServers(gateway, 'faulty', 'more');
  assert.equal((await environment()).env.SECRET, 'one');

  await writeFile(join(folder, 'secret'), 'another');
  await eventually('the file that it refers to is read again', async () => {
    return (await environment()).env.SECRET === 'another';
  });

  // As Kubernetes does it, and while calls are made.
  const load = keepCalling(view);
  for (const [version, servers] of [
    ['..one', {}],
    ['..two', { last: { url: 'http://127.0.0.1:1/mcp' } }],
  ] as const) {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, 'portico.yaml'), configOf({ servers }));
    await symlink(version, join(folder, '..tmp'));
    await rename(join(folder, '..tmp'), join(folder, '..data'));
    if (version === '..one') {
      await symlink('..data/portico.yaml', `${file}.link`);
      await rename(`${file}.link`, file);
    }
    await untilServers(gateway, 'faulty', ...Object.keys(servers));
  }
  const { answered, failed } = await load.end();
  assert.deepEqual(failed, []);
  assert.ok(answered > 0);
});

test('SIGHUP reloads; what needs a restart is named, and the rest is applied', async () => {
  await using gateway = await startGateway({ config: { mcpServers: {} } });
  await writeFile(join(dirname(gateway.file), 'secret'), 'one');
  const text = configOf({ gateway: { publicUrl: 'https://mcp.example.com', log: { level: 'debug' } } });
  await writeFile(gateway.file, text);
  gateway.signal('SIGHUP');
  await untilServers(gateway, 'faulty');
  await eventually('the warning is there', () => gateway.log().includes('need a restart'));
  assert.match(gateway.log(), /"keys":\["gateway.publicUrl"\]/);
  const { lastReload } = (await statusOf(gateway)).config;
  assert.ok(lastReload);
  gateway.signal('SIGHUP');
  await eventually('it is read again though nothing changed', async () => {
    return (await statusOf(gateway)).config.lastReload?.outcome === 'unchanged';
  });
});
