// Prometheus, its rules and what sets them off: a server that breaks, Redis that dies, an issuer that is away. With the
// compose file, and with times that are short. Needs promtool and a Docker engine.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { type ComposeStack, startCompose } from '../support/compose-stack.ts';
import { eventually } from '../support/eventually.ts';
import { RawClient } from '../support/raw-client.ts';
import { ModernClient } from '../support/raw-session.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const KEY = 'a-key-that-only-this-test-has';
const FIRES_WITHIN_MS = 60_000;
const ALL_IS_WELL_MS = 5_000;
const ASK_EVERY_MS = 200;
const BROKEN = {
  everything: 'PorticoServerDown',
  redis: 'PorticoRedisDown',
  issuer: 'PorticoIssuerUnreachable',
};

test('promtool finds nothing wrong with the alerts, and each fires when it should', () => {
  for (const args of [
    ['check', 'rules', 'portico.rules.yml'],
    ['test', 'rules', 'portico.rules.test.yml'],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', args, {
      cwd: join(DEPLOY, 'prometheus'),
      encoding: 'utf8',
    });
    assert.equal(status, 0, `${stdout}${stderr}`);
  }
});

test('promtool reads every expression of the dashboard', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'portico-dashboard-'));
  t.after(() => rm(folder, { recursive: true }));
  const { panels } = JSON.parse(await readFile(join(DEPLOY, 'grafana/portico.json'), 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const filled = panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) =>
      expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(?:job|instance|server)\b/g, '.*'),
    );
  const rules = filled.map((expr, index) => ({ record: `panel:${index}`, expr }));
  await writeFile(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', 'rules.json'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
  assert.match(stdout, new RegExp(`${filled.length} rules found`));
});

test('alerts fire for a server that broke, a Redis that died, an issuer that is away, and end with it (F60)', async (t) => {
  const files = await writeFiles();
  t.after(() => rm(files, { recursive: true }));
  await using stack = await startCompose({ name: 'alerts', network: 252, override: overrideWith(files) });
  const traffic = keepAsking(stack.url);
  t.after(() => traffic.stop());

  await eventually('calls are answered', () => traffic.answered() > 10, FIRES_WITHIN_MS).catch(
    (thrown: unknown) => assert.fail(`${thrown}: ${traffic.last()}`),
  );
  await delay(ALL_IS_WELL_MS);
  assert.deepEqual(await firing(stack), [], 'while all is well no alert fires');

  await stack.compose('stop', '--timeout', '1', ...Object.keys(BROKEN));
  let seen: string[] = [];
  const expected = [
    'PorticoIssuerUnreachable https://idp.example.com',
    'PorticoRedisDown portico-1:9090',
    'PorticoRedisDown portico-2:9090',
    'PorticoServerDown everything',
  ];
  await eventually(
    'the alerts fire',
    async () => {
      seen = await firing(stack);
      return expected.every((alert) => seen.includes(alert));
    },
    FIRES_WITHIN_MS,
  ).catch((thrown: unknown) => assert.fail(`${thrown}; firing: ${seen.join(', ')}`));

  await stack.compose('start', ...Object.keys(BROKEN));
  await eventually('they end', async () => (await firing(stack)).length === 0, FIRES_WITHIN_MS);
});

/** @returns each alert that fires, with what it is about, in order */
async function firing({ prometheusUrl }: ComposeStack): Promise<string[]> {
  const { body } = await request(`${prometheusUrl}/api/v1/alerts`);
  const { data } = (await body.json()) as {
    data: { alerts: { state: string; labels: Record<string, string> }[] };
  };
  return data.alerts
    .filter(({ state }) => state === 'firing')
    .map(
      ({ labels: { alertname, server, issuer, instance } }) => `${alertname} ${server ?? issuer ?? instance}`,
    )
    .sort();
}

/** Calls with a good key, lists, and comes with a token of the issuer that nobody can know yet; over and over. */
function keepAsking(url: string): { answered(): number; last(): string; stop(): Promise<void> } {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = { alg: 'ES256', typ: 'at+jwt', kid: 'not-published-yet' };
  const claims = { iss: 'https://idp.example.com', aud: url, sub: 'somebody', exp: 4_000_000_000 };
  const token = `${part(header)}.${part(claims)}.${part({})}`;
  const caller = new ModernClient(url, { headers: { authorization: `Bearer ${KEY}` } });
  const stranger = new RawClient(url, { headers: { authorization: `Bearer ${token}` } });
  let answered = 0;
  let last = '';
  let over = false;
  const asking = (async () => {
    while (!over) {
      last = await caller.tool('echo', { message: 'hello' }).catch(String);
      if (last === 'Echo: hello') answered += 1;
      await stranger.send({ body: {} }).catch(String);
      await delay(ASK_EVERY_MS);
    }
  })();
  return {
    answered: () => answered,
    last: () => last,
    async stop() {
      over = true;
      await asking;
      await caller[Symbol.asyncDispose]();
      await stranger[Symbol.asyncDispose]();
    },
  };
}

/** The config with sign-in, the rules with short times, and an issuer's keys; readable for the users of the images. */
async function writeFiles(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-alerts-'));
  const rules = await readFile(join(DEPLOY, 'prometheus/portico.rules.yml'), 'utf8');
  const scrape = await readFile(join(DEPLOY, 'compose/prometheus.yml'), 'utf8');
  const config = await readFile(join(DEPLOY, 'compose/portico/portico.yaml'), 'utf8');
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'published', use: 'sig', alg: 'ES256' }];
  const auth = {
    apiKeys: [{ name: 'caller', sha256: createHash('sha256').update(KEY).digest('hex') }],
    issuers: [{ issuer: 'https://idp.example.com', jwksUri: 'http://issuer:8080/keys.json' }],
  };
  const access = { rules: [{ name: 'everyone', allow: ['*'] }] };
  const contents: Record<string, string> = {
    'portico/portico.yaml': config.replace(
      /^ {2}insecure: true.*$/m,
      `  auth: ${JSON.stringify(auth)}\n  access: ${JSON.stringify(access)}`,
    ),
    'rules/portico.rules.yml': rules.replaceAll(/\[\d+m\]/g, '[10s]').replaceAll(/^( +for: )\d+m$/gm, '$11s'),
    'prometheus.yml': scrape.replaceAll(/(?<=_interval: )\w+/g, '1s'),
    'issuer/keys.json': JSON.stringify({ keys }),
    'issuer.conf': `pid /tmp/pid; error_log stderr; events {}
      http { access_log off; client_body_temp_path /tmp/b; proxy_temp_path /tmp/p; fastcgi_temp_path /tmp/f;
        uwsgi_temp_path /tmp/u; scgi_temp_path /tmp/s; types { application/json json; }
        server { listen 8080; root /srv; } }`,
  };
  await chmod(folder, 0o755);
  for (const name of ['portico', 'rules', 'issuer']) await mkdir(join(folder, name), { mode: 0o755 });
  for (const [name, text] of Object.entries(contents))
    await writeFile(join(folder, name), text, { mode: 0o644 });
  return folder;
}

function overrideWith(files: string): Record<string, unknown> {
  const gateway = { volumes: [`${files}/portico:/etc/portico:ro`] };
  return {
    services: {
      'portico-1': gateway,
      'portico-2': gateway,
      prometheus: {
        volumes: [
          `${files}/prometheus.yml:/etc/prometheus/prometheus.yml:ro`,
          `${files}/rules:/etc/prometheus/portico:ro`,
        ],
      },
      issuer: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: compose fills it in
        image: '${NGINX_IMAGE:-nginx:1.26}',
        user: '1000:1000',
        tmpfs: ['/tmp:mode=1777'],
        volumes: [`${files}/issuer.conf:/etc/nginx/nginx.conf:ro`, `${files}/issuer:/srv:ro`],
      },
    },
  };
}
