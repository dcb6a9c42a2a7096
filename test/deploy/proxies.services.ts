// TLS in front of two gateways, by nginx and by Caddy as deploy/ has them: with the SDK's client, while a gateway is
// killed. Needs both programs.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { createAuthority } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { connectClient } from '../support/sdk-clients.ts';
import { startHttpServer } from '../support/sdk-server-process.ts';
import { type ServiceOptions, startService } from '../support/service-process.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const NGINX_TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
const CALLERS = 4;
const LONGER_MS = 3_000;

interface Site {
  readonly port: number;
  /** HOST:PORT of both gateways. */
  readonly gateways: readonly [string, string];
}

const authority = createAuthority();
const identity = authority.issueServer(['localhost']);
const tls = { 'mcp.pem': identity.cert, 'mcp.key': identity.key };
const nginxSite = await readFile(join(DEPLOY, 'nginx/portico.conf'), 'utf8');
const caddySite = await readFile(join(DEPLOY, 'caddy/Caddyfile'), 'utf8');

const withGateways = (text: string, { gateways }: Site) =>
  text.replaceAll('10.0.0.5:8080', gateways[0]).replaceAll('10.0.0.6:8080', gateways[1]);

const PROXIES: Readonly<Record<string, (site: Site) => ServiceOptions>> = {
  nginx: (site) => ({
    command: 'nginx',
    arguments: (folder) => ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
    files: (folder) => ({
      ...tls,
      'nginx.conf': `daemon off; pid ${folder}/pid; error_log stderr notice; events {}
        http { access_log off; ${NGINX_TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
        ${withGateways(nginxSite, site)
          .replaceAll('/etc/nginx/portico', join(DEPLOY, 'nginx'))
          .replaceAll('/etc/nginx', folder)
          .replace('listen 443 ssl', `listen 127.0.0.1:${site.port} ssl`)
          .replace('listen [::]:443 ssl;', '')
          .replace('mcp.example.com', 'localhost')} }`,
    }),
  }),
  caddy: (site) => ({
    command: 'caddy',
    arguments: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
    files: (folder) => ({
      ...tls,
      Caddyfile: `{\n admin off\n auto_https disable_redirects\n storage file_system ${folder}\n}\n${withGateways(
        caddySite,
        site,
      ).replace(
        'mcp.example.com {',
        `https://localhost:${site.port} {\n bind 127.0.0.1\n tls ${folder}/mcp.pem ${folder}/mcp.key`,
      )}`,
    }),
  }),
};

before(() => setDefaultCACertificates([...getCACertificates('default'), authority.cert]));

/** A proxy before two gateways, before one server. */
async function started(t: TestContext, proxyOf: (site: Site) => ServiceOptions) {
  const server = await startHttpServer('sdk-v2-server');
  t.after(() => server.stop());
  const port = await freePort();
  const gateways = await Promise.all(
    [0, 1].map(() =>
      startGateway({
        config: {
          mcpServers: { remote: { url: server.url } },
          gateway: {
            listen: { host: '127.0.0.1', port: 0 },
            publicUrl: `https://localhost:${port}`,
            trustedProxies: ['127.0.0.1'],
            log: { level: 'warn' },
          },
        },
      }),
    ),
  );
  t.after(() => Promise.all(gateways.map((gateway) => gateway.stop().catch(() => {}))));
  const [first, second] = gateways as [GatewayProcess, GatewayProcess];
  const hosts = [first, second].map(({ url }) => new URL(url).host) as [string, string];
  const proxy = await startService(proxyOf({ port, gateways: hosts }));
  t.after(() => proxy[Symbol.asyncDispose]());
  const url = `https://localhost:${port}/mcp`;
  await eventually('the proxy answers', () => fetch(url).then(Boolean, () => false)).catch(
    (thrown: unknown) => assert.fail(`${thrown}\n${proxy.output()}`),
  );
  return { url, first };
}

for (const [name, proxyOf] of Object.entries(PROXIES)) {
  describe(`TLS by ${name}`, () => {
    test('a modern client lists and calls, progress comes at once, and leaving reaches the server (F42)', async (t) => {
      const { url } = await started(t, proxyOf);
      await using client = await connectClient('v2 modern', url);
      assert.equal((await client.call('echo', { text: 'hello' })).text, 'hello');
      const leaving = new AbortController();
      let progress = 0;
      const call = client.call(
        'wait',
        { tag: name },
        {
          signal: leaving.signal,
          onprogress: () => {
            progress += 1;
          },
        },
      );
      const left = assert.rejects(call);
      await eventually('progress', () => progress > 0);
      leaving.abort();
      await left;
      assert.equal((await client.call('was_cancelled', { tag: name })).text, 'true');
    });

    test('a gateway that is killed is not noticed, but by the calls that it had (F60)', async (t) => {
      const { url, first } = await started(t, proxyOf);
      const failures: { readonly begunMs: number; readonly error: unknown }[] = [];
      let calls = 0;
      let over = false;
      const callOnAndOn = async () => {
        await using client = await connectClient('v2 modern', url);
        while (!over) {
          const begunMs = performance.now();
          const said = await client.call('echo', { text: 'hello' }).catch((error: unknown) => {
            failures.push({ begunMs, error });
          });
          if (said !== undefined) calls += 1;
        }
      };
      const callers = Array.from({ length: CALLERS }, callOnAndOn);
      await eventually('calls go on', () => calls > 10 * CALLERS);
      process.kill(first.pid, 'SIGKILL');
      await assert.rejects(first.stop(), /ended by SIGKILL/);
      const goneMs = performance.now();
      const before = calls;
      await delay(LONGER_MS);
      over = true;
      await Promise.all(callers);
      assert.ok(calls > before + 10);
      const told = failures.map(({ error }) => String(error)).join('\n');
      assert.deepEqual(
        failures.filter(({ begunMs }) => begunMs > goneMs),
        [],
        told,
      );
      assert.ok(failures.length <= CALLERS, told);
      t.diagnostic(`${calls} calls, ${failures.length} lost with the gateway`);
    });
  });
}
