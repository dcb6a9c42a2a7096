// Good configs: what a file says, resolved.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { loadedConfig, loadText, problemTexts, writeConfig } from './written-config.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const MIB = 1024 ** 2;

test('a server and nothing else gets every default of the design', async (t) => {
  const { folder, file } = await writeConfig(t, 'mcpServers: { everything: { command: node } }');
  const loaded = await loadConfig(file, { env: process.env });
  assert.ok(loaded.ok);
  assert.deepEqual(loaded.warnings, []);
  assert.deepEqual(loaded.config, {
    servers: [
      {
        type: 'stdio',
        slug: 'everything',
        name: 'everything',
        prefix: 'everything',
        command: 'node',
        args: [],
        env: {},
        cwd: folder,
        privateHome: true,
        resources: undefined,
        user: undefined,
        group: undefined,
        warm: 0,
        protocol: 'auto',
        isolation: 'auto',
        client: { roots: 'deny', sampling: 'allow', elicitation: 'allow' },
        startTimeoutMs: 60 * SECOND,
        callTimeoutMs: 120 * SECOND,
        maxCallTimeMs: 15 * MINUTE,
        idleTimeoutMs: 10 * MINUTE,
        maxLinks: 32,
        maxInFlight: 256,
        queue: { max: 1024, timeoutMs: 30 * SECOND },
        maxMessageBytes: 32 * MIB,
        tools: { allow: ['*'], deny: [] },
        overrides: { tools: {} },
      },
    ],
    gateway: {
      listen: { host: '127.0.0.1', port: 8080, tls: undefined },
      admin: { host: '127.0.0.1', port: 9090, hosts: [], token: undefined },
      publicUrl: 'http://127.0.0.1:8080',
      insecure: false,
      auth: undefined,
      access: undefined,
      identity: undefined,
      limits: [],
      redis: undefined,
      replica: undefined,
      audit: undefined,
      trustedProxies: [],
      origins: [],
      hosts: [],
      bodyLimitBytes: 4 * MIB,
      maxBufferedBytes: 512 * MIB,
      sessions: {
        idleTimeoutMs: 30 * MINUTE,
        maxAgeMs: 24 * 60 * MINUTE,
        max: 10_000,
        maxPerPrincipal: 100,
        replay: { bytes: MIB, forMs: 5 * MINUTE },
      },
      streams: { maxPerPrincipal: Number.POSITIVE_INFINITY },
      processes: { max: 256, maxPerPrincipal: Number.POSITIVE_INFINITY },
      parked: { timeoutMs: 5 * MINUTE, max: 1000, maxPerPrincipal: 20 },
      names: 'auto',
      pins: undefined,
      lists: { timeoutMs: 10 * SECOND, staleForMs: 5 * MINUTE, ttlMs: 30 * SECOND },
      toolsets: {},
      outbound: { proxy: undefined, noProxy: [], ca: undefined },
      drain: { delayMs: 0, graceMs: 20 * SECOND },
      log: { level: 'info' },
    },
    secrets: [],
  });
});

test('an HTTP server is told by its url and may ask for roots', async (t) => {
  const { config } = await loadedConfig(t, 'mcpServers: { docs: { url: "https://docs.example.com/mcp" } }');
  const [server] = config.servers;
  assert.ok(server?.type === 'http');
  assert.equal(server.url, 'https://docs.example.com/mcp');
  assert.deepEqual(server.headers, {});
  assert.equal(server.tls, undefined);
  assert.equal(server.client.roots, 'allow');
});

test('every key that is available is read', async (t) => {
  const text = `
mcpServers:
  one:
    type: stdio
    command: ./bin/one
    args: [a, "b c"]
    env: { A: "1", EMPTY: "" }
    cwd: work
    protocol: legacy
    isolation: principal
    privateHome: false
    warm: 2
    resources: { cpuSeconds: 9 }
    user: 1001
    group: people
    client: { roots: [{ uri: file:///srv, name: srv }, { uri: file:///tmp }], sampling: deny, elicitation: deny }
    startTimeout: 250ms
    callTimeout: 1.5s
    maxCallTime: 5m
    idleTimeout: 1h
    maxLinks: 1
    maxInFlight: 2
    queue: { max: 0, timeout: 1s }
    maxMessage: 1.5kb
    tools: { allow: ["read_*"], deny: [read_all] }
    overrides:
      tools:
        read_one: { name: read, description: Reads., annotations: { title: T, readOnlyHint: true, team: [a] } }
        read_two: { description: Reads two. }
  two: { type: sse, url: "https://two.example/sse", headers: { Authorization: "Bearer abc" }, tls: { ca: ca.pem } }
  three: { command: nothing, disabled: true }
gateway:
  listen: { host: "::1", port: 0 }
  admin: false
  publicUrl: https://MCP.example.com:443/base
  insecure: true
  trustedProxies: [10.0.0.0/8, "fd00::/8", 127.0.0.1]
  origins: [https://chat.example.com, "vscode-webview://abc", "null"]
  hosts: [MCP.internal:8080]
  bodyLimit: 512KB
  maxBuffered: 1gb
  sessions: { idleTimeout: 1m, maxAge: 1s, max: 1, maxPerPrincipal: 2, replay: { bytes: 0b, for: 0s } }
  processes: { max: 9, maxPerPrincipal: 3 }
  streams: { maxPerPrincipal: 4 }
  parked: { timeout: 1s, max: 1, maxPerPrincipal: 1 }
  lists: { timeout: 1s, staleFor: 1m, ttl: 0s }
  toolsets: { few: [one/x] }
  names: prefixed
  outbound: { proxy: "http://proxy.example:3128", noProxy: ["Internal.Example,10.0.0.0/8", "*.other.example:8443"], ca: ca.pem }
  drain: { delay: 5s, grace: 0s }
  log: { level: silent }
`;
  const ca = await import('node:tls').then(({ rootCertificates }) => rootCertificates[0] ?? '');
  const files = { 'ca.pem': ca, 'bin/one': '', 'work/.keep': '' };
  const { folder, file } = await writeConfig(t, text, { files });
  const loaded = await loadConfig(file, { env: {} });
  assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
  const { servers, gateway } = loaded.config;
  const [one, two] = servers;
  assert.equal(servers.length, 2);
  assert.ok(one?.type === 'stdio');
  assert.equal(one.command, join(folder, 'bin/one'));
  assert.deepEqual([one.args, one.env, one.cwd], [['a', 'b c'], { A: '1', EMPTY: '' }, join(folder, 'work')]);
  assert.deepEqual([one.protocol, one.isolation], ['legacy', 'principal']);
  assert.deepEqual([one.privateHome, one.warm, one.user, one.group], [false, 2, '1001', 'people']);
  assert.deepEqual(one.resources, { memoryBytes: 1024 * MIB, cpuSeconds: 9, openFiles: undefined });
  assert.deepEqual(one.client, {
    roots: [{ uri: 'file:///srv', name: 'srv' }, { uri: 'file:///tmp' }],
    sampling: 'deny',
    elicitation: 'deny',
  });
  assert.deepEqual([one.startTimeoutMs, one.callTimeoutMs, one.maxCallTimeMs], [250, 1500, 5 * MINUTE]);
  assert.deepEqual([one.idleTimeoutMs, one.maxLinks, one.maxInFlight], [60 * MINUTE, 1, 2]);
  assert.deepEqual([one.queue, one.maxMessageBytes], [{ max: 0, timeoutMs: 1000 }, 1536]);
  assert.deepEqual(one.tools, { allow: ['read_*'], deny: ['read_all'] });
  assert.deepEqual(one.overrides.tools, {
    read_one: {
      name: 'read',
      description: 'Reads.',
      annotations: { title: 'T', readOnlyHint: true, team: ['a'] },
    },
    read_two: { description: 'Reads two.' },
  });
  assert.ok(two?.type === 'sse');
  assert.deepEqual([two.headers, two.tls], [{ Authorization: 'Bearer abc' }, { ca }]);
  assert.deepEqual(gateway, {
    listen: { host: '::1', port: 0, tls: undefined },
    admin: undefined,
    publicUrl: 'https://MCP.example.com:443/base',
    insecure: true,
    auth: undefined,
    access: undefined,
    identity: undefined,
    limits: [],
    redis: undefined,
    replica: undefined,
    audit: undefined,
    trustedProxies: ['10.0.0.0/8', 'fd00::/8', '127.0.0.1'],
    origins: ['https://chat.example.com', 'vscode-webview://abc', 'null'],
    hosts: ['mcp.internal:8080'],
    bodyLimitBytes: 512 * 1024,
    maxBufferedBytes: 1024 * MIB,
    sessions: {
      idleTimeoutMs: MINUTE,
      maxAgeMs: SECOND,
      max: 1,
      maxPerPrincipal: 2,
      replay: { bytes: 0, forMs: 0 },
    },
    processes: { max: 9, maxPerPrincipal: 3 },
    streams: { maxPerPrincipal: 4 },
    parked: { timeoutMs: SECOND, max: 1, maxPerPrincipal: 1 },
    pins: undefined,
    names: 'prefixed',
    lists: { timeoutMs: SECOND, staleForMs: MINUTE, ttlMs: 0 },
    toolsets: { few: ['one/x'] },
    outbound: {
      proxy: 'http://proxy.example:3128',
      noProxy: ['internal.example', '10.0.0.0/8', '*.other.example:8443'],
      ca,
    },
    drain: { delayMs: 5 * SECOND, graceMs: 0 },
    log: { level: 'silent' },
  });
});

test('the default call timeout gives way to a shorter maxCallTime', async (t) => {
  const { config } = await loadedConfig(t, 'mcpServers: { a: { url: "http://x", maxCallTime: 5s } }');
  assert.equal(config.servers[0]?.callTimeoutMs, 5 * SECOND);
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

test('what is likely not meant is a warning with its place', async (t) => {
  const text = `mcpServers:
  a: { command: no-such-program }
  b: { url: "http://b" }
gateway:
  listen: { host: 0.0.0.0 }
  insecure: true
  publicUrl: http://mcp.example.com/mcp
  admin: { host: 0.0.0.0, token: short }
  trustedProxies: [0.0.0.0/0]
  bodyLimit: 8mb
  maxBuffered: 4mb
`;
  const loaded = await loadText(t, text);
  assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
  const beginnings = problemTexts(loaded).map((warning) => warning.split(/[.;,:] /, 2).join(': '));
  assert.deepEqual(beginnings, [
    '2:17 mcpServers.a.command: this program is not found here',
    '6:13 gateway.insecure: INSECURE',
    '7:14 gateway.publicUrl: publicUrl ends in /mcp',
    '8:34 gateway.admin.token: a token this short can be guessed',
    '9:20 gateway.trustedProxies[0]: this range is every address',
    '10:14 gateway.bodyLimit: bodies above gateway.maxBuffered get 503',
  ]);
  const open = `mcpServers: { a: { url: "http://x" } }\ngateway: { admin: { host: 0.0.0.0 } }`;
  assert.match(problemTexts(await loadText(t, open)).join(), /^2:27 gateway\.admin\.host: off loopback/);
  const idle = await loadText(t, 'mcpServers: { a: { url: "http://x", disabled: true } }');
  assert.match(problemTexts(idle).join(), /no server is enabled/);
  const line = await loadText(t, 'mcpServers: { a: { command: "node server.js" } }');
  assert.match(
    problemTexts(line).join(),
    /^1:29 mcpServers\.a\.command: .* what follows it goes into args\.$/,
  );
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
