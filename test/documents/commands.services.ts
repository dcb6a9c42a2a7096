// Every command that the documents tell people to type, as they stand there: run here, or by what is named here.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { openWorkshop, type Running, type Workshop } from './workshop.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** Command by command, what else runs it: a file, and words in it. */
const RUN_ELSEWHERE: Readonly<Record<string, readonly [file: string, words: string]>> = {
  'npm ci && npm test': ['.ci/run', 'npm test'],
  'npm run demo:auth': ['test/e2e/demo-auth.test.ts', '../demo-auth/run.ts'],
  'docker compose up --build --wait': ['test/support/compose-stack.ts', "'up', '--build'"],
  'docker build --tag portico .': ['test/support/docker.ts', "'build', "],
  'docker build --tag portico-slim --target portico-slim .': ['test/support/docker.ts', "'--target', "],
  ...Object.fromEntries(
    [
      'docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --publish 127.0.0.1:8080:8080 --volume "$PWD/my-config:/etc/portico:ro" --volume portico-cache:/var/cache/portico portico',
      'docker run --rm --volume "$PWD/my-config:/etc/portico:ro" portico check',
    ].map((command) => [command, ['test/deploy/image.services.ts', command]] as const),
  ),
  ...Object.fromEntries(
    [
      'curl -H "Authorization: Bearer $(docker compose exec portico-2 cat /run/portico/admin-token)" http://127.0.0.1:9092/status',
      'npm run smoke -- http://127.0.0.1:8080/mcp --admin http://127.0.0.1:9091 --admin http://127.0.0.1:9092',
    ].map((command) => [command, ['test/deploy/docker-compose.services.ts', command]] as const),
  ),
  'kubectl create secret generic portico --dry-run=client --output yaml --from-literal=admin-token="$(openssl rand -hex 32)" --from-literal=replica-secret="$(openssl rand -hex 32)" --from-literal=redis-url=redis://redis:6379':
    ['test/deploy/kubernetes.services.ts', 'kubectl create secret generic portico --dry-run=client'],
  'kubectl kustomize deploy/kubernetes': [
    'test/deploy/kubernetes.services.ts',
    "'kubectl kustomize deploy/kubernetes'",
  ],
  'promtool check rules deploy/prometheus/portico.rules.yml': [
    'test/deploy/alerts.services.ts',
    "['check', 'rules'",
  ],
  'promtool test rules deploy/prometheus/portico.rules.test.yml': [
    'test/deploy/alerts.services.ts',
    "['test', 'rules'",
  ],
};

const REPLICA_SECRET = 'export PORTICO_REPLICA_SECRET="$(openssl rand -base64 32)"';

const SERVERS = `
mcpServers:
  everything: { command: node, args: [node_modules/@modelcontextprotocol/server-everything/dist/index.js, stdio] }
`;

type Run = (workshop: Workshop) => Promise<void>;

const RUN_HERE: Readonly<Record<string, Run>> = {
  // `npm ci` is what brought the modules that this runs with.
  'npm ci && npm start': async (workshop) => {
    await using gateway = await serving(workshop, 'npm start');
    assert.match(gateway.output(), /"url": "http:\/\/127\.0\.0\.1:\d+\/mcp"/);
  },
  'npm start -- --config portico.yaml': async (workshop) => {
    await using gateway = await serving(workshop, 'npm start -- --config portico.yaml');
    assert.match(gateway.output(), /Admin listens on/);
  },
  'npm start -- check --config portico.yaml': (workshop) =>
    succeeds(workshop, 'npm start -- check --config portico.yaml'),
  'npm start -- doctor --config portico.yaml': (workshop) =>
    succeeds(workshop, 'npm start -- doctor --config portico.yaml', /everything/),
  'npm start -- check --config ~/.cursor/mcp.json': (workshop) =>
    succeeds(workshop, 'npm start -- check --config ~/.cursor/mcp.json'),
  'npm start -- --config ~/.cursor/mcp.json': async (workshop) => {
    await using gateway = await serving(workshop, 'npm start -- --config ~/.cursor/mcp.json');
    assert.match(gateway.output(), /Portico listens on/);
  },
  'npm run build && npm install -g .': async (workshop) => {
    await succeeds(workshop, 'npm run build && npm install -g .');
    await succeeds(workshop, '"$npm_config_prefix/bin/portico" --version', /^portico \d|^\d/m);
  },
  'claude mcp add --transport http portico http://127.0.0.1:8080/mcp': async (workshop) => {
    await workshop.install('@anthropic-ai/claude-code');
    await using _gateway = await serving(workshop, 'npm start');
    await succeeds(
      workshop,
      'claude mcp add --transport http portico http://127.0.0.1:8080/mcp',
      /Added HTTP MCP server portico/,
    );
    await succeeds(workshop, 'claude mcp list', /portico: .*Connected/);
  },
  'npx @modelcontextprotocol/inspector --cli --server-url http://127.0.0.1:8080/mcp --transport http --method tools/list':
    async (workshop) => {
      await using _gateway = await serving(workshop, 'npm start');
      await succeeds(
        workshop,
        'npx @modelcontextprotocol/inspector --cli --server-url http://127.0.0.1:8080/mcp --transport http --method tools/list',
        /"echo"/,
      );
    },
  'portico explain --token token.txt github/delete_repo': (workshop) =>
    succeeds(workshop, 'portico explain --token token.txt github/delete_repo', /github\/delete_repo/),
  'portico explain --claims claims.json': (workshop) =>
    succeeds(workshop, 'portico explain --claims claims.json', /github/),
  'portico audit verify audit.jsonl.2026-11-30T10-00-00.000Z-5000 audit.jsonl --key audit.key --head HASH':
    async (workshop) => {
      const head = await workshop.writeAudit(
        ['audit.jsonl.2026-11-30T10-00-00.000Z-5000', 'audit.jsonl'],
        'audit.key',
      );
      await succeeds(
        workshop,
        `portico audit verify audit.jsonl.2026-11-30T10-00-00.000Z-5000 audit.jsonl --key audit.key --head ${head}`,
        /records in order/,
      );
    },
  'portico pin --config portico.yaml': async (workshop) => {
    await succeeds(workshop, 'git init --quiet . && git add portico.yaml');
    await succeeds(workshop, 'portico pin --config portico.yaml');
    assert.ok(existsSync(join(workshop.folder, 'portico.lock')));
  },
  'git diff portico.lock': (workshop) => succeeds(workshop, 'git diff portico.lock'),
  'portico pin --check --config portico.yaml': (workshop) =>
    succeeds(workshop, 'portico pin --check --config portico.yaml'),
  'npm install @opentelemetry/sdk-trace-node@2 @opentelemetry/resources@2 @opentelemetry/exporter-trace-otlp-http@0.223':
    async (workshop) => {
      const command =
        'npm install @opentelemetry/sdk-trace-node@2 @opentelemetry/resources@2 @opentelemetry/exporter-trace-otlp-http@0.223';
      await succeeds(workshop, `mkdir -p tracing && cd tracing && npm init -y && ${command}`);
      await workshop.write('tracing/tracing.mjs', blockOf('docs/tracing.md', 'js'));
    },
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 node --import ./tracing.mjs dist/main.js --config portico.yaml':
    async (workshop) => {
      const line =
        'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 node --import ./tracing/tracing.mjs dist/main.js --config portico.yaml';
      await using gateway = await serving(workshop, line);
      assert.match(gateway.output(), /Portico listens on/);
    },
  'export PORTICO_REPLICA_SECRET="$(openssl rand -base64 32)"': async (workshop) => {
    const { output } = await workshop.run(`${REPLICA_SECRET}; printf %s "$PORTICO_REPLICA_SECRET"`);
    assert.equal(output.length, 44);
    await workshop.write('replicas.yaml', SERVERS + blockOf('docs/replicas.md', 'yaml', 'ADMIN_PORT'));
  },
  'PORT=8081 ADMIN_PORT=9081 REPLICA_PORT=9181 npm start -- --config portico.yaml': async (workshop) => {
    const secret = (await workshop.run('openssl rand -base64 32')).output.trim();
    const line = (n: number) =>
      `export PORTICO_REPLICA_SECRET=${secret}; PORT=808${n} ADMIN_PORT=908${n} REPLICA_PORT=918${n} npm start -- --config replicas.yaml`;
    await using _redis = await workshop.start(
      "redis-server --port 6379 --bind 127.0.0.1 --save ''",
      /Ready to accept/,
    );
    await using _one = await serving(workshop, line(1));
    await using _two = await serving(workshop, line(2));
    await eventually('they know each other', async () => {
      const { output } = await workshop.run('curl --silent http://127.0.0.1:9081/status');
      return (JSON.parse(output) as { replicas: unknown[] }).replicas.length === 2;
    });
  },
};

/** Those that other runs of this file cover. */
const ALIKE: readonly string[] = [
  // In another terminal, with the one before it.
  'PORT=8082 ADMIN_PORT=9082 REPLICA_PORT=9182 npm start -- --config portico.yaml',
];

describe('the commands of the documents', () => {
  let workshop: Workshop;
  before(async () => {
    workshop = await openWorkshop(ROOT);
  });
  after(() => workshop[Symbol.asyncDispose]());

  test('each is run by a test', () => {
    const told = DOCUMENTS.flatMap(commandsOf);
    const known = [...Object.keys(RUN_HERE), ...ALIKE, ...Object.keys(RUN_ELSEWHERE)];
    assert.deepEqual(
      told.filter((command) => !known.includes(command)),
      [],
    );
    assert.deepEqual(
      known.filter((command) => !told.includes(command)),
      [],
    );
  });

  for (const [command, [file, words]] of Object.entries(RUN_ELSEWHERE)) {
    test(`${command}: is run by ${file}`, () => {
      assert.ok(readFileSync(join(ROOT, file), 'utf8').includes(words), `${file} does not say ${words}`);
    });
  }

  for (const [command, run] of Object.entries(RUN_HERE)) test(command, () => run(workshop));
});

function serving(workshop: Workshop, command: string): Promise<Running> {
  return workshop.start(command, /Admin listens on/);
}

async function succeeds(workshop: Workshop, command: string, says?: RegExp): Promise<void> {
  const { exitCode, output } = await workshop.run(command);
  assert.equal(exitCode, 0, `${command}: ${output}`);
  if (says !== undefined) assert.match(output, says);
}

/** Of blocks that are for a shell, line by line, without what is said about them. */
function commandsOf(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  return [...text.matchAll(/```sh\n(?<lines>.*?)```/gs)].flatMap(({ groups }) =>
    (groups?.lines ?? '')
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, '').trim())
      .filter((line) => line !== ''),
  );
}

function blockOf(document: string, language: string, has = ''): string {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\\n(?<code>.*?)\`\`\``, 'gs'))];
  return blocks.map(({ groups }) => groups?.code ?? '').find((code) => code.includes(has)) ?? '';
}
