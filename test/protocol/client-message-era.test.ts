import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MessageHeaders } from '../../src/protocol/client-message.ts';
import { LEGACY_VERSIONS, META, SUPPORTED_VERSIONS } from '../../src/protocol/era.ts';
import { modernPost, outcomeOf, read } from './modern-post.ts';

const LATER = '2031-01-01';
const CAPABILITIES = { [META.clientCapabilities]: {} };
const CLAIM = { [META.protocolVersion]: '2026-07-28', ...CAPABILITIES };
const RESERVED_ONLY = { [META.clientInfo]: { name: 'c', version: '1' }, ...CAPABILITIES };

type Row = readonly [title: string, body: object, headers: MessageHeaders, expected: string];

function version(value: string): MessageHeaders {
  return { 'mcp-protocol-version': value };
}

function mirrored(method: string, value = '2026-07-28'): MessageHeaders {
  return { ...version(value), 'mcp-method': method };
}

function request(method: string, params?: object): object {
  return { jsonrpc: '2.0', id: 1, method, params };
}

function initialize(protocolVersion: string, _meta?: object): object {
  return request('initialize', { protocolVersion, capabilities: {}, _meta });
}

const REQUESTS: readonly Row[] = [
  ['without header and claim', request('tools/list'), {}, 'legacy request'],
  [
    'with a progress token alone',
    request('tools/list', { _meta: { progressToken: 1 } }),
    {},
    'legacy request',
  ],
  ['with other reserved keys alone', request('tools/list', { _meta: RESERVED_ONLY }), {}, 'legacy request'],
  [
    'with other reserved keys under a modern header',
    request('tools/list', { _meta: RESERVED_ONLY }),
    mirrored('tools/list'),
    'refused meta-missing',
  ],
  ['with a modern header alone', request('tools/list'), mirrored('tools/list'), 'refused meta-missing'],
  ['with a later header alone', request('tools/list'), mirrored('tools/list', LATER), 'refused meta-missing'],
  ['with a claim alone', request('tools/list', { _meta: CLAIM }), {}, 'refused header-mismatch'],
  [
    'with a claim of a legacy version alone',
    request('tools/list', { _meta: { ...CLAIM, [META.protocolVersion]: '2025-11-25' } }),
    {},
    'refused header-mismatch',
  ],
  [
    'with a claim that is no version',
    request('tools/list', { _meta: { ...CLAIM, [META.protocolVersion]: null } }),
    {},
    'refused meta-missing',
  ],
  [
    'with a claim under an explicit legacy header',
    request('tools/list', { _meta: CLAIM }),
    version('2025-11-25'),
    'legacy request',
  ],
  [
    'with a broken claim under an explicit legacy header',
    request('tools/list', { _meta: { [META.protocolVersion]: 5 } }),
    version('2025-06-18'),
    'legacy request',
  ],
  ['F36: server/discover, which no session comes before', ...discover(), 'modern request'],
  ['F36: in a version that is not spoken', ...discover(LATER), 'refused version-unsupported'],
  [
    'under a legacy version that is not spoken',
    request('ping'),
    version('2024-01-01'),
    'refused version-unsupported',
  ],
  ['under a header that is no version', request('ping'), version('newest'), 'refused version-unsupported'],
  ['under an empty header', request('ping'), version(''), 'refused version-unsupported'],
  [
    'under a legacy header that was sent twice',
    request('ping'),
    version('2025-11-25, 2025-11-25'),
    'refused version-unsupported',
  ],
];

const INITIALIZE: readonly Row[] = [
  ['F36: as a legacy client sends it', initialize('2025-11-25'), {}, 'legacy request'],
  ['F36: asking for 2026-07-28', initialize('2026-07-28'), {}, 'legacy request'],
  ['F36: under a modern header', initialize('2025-11-25'), version('2026-07-28'), 'legacy request'],
  [
    'F36: asking for 2026-07-28 under its header',
    initialize('2026-07-28'),
    mirrored('initialize'),
    'legacy request',
  ],
  [
    'F36: with other reserved keys under a modern header',
    initialize('2025-11-25', RESERVED_ONLY),
    version('2026-07-28'),
    'legacy request',
  ],
  [
    'F36: with a claim and its header',
    initialize('2025-11-25', CLAIM),
    mirrored('initialize'),
    'modern request',
  ],
  [
    'F36: with a claim under a legacy header',
    initialize('2025-11-25', CLAIM),
    version('2025-11-25'),
    'legacy request',
  ],
  ['F36: with a claim alone', initialize('2025-11-25', CLAIM), {}, 'refused header-mismatch'],
  [
    'under a version that nobody speaks',
    initialize('2025-11-25'),
    version('2001-01-01'),
    'refused version-unsupported',
  ],
];

const notified = (method: string, params?: object) => ({ jsonrpc: '2.0', method, params });
const NOTIFICATIONS: readonly Row[] = [
  ['F37: notifications/initialized', 'notifications/initialized'],
  ['F37: notifications/cancelled', 'notifications/cancelled'],
  ['F37: one that nobody knows', 'notifications/x'],
].flatMap(([title = '', method = '']): Row[] => [
  [`${title}, no header`, notified(method), {}, 'legacy notification'],
  ...LEGACY_VERSIONS.map(
    (spoken): Row => [`${title}, ${spoken}`, notified(method), version(spoken), 'legacy notification'],
  ),
  [`${title}, modern`, notified(method), mirrored(method), 'modern notification'],
  [`${title}, modern, without Mcp-Method`, notified(method), version('2026-07-28'), 'modern notification'],
  [`${title}, modern, Mcp-Method of another`, notified(method), mirrored('ping'), 'refused header-mismatch'],
  [
    `${title}, legacy, Mcp-Method of another`,
    notified(method),
    mirrored('ping', '2025-11-25'),
    'legacy notification',
  ],
  [`${title}, later`, notified(method), mirrored(method, LATER), 'refused version-unsupported'],
  [`${title}, a version that is none`, notified(method), version('x'), 'refused version-unsupported'],
  [`${title}, with a claim in the body alone`, notified(method, { _meta: CLAIM }), {}, 'legacy notification'],
]);

const RESULT = { jsonrpc: '2.0', id: 3, result: {} };
const ERROR = { jsonrpc: '2.0', id: 'q', error: { code: -1, message: 'no' } };
const RESPONSES: readonly Row[] = [
  ['F37: a result', RESULT, {}, 'legacy response'],
  ['F37: a result, 2025-11-25', RESULT, version('2025-11-25'), 'legacy response'],
  ['F37: an error', ERROR, {}, 'legacy response'],
  ['F37: a result, modern', RESULT, version('2026-07-28'), 'refused not-a-message'],
  ['F37: an error, modern', ERROR, version('2026-07-28'), 'refused not-a-message'],
  ['F37: a result, later', RESULT, version(LATER), 'refused not-a-message'],
  ['F37: a result, a version that is none', RESULT, version('x'), 'refused version-unsupported'],
];

function discover(named = '2026-07-28'): [object, MessageHeaders] {
  const { body, headers } = modernPost({
    method: 'server/discover',
    params: {},
    meta: { [META.protocolVersion]: named },
  });
  return [body, headers];
}

const TABLE = { request: REQUESTS, initialize: INITIALIZE, notification: NOTIFICATIONS, response: RESPONSES };
for (const [group, rows] of Object.entries(TABLE)) {
  describe(group, () => {
    for (const [title, body, headers, expected] of rows) {
      test(title, () => assert.equal(outcomeOf(read(body, headers)), expected));
    }
  });
}

test('every version that we speak is accepted in its era', () => {
  for (const spoken of LEGACY_VERSIONS) {
    assert.equal(outcomeOf(read(request('ping'), version(spoken))), 'legacy request', spoken);
  }
});

test('a refused version is told in the era that the header belongs to, with the id and what we speak', () => {
  const legacy = read(request('ping'), version('2024-01-01'));
  assert.ok(legacy.kind === 'refused');
  assert.equal(legacy.era, 'legacy');
  assert.equal(legacy.idText, '1');
  assert.deepEqual(legacy.data, { supported: SUPPORTED_VERSIONS, requested: '2024-01-01' });

  const modern = read(notified('notifications/x'), version(LATER));
  assert.ok(modern.kind === 'refused');
  assert.equal(modern.era, 'modern');
  assert.deepEqual(modern.data, { supported: SUPPORTED_VERSIONS, requested: LATER });
});

test('a legacy message keeps what it said, reserved keys too', () => {
  const params = { name: 'echo', _meta: CLAIM };
  assert.deepEqual(read(request('tools/call', params), version('2025-11-25')), {
    era: 'legacy',
    kind: 'request',
    id: 1,
    idText: '1',
    method: 'tools/call',
    params,
  });
  const response = read(ERROR);
  assert.ok(response.kind === 'response');
  assert.deepEqual(response.outcome, { error: ERROR.error });
});
