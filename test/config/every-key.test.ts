// Every key of a config: its default, and that what is written is read.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { problemTexts, writeConfig } from './written-config.ts';

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
