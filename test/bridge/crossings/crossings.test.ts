// What changes in a plain request and its answer between the eras: one table a direction.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Crossing, CrossingContext } from '../../../src/bridge/crossings/crossing.ts';
import { legacyClient } from '../../../src/bridge/crossings/legacy-client.ts';
import { legacyServer } from '../../../src/bridge/crossings/legacy-server.ts';
import { sameEraLegacy, sameEraModern } from '../../../src/bridge/crossings/same-era.ts';
import type { ClientRequest } from '../../../src/protocol/client-message.ts';
import type { Era } from '../../../src/protocol/era.ts';
import type { JsonObject } from '../../../src/protocol/json-text.ts';
import { failure } from '../../support/http-rig.ts';
import { faultyConfig } from '../../support/stdio-rig.ts';

const META = 'io.modelcontextprotocol/';
const SERVER_INFO = { name: 'behind', version: '1' };
const OWN_META = { 'com.example/trace': 'kept', progressToken: 'mine' };

interface Case {
  readonly method?: string;
  readonly params?: JsonObject;
  readonly capabilities?: JsonObject;
  readonly version?: string;
  readonly logLevel?: string;
  readonly serverInfo?: JsonObject | undefined;
}

function contextOf(client: Era, server: Era, given: Case): CrossingContext {
  const { method = 'tools/call', params, capabilities = {}, version, logLevel } = given;
  const peerVersion = server === 'modern' ? '2026-07-28' : '2025-06-18';
  const request = {
    era: client,
    kind: 'request',
    id: 1,
    idText: '1',
    method,
    params: params ?? (client === 'modern' ? {} : undefined),
    meta: { version: '2026-07-28', clientInfo: undefined, clientCapabilities: capabilities, logLevel },
  } as ClientRequest;
  return {
    request,
    clientVersion: version ?? (client === 'modern' ? '2026-07-28' : '2025-11-25'),
    clientCapabilities: capabilities,
    clientInfo: { name: 'client', version: '2' },
    logLevel: client === 'legacy' ? logLevel : undefined,
    peer: {
      era: server,
      version: peerVersion,
      serverInfo: 'serverInfo' in given ? given.serverInfo : SERVER_INFO,
      capabilities: {},
      instructions: undefined,
    },
    server: faultyConfig([], { client: { roots: 'deny', sampling: 'allow', elicitation: 'allow' } }),
    listTtlMs: 30_000,
  };
}

const CROSSINGS = {
  'legacy to legacy': [sameEraLegacy, 'legacy', 'legacy'],
  'modern to modern': [sameEraModern, 'modern', 'modern'],
  'modern to legacy': [legacyServer, 'modern', 'legacy'],
  'legacy to modern': [legacyClient, 'legacy', 'modern'],
} as const satisfies Record<string, readonly [Crossing, Era, Era]>;
type Direction = keyof typeof CROSSINGS;

const modernMeta = (capabilities: JsonObject) => ({
  [`${META}protocolVersion`]: '2026-07-28',
  [`${META}clientInfo`]: { name: 'client', version: '2' },
  [`${META}clientCapabilities`]: capabilities,
});

const REQUESTS: readonly [Direction, string, Case, JsonObject | undefined][] = [
  [
    'legacy to legacy',
    'params pass as they are',
    { params: { a: 1, _meta: OWN_META } },
    { a: 1, _meta: OWN_META },
  ],
  ['legacy to legacy', 'no params stay none', { method: 'tools/list' }, undefined],
  [
    'modern to modern',
    'unknown members survive, the declared capabilities are less what the config denies',
    {
      params: { a: 1, future: [2], _meta: { ...modernMeta({}), ...OWN_META } },
      capabilities: { roots: {}, sampling: {}, elicitation: {}, extensions: { x: {} } },
    },
    {
      a: 1,
      future: [2],
      _meta: { ...modernMeta({ sampling: {}, elicitation: {}, extensions: { x: {} } }), ...OWN_META },
    },
  ],
  [
    'modern to legacy',
    'the metadata of the newer revision is taken off, the rest is kept',
    { params: { a: 1, _meta: { ...modernMeta({}), [`${META}logLevel`]: 'info', ...OWN_META } } },
    { a: 1, _meta: OWN_META },
  ],
  ['modern to legacy', 'an empty rest is none', { params: { a: 1, _meta: modernMeta({}) } }, { a: 1 }],
  [
    'modern to legacy',
    'what a retry carries is for Portico',
    { params: { name: 'x', requestState: 's', inputResponses: { q: {} } } },
    { name: 'x' },
  ],
  [
    'legacy to modern',
    'the metadata is added, an own one is kept',
    { params: { a: 1, _meta: OWN_META }, capabilities: { roots: { listChanged: true }, sampling: {} } },
    { a: 1, _meta: { ...OWN_META, ...modernMeta({ sampling: {} }) } },
  ],
  [
    'legacy to modern',
    'also where there were no params',
    { method: 'tools/list' },
    { _meta: modernMeta({}) },
  ],
  [
    'legacy to modern',
    'a session that set a level asks for it',
    { method: 'tools/list', logLevel: 'warning' },
    { _meta: { ...modernMeta({}), [`${META}logLevel`]: 'warning' } },
  ],
];
for (const [direction, what, given, expected] of REQUESTS) {
  test(`${direction}, request: ${what}`, () => {
    const [crossing, client, server] = CROSSINGS[direction];
    assert.deepEqual(crossing.params(contextOf(client, server, given)), expected);
  });
}

const CONTENT = [{ type: 'text', text: 'x' }];
const HINTS = { ttlMs: 7, cacheScope: 'public' };
const INFO = { [`${META}serverInfo`]: SERVER_INFO };

const RESULTS: readonly [Direction, string, Case, JsonObject, JsonObject][] = [
  [
    'legacy to legacy',
    'passes as it is',
    {},
    { content: CONTENT, future: 1 },
    { content: CONTENT, future: 1 },
  ],
  [
    'modern to modern',
    'passes as it is',
    {},
    { resultType: 'complete', content: CONTENT, future: 1, _meta: INFO },
    { resultType: 'complete', content: CONTENT, future: 1, _meta: INFO },
  ],
  [
    'modern to modern',
    'is private, whatever the server thinks (F32)',
    { method: 'tools/list' },
    { resultType: 'complete', tools: [], ...HINTS },
    { resultType: 'complete', tools: [], ttlMs: 7, cacheScope: 'private' },
  ],
  [
    'modern to legacy',
    'of a call gains its type and who answered, and no hints',
    {},
    { content: CONTENT, future: 1, _meta: OWN_META },
    { content: CONTENT, future: 1, resultType: 'complete', _meta: { ...OWN_META, ...INFO } },
  ],
  [
    'modern to legacy',
    'of a server that gives no name',
    { serverInfo: undefined },
    { content: CONTENT },
    { content: CONTENT, resultType: 'complete', _meta: {} },
  ],
  ...(['tools', 'prompts', 'resources', 'resources/templates'] as const).map(
    (kind): [Direction, string, Case, JsonObject, JsonObject] => [
      'modern to legacy',
      `of ${kind}/list gains hints`,
      { method: `${kind}/list` },
      { items: [], nextCursor: 'n' },
      {
        items: [],
        nextCursor: 'n',
        resultType: 'complete',
        ttlMs: 30_000,
        cacheScope: 'private',
        _meta: INFO,
      },
    ],
  ),
  [
    'modern to legacy',
    'of resources/read is not to be kept',
    { method: 'resources/read' },
    { contents: [] },
    { contents: [], resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: INFO },
  ],
  [
    'legacy to modern',
    'loses what its revision does not know, and keeps the rest',
    { method: 'tools/list' },
    { resultType: 'complete', tools: [], ...HINTS, future: 1, _meta: { ...OWN_META, ...INFO } },
    { tools: [], future: 1, _meta: OWN_META },
  ],
  [
    'legacy to modern',
    'an empty rest of the metadata is none',
    {},
    { resultType: 'complete', content: CONTENT, _meta: INFO },
    { content: CONTENT },
  ],
  [
    'legacy to modern',
    'structured content that is an object stays',
    {},
    { resultType: 'complete', content: [], structuredContent: { a: 1 } },
    { content: [], structuredContent: { a: 1 } },
  ],
  [
    'legacy to modern',
    'other structured content is told as text where nothing tells it',
    {},
    { resultType: 'complete', content: [], structuredContent: [1, 2] },
    { content: [{ type: 'text', text: '[1,2]' }] },
  ],
  [
    'legacy to modern',
    'and dropped where something does',
    {},
    { resultType: 'complete', content: CONTENT, structuredContent: 'x' },
    { content: CONTENT },
  ],
  [
    'legacy to modern',
    'but told where there is only what is no text',
    {},
    { resultType: 'complete', content: [{ type: 'image', data: 'x' }], structuredContent: 'x' },
    {
      content: [
        { type: 'image', data: 'x' },
        { type: 'text', text: '"x"' },
      ],
    },
  ],
  [
    'legacy to modern',
    'a tool keeps an output schema of objects alone',
    { method: 'tools/list' },
    {
      resultType: 'complete',
      tools: [
        { name: 'object', outputSchema: { type: 'object' } },
        { name: 'array', outputSchema: { type: 'array' } },
        { name: 'none' },
        'no tool',
      ],
    },
    {
      tools: [
        { name: 'object', outputSchema: { type: 'object' } },
        { name: 'array' },
        { name: 'none' },
        'no tool',
      ],
    },
  ],
  [
    'legacy to modern',
    "content that the client's revision does not know becomes text",
    { version: '2024-11-05' },
    { resultType: 'complete', content: [...CONTENT, { type: 'audio', data: 'x' }] },
    { content: [...CONTENT, { type: 'text', text: '{"type":"audio","data":"x"}' }] },
  ],
];
for (const [direction, what, given, result, expected] of RESULTS) {
  test(`${direction}, result: ${what}`, () => {
    const [crossing, client, server] = CROSSINGS[direction];
    assert.deepEqual(crossing.outcome({ result }, contextOf(client, server, given)), { result: expected });
  });
}

const READ = { method: 'resources/read', params: { uri: 'file:///x' } };
const NOT_FOUND = { message: 'Resource not found', data: { uri: 'file:///x' } };
const OUR_LEG = { code: 5020, message: 'The server is not available' };

/** [direction, given, the server's code and data, what the client sees] */
const ERRORS: readonly [Direction, Case, [number, JsonObject?], JsonObject][] = [
  ['legacy to legacy', {}, [-32601], { code: -32601, message: 'words' }],
  ['legacy to legacy', READ, [-32002, { uri: 'other' }], { code: -32002, ...NOT_FOUND }],
  ['legacy to legacy', READ, [-32602, { uri: 'other' }], { code: -32002, ...NOT_FOUND }],
  ['legacy to legacy', READ, [-32602], { code: -32602, message: 'words' }],
  [
    'legacy to legacy',
    {},
    [-32042, { elicitations: [] }],
    { code: -32042, message: 'words', data: { elicitations: [] } },
  ],
  ['modern to legacy', READ, [-32002], { code: -32602, ...NOT_FOUND }],
  ['modern to legacy', {}, [-32002, { a: 1 }], { code: -32602, message: 'words', data: { a: 1 } }],
  ['modern to legacy', {}, [-32042, { elicitations: [] }], { code: -32603, message: 'words' }],
  ['modern to legacy', {}, [42, { a: 1 }], { code: 42, message: 'words', data: { a: 1 } }],
  ['legacy to modern', READ, [-32602, { uri: 'other' }], { code: -32002, ...NOT_FOUND }],
  ['legacy to modern', {}, [-32021, { requiredCapabilities: {} }], { code: -32603, message: 'words' }],
  ['legacy to modern', {}, [-32050], { code: -32603, message: 'words' }],
  ['legacy to modern', {}, [-32000], { code: -32000, message: 'words' }],
  [
    'modern to modern',
    {},
    [-32021, { requiredCapabilities: {} }],
    { code: -32021, message: 'words', data: { requiredCapabilities: {} } },
  ],
  ['modern to modern', READ, [-32602, { uri: 'other' }], { code: -32602, ...NOT_FOUND }],
  ...(Object.keys(CROSSINGS) as Direction[]).flatMap((direction) =>
    [-32020, -32022].map((code): [Direction, Case, [number, JsonObject?], JsonObject] => [
      direction,
      {},
      [code, { supported: ['2099-01-01'] }],
      OUR_LEG,
    ]),
  ),
];
for (const [direction, given, [code, data], expected] of ERRORS) {
  test(`${direction}, error ${code} to ${given.method ?? 'a call'} becomes ${expected.code}`, () => {
    const [crossing, client, server] = CROSSINGS[direction];
    const error = { code, message: 'words', ...(data === undefined ? {} : { data }) };
    assert.deepEqual(crossing.outcome({ error }, contextOf(client, server, given)), { error: expected });
  });
}

test('legacy to modern: a kind of result that no revision of the client knows is a failure of the server', () => {
  const context = contextOf('legacy', 'modern', {});
  assert.throws(
    () => legacyClient.outcome({ result: { resultType: 'streamed' } }, context),
    failure('server-unavailable', 'result-type'),
  );
});

test('modern to modern: a server must not ask for what was not declared to it', () => {
  const ask = (method: string, params: JsonObject = {}) => ({
    result: { resultType: 'input_required', inputRequests: { q: { method, params } }, requestState: 's' },
  });
  const declared = contextOf('modern', 'modern', { capabilities: { elicitation: {}, roots: {} } });
  assert.deepEqual(sameEraModern.outcome(ask('elicitation/create'), declared), ask('elicitation/create'));
  for (const question of [
    ask('sampling/createMessage'),
    ask('roots/list'),
    ask('elicitation/create', { mode: 'url' }),
  ]) {
    assert.throws(
      () => sameEraModern.outcome(question, declared),
      failure('server-unavailable', 'undeclared-question'),
    );
  }
});

const PROGRESS = { jsonrpc: '2.0' as const, method: 'notifications/progress', params: { progressToken: 1 } };
const LOG = {
  jsonrpc: '2.0' as const,
  method: 'notifications/message',
  params: { level: 'info', data: 'x' },
};
const QUESTION = { jsonrpc: '2.0' as const, id: 1, method: 'roots/list' };

test('messages ahead of the answer: progress crosses everywhere, questions cross by other ways', () => {
  for (const [crossing, client, server] of Object.values(CROSSINGS)) {
    const context = contextOf(client, server, {});
    assert.deepEqual(crossing.message(PROGRESS, context), PROGRESS);
    if (client === 'modern' || server === 'modern')
      assert.equal(crossing.message(QUESTION, context), undefined);
  }
});

test('modern to legacy: log lines reach who asked for their level, and no others', () => {
  const asked = (logLevel?: string) =>
    legacyServer.message(LOG, contextOf('modern', 'legacy', logLevel === undefined ? {} : { logLevel }));
  assert.deepEqual([asked('debug'), asked('info')], [LOG, LOG]);
  assert.deepEqual([asked('warning'), asked(), asked('loud')], [undefined, undefined, undefined]);
});
