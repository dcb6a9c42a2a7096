// Two replicas behind a real nginx, configured as deploy/nginx has it, are restarted one after the other while
// modern clients call without a pause: no call fails.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { ModernClient } from '../support/raw-session.ts';
import { startService } from '../support/service-process.ts';

const STDIO_SERVER = fileURLToPath(new URL('../support/faulty-stdio-server.ts', import.meta.url));
const DEPLOYED = fileURLToPath(new URL('../../deploy/nginx', import.meta.url));
const CLIENTS = 4;

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

function nginxConfig(folder: string, site: string): string {
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  return `daemon off; pid ${folder}/pid; worker_processes 1; error_log stderr notice;
    events {}
    http { access_log off; ${paths} ${site} }`;
}

function startReplica(port: number): Promise<GatewayProcess> {
  return startGateway({
    config: {
      mcpServers: { faulty: { command: process.execPath, args: [STDIO_SERVER, '--era=modern'] } },
      gateway: { listen: { host: '127.0.0.1', port }, drain: { delay: '1s' }, log: { level: 'warn' } },
    },
  });
}

test('F60: two replicas behind nginx are restarted one by one, and no call of a modern client fails', async (t) => {
  const ports = [await freePort(), await freePort()] as const;
  const replicas = await Promise.all(ports.map(startReplica));
  t.after(() => Promise.all(replicas.map((replica) => replica.stop())));
  const port = await freePort();
  const example = await readFile(join(DEPLOYED, 'portico.conf'), 'utf8');
  const addresses = ports.map((replica) => `127.0.0.1:${replica}`);
  /** The example, with the addresses of this test and a replica that is taken out. */
  const site = (down?: number) =>
    ['10.0.0.5:8080', '10.0.0.6:8080']
      .reduce(
        (text, address, index) =>
          text.replaceAll(address, `${addresses[index]}${index === down ? ' down' : ''}`),
        example,
      )
      .replaceAll('/etc/nginx/portico', DEPLOYED)
      .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
      .replace(/^ *(?:ssl_|listen \[).*\n/gm, '');
  const files = (folder: string, down?: number) => ({ 'nginx.conf': nginxConfig(folder, site(down)) });
  await using nginx = await startService({
    command: 'nginx',
    arguments: (folder) => ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
    files,
  });
  const reloadNginx = async (down?: number) => {
    const workers = () => nginx.output().match(/start worker process \d/g)?.length ?? 0;
    const before = workers();
    await nginx.reload(files(nginx.folder, down));
    await eventually('nginx has reloaded', () => workers() > before);
  };
  const url = `http://127.0.0.1:${port}/mcp`;
  await eventually('nginx answers', () => fetch(url).then(Boolean, () => false));

  const failures: unknown[] = [];
  let calls = 0;
  let over = false;
  const callOnAndOn = async () => {
    await using client = new ModernClient(url);
    while (!over) {
      calls += 1;
      const text = `call ${calls}`;
      const said = await client.tool('echo', { text }).catch((thrown: unknown) => thrown);
      if (said !== text) failures.push(said);
    }
  };
  const clients = Array.from({ length: CLIENTS }, callOnAndOn);
  for (const [index, listening] of ports.entries()) {
    await reloadNginx(index);
    await replicas[index]?.stop();
    const started = await startReplica(listening);
    replicas[index] = started;
    await reloadNginx();
    await eventually('it takes calls again', async () => {
      const scrape = await (await fetch(`${started.adminUrl}/metrics`)).text();
      return scrape.includes('portico_tool_calls_total{server="faulty",tool="echo",outcome="ok"}');
    });
  }
  over = true;
  await Promise.all(clients);
  assert.deepEqual(failures, [], `${failures.length} of ${calls} calls failed\n${nginx.output()}`);
  t.diagnostic(`${calls} calls`);
});
