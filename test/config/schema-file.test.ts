// The schema, the file that editors read, and the reference that people read: one thing, told three times.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { editorSchema } from '../../src/config/editor-schema.ts';
import { configSchemaNode } from '../../src/config/schema.ts';
import { generatedFiles, isUpToDate } from '../../src/config/schema-file.ts';
import type { SchemaNode } from '../../src/config/schema-node.ts';

test('the generated files are as the schema has them', async () => {
  for (const file of await generatedFiles()) {
    assert.ok(await isUpToDate(file), `${file.url.pathname} differs: run npm run fix`);
  }
});

test('the drift check notices a file that differs', async () => {
  const [file] = await generatedFiles();
  assert.ok(file);
  assert.equal(await isUpToDate({ ...file, text: `${file.text} ` }), false);
});

test('the schema is a schema, which starts do not ask again', () => {
  const ajv = new Ajv({ strict: false });
  assert.equal(ajv.validateSchema(configSchemaNode), true, ajv.errorsText());
});

test('every key says its effect and its default, or that it is required', () => {
  for (const { path, schema } of keysBelow(configSchemaNode, '')) {
    // Members of lists and maps have no default of their own; sections have that of their keys.
    if (path.endsWith('[]') || path.endsWith('*')) continue;
    const description = schema.description ?? '';
    assert.notEqual(description, '', path);
    const hasOwnKeys = schema.properties !== undefined || schema.anyOf !== undefined;
    assert.ok(hasOwnKeys || /Default: |^Required\./.test(description), `${path}: ${description}`);
  }
});

test('a key that can do harm says so', () => {
  const dangerous = ['command', 'args', 'headers', 'isolation', 'maxMessage', 'client.roots'].map(
    (key) => `mcpServers.*.${key}`,
  );
  dangerous.push(
    ...['insecure', 'trustedProxies', 'origins', 'publicUrl', 'listen.host', 'admin.host'].map(
      (key) => `gateway.${key}`,
    ),
  );
  const keys = new Map(keysBelow(configSchemaNode, '').map(({ path, schema }) => [path, schema]));
  for (const path of dangerous) assert.match(keys.get(path)?.description ?? '', /Danger: /, path);
});

test('the reference names every key once', async () => {
  const document = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  for (const { path } of keysBelow(configSchemaNode, '')) {
    if (path.endsWith('[]') || path.endsWith('*')) continue;
    const written = path.replace('mcpServers.*', 'mcpServers.<name>').replaceAll('.*', '.<name>');
    const short = written.replace(/^(mcpServers\.<name>|gateway)\./, '');
    const rows = document
      .split('\n')
      .filter((line) => line.startsWith(`- \`${written}\` (`) || line.startsWith(`- \`${short}\` (`));
    assert.ok(rows.length >= 1, `${path} has no line`);
  }
});

test('the design lists no key that the schema lacks', () => {
  const keys = keysBelow(configSchemaNode, '').map(({ path }) => path);
  for (const path of DESIGNED) assert.ok(keys.includes(path), path);
});

test('editors accept placeholders for single values, and refuse what the loader refuses', () => {
  const validate = new Ajv({ strict: false, allowUnionTypes: true }).compile(editorSchema(configSchemaNode));
  const good = [
    `mcpServers: { a: { command: "\${C}", startTimeout: "\${T:-5s}", protocol: "\${P}", maxLinks: "\${N}", disabled: "\${D}" } }`,
    `mcpServers: {}\ngateway: { publicUrl: "\${U}", admin: false, listen: { port: "\${P}" }, log: { level: "\${L}" } }`,
    'mcpServers: { a: { url: "https://x", client: { roots: [{ uri: "file:///x" }] } } }\n$schema: ./portico.schema.json',
  ];
  const bad = [
    'gateway: {}',
    'mcpServers: { a: { comand: x } }',
    'mcpServers: { a: { startTimeout: 5 } }',
    'mcpServers: { a: { maxLinks: "5" } }',
    'mcpServers: {}\ngateway: { log: { level: loud } }',
    'mcpServers: {}\ngateway: { admin: true }',
  ];
  for (const text of good) assert.ok(validate(parse(text)), `${text} ${JSON.stringify(validate.errors)}`);
  for (const text of bad) assert.ok(!validate(parse(text)), text);
});

interface Key {
  readonly path: string;
  readonly schema: SchemaNode;
}

function keysBelow(schema: SchemaNode, prefix: string): Key[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema;
  const members: Key[] = Object.entries(properties).map(([key, child]) => ({
    path: `${prefix}${key}`,
    schema: child,
  }));
  if (typeof additionalProperties === 'object')
    members.push({ path: `${prefix}*`, schema: additionalProperties });
  if (items !== undefined) members.push({ path: `${prefix.slice(0, -1)}[]`, schema: items });
  return [
    ...members.flatMap((member) => [member, ...keysBelow(member.schema, `${member.path}.`)]),
    ...anyOf.flatMap((branch) => keysBelow(branch, prefix)),
  ];
}

/** Of sections 2.2, 6 and 7 of the design. */
const DESIGNED = [
  ...below('mcpServers.*.', [
    ...[
      'type',
      'command',
      'args',
      'env',
      'cwd',
      'url',
      'headers',
      'tls.ca',
      'tls.cert',
      'tls.key',
      'disabled',
    ],
    ...[
      'protocol',
      'isolation',
      'client.roots',
      'client.sampling',
      'client.elicitation',
      'prefix',
      'startTimeout',
    ],
    ...['callTimeout', 'maxCallTime', 'idleTimeout', 'maxLinks', 'maxInFlight', 'queue.max', 'queue.timeout'],
    ...[
      'maxMessage',
      'tools.allow',
      'tools.deny',
      'auth.type',
      'auth.token',
      'auth.tokenUrl',
      'auth.clientId',
    ],
    ...[
      'auth.clientSecret',
      'auth.scopes',
      'auth.resource',
      'overrides.tools.*.name',
      'warm',
      'resources.memory',
    ],
  ]),
  ...below('gateway.', [
    ...[
      'listen.host',
      'listen.port',
      'listen.tls.cert',
      'listen.tls.key',
      'admin.host',
      'admin.port',
      'admin.hosts',
    ],
    ...[
      'admin.token',
      'publicUrl',
      'insecure',
      'trustedProxies',
      'origins',
      'hosts',
      'bodyLimit',
      'maxBuffered',
    ],
    ...[
      'redis.url',
      'redis.keyPrefix',
      'redis.timeout',
      'replica.listen.host',
      'replica.url',
      'replica.secret',
    ],
    ...['sessions.idleTimeout', 'sessions.maxAge', 'sessions.max', 'sessions.maxPerPrincipal'],
    ...[
      'sessions.replay.bytes',
      'sessions.replay.for',
      'parked.timeout',
      'parked.max',
      'parked.maxPerPrincipal',
    ],
    ...[
      'lists.timeout',
      'lists.staleFor',
      'lists.ttl',
      'names',
      'outbound.proxy',
      'outbound.ca',
      'drain.delay',
    ],
    ...[
      'drain.grace',
      'audit.file',
      'audit.key',
      'audit.arguments',
      'audit.onFailure',
      'audit.maxSize',
      'log.level',
      'identity.key',
    ],
    ...[
      'auth.issuers[].issuer',
      'auth.issuers[].audiences',
      'auth.issuers[].jwksUri',
      'auth.issuers[].algorithms',
    ],
    ...[
      'auth.issuers[].claims.groups',
      'auth.issuers[].claims.scopes',
      'auth.issuers[].introspection.endpoint',
    ],
    ...['auth.apiKeys[].name', 'auth.apiKeys[].sha256', 'auth.scopesSupported', 'auth.requiredScopes'],
    ...[
      'access.rules[].name',
      'access.rules[].when.groups',
      'access.rules[].when.issuers',
      'access.rules[].if',
    ],
    ...['access.rules[].allow', 'access.rules[].deny', 'access.scopes', 'access.scopeImplies', 'pins'],
    ...[
      'limits[].name',
      'limits[].key',
      'limits[].max',
      'limits[].window',
      'limits[].match',
      'limits[].inFlight',
    ],
  ]),
];

function below(prefix: string, keys: readonly string[]): string[] {
  return keys.map((key) => `${prefix}${key}`);
}
