import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MessageHeaders } from '../../src/protocol/client-message.ts';
import { META, SUPPORTED_VERSIONS } from '../../src/protocol/era.ts';
import { modernPost, outcomeOf, type PostChanges, read } from './modern-post.ts';

const PASSES = 'modern request';
const MISMATCH = 'refused header-mismatch';
const META_MISSING = 'refused meta-missing';
const VERSION_UNSUPPORTED = 'refused version-unsupported';
const LATER = '2031-01-01';

type Row = readonly [title: string, changes: PostChanges, expected: string];

function marked(text: string): string {
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function version(value: string | string[] | undefined): { headers: MessageHeaders } {
  return { headers: { 'mcp-protocol-version': value } };
}

function method(value: string | string[] | undefined): { headers: MessageHeaders } {
  return { headers: { 'mcp-method': value } };
}

/** A `tools/call` of that name under that header. */
function name(header: string | string[] | undefined, inBody: unknown = 'echo'): PostChanges {
  return { params: { name: inBody }, headers: { 'mcp-name': header } };
}

const PLAIN: readonly Row[] = [
  ['headers that mirror the body', {}, PASSES],
  ['a method without a name', { method: 'tools/list', params: {} }, PASSES],
  ['a method that nobody knows', { method: 'no/such', params: {} }, PASSES],
];

const VERSION_HEADER: readonly Row[] = [
  ['missing beside a _meta version', version(undefined), MISMATCH],
  ['empty', version(''), MISMATCH],
  ['another modern one than in _meta', version(LATER), MISMATCH],
  ['modern, while _meta names a legacy one', metaVersion('2025-11-25', '2026-07-28'), MISMATCH],
  ['unknown, while _meta names a spoken one', version('1999-12-31'), MISMATCH],
  ['no date at all', version('latest'), MISMATCH],
  ['sent twice, joined by Node', version('2026-07-28, 2026-07-28'), MISMATCH],
  ['sent twice, as a list', version(['2026-07-28', '2026-07-28']), MISMATCH],
  ['in the encoded form, which it does not have', version(marked('2026-07-28')), MISMATCH],
];

const METHOD_HEADER: readonly Row[] = [
  ['missing', method(undefined), MISMATCH],
  ['empty', method(''), MISMATCH],
  ['of another method', method('prompts/get'), MISMATCH],
  ['in another case', method('Tools/Call'), MISMATCH],
  ['sent twice, joined by Node', method('tools/call, tools/call'), MISMATCH],
  ['sent twice, as a list', method(['tools/call', 'tools/call']), MISMATCH],
  ['in the encoded form, which it does not have', method(marked('tools/call')), MISMATCH],
];

const NAME_HEADER: readonly Row[] = [
  ['missing on tools/call', name(undefined), MISMATCH],
  [
    'missing on tools/call, and no name in the body',
    { params: {}, headers: { 'mcp-name': undefined } },
    MISMATCH,
  ],
  [
    'missing on prompts/get',
    { method: 'prompts/get', params: { name: 'p' }, headers: { 'mcp-name': undefined } },
    MISMATCH,
  ],
  [
    'missing on resources/read',
    { method: 'resources/read', params: { uri: 'a:b' }, headers: { 'mcp-name': undefined } },
    MISMATCH,
  ],
  ['of another name', name('other'), MISMATCH],
  ['in another case', name('Echo'), MISMATCH],
  ['with a space inside', name('ec ho'), MISMATCH],
  ['sent twice, joined by Node', name('echo, echo'), MISMATCH],
  ['sent twice, as a list', name(['echo', 'other']), MISMATCH],
  ['over an absent name', { params: {}, headers: { 'mcp-name': 'echo' } }, MISMATCH],
  ['over a number', name('42', 42), MISMATCH],
  ['over null', name('null', null), MISMATCH],
  ['over an object', name('[object Object]', {}), MISMATCH],
  ['over an empty name', name('echo', ''), MISMATCH],
  ['empty, like the name', name('', ''), PASSES],
  ['missing, while the name is empty', name(undefined, ''), MISMATCH],
  ['with bytes beyond ASCII', name('caf\u00e9', 'caf\u00e9'), MISMATCH],
  [
    'on a method that has no name',
    { method: 'tools/list', params: {}, headers: { 'mcp-name': 'x' } },
    PASSES,
  ],
  [
    'over params.name on resources/read',
    { method: 'resources/read', params: { uri: 'a:b', name: 'n' }, headers: { 'mcp-name': 'n' } },
    MISMATCH,
  ],
  ['over params.uri on resources/read', { method: 'resources/read', params: { uri: 'a:b' } }, PASSES],
  [
    'over params.uri on tools/call',
    { params: { uri: 'a:b', name: 'n' }, headers: { 'mcp-name': 'a:b' } },
    MISMATCH,
  ],
  ['absent on a method of the tasks extension', { method: 'tasks/get', params: { taskId: 't' } }, PASSES],
  [
    'unlike the id on a method of the tasks extension',
    { method: 'tasks/get', params: { taskId: 't' }, headers: { 'mcp-name': 'u' } },
    MISMATCH,
  ],
];

const ENCODED_NAME: readonly Row[] = [
  ['valid', name(marked('caf\u00e9'), 'caf\u00e9'), PASSES],
  ['valid, though plain would do', name(marked('echo')), PASSES],
  ['valid and empty', name('=?base64??=', ''), PASSES],
  ['of another name', name(marked('other')), MISMATCH],
  ['without its padding', name('=?base64?ZWNobw?='), MISMATCH],
  ['with too much padding', name('=?base64?ZWNobw===?='), MISMATCH],
  ['with a character that base64 lacks', name('=?base64?ZWNo*w==?='), MISMATCH],
  ['in the alphabet of URLs', name('=?base64?4pyT4pyTPz8_?=', '\u2713\u2713???'), MISMATCH],
  ['of bytes that are no UTF-8', name('=?base64?/w==?=', '\ufffd'), MISMATCH],
  ['with its marker in upper case', name('=?BASE64?ZWNobw==?='), MISMATCH],
  ['with its marker in upper case, as the name itself', name('=?BASE64?x?=', '=?BASE64?x?='), PASSES],
  ['broken, over an absent name', { params: {}, headers: { 'mcp-name': '=?base64?!?=' } }, MISMATCH],
  ['encoded twice', name(marked(marked('echo'))), MISMATCH],
  ['encoded twice, since the name looks encoded', name(marked(marked('echo')), marked('echo')), PASSES],
  ['as the name itself, left plain', name(marked('echo'), marked('echo')), MISMATCH],
  ['broken, as the name itself', name('=?base64?!?=', '=?base64?!?='), MISMATCH],
  ['with overlapping markers, as the name itself', name('=?base64?=', '=?base64?='), MISMATCH],
];

const METADATA: readonly Row[] = [
  ['no version', { meta: { [META.protocolVersion]: undefined } }, META_MISSING],
  ['a version that is no string', metaVersion(20260728, '2026-07-28'), META_MISSING],
  ['no client capabilities', { meta: { [META.clientCapabilities]: undefined } }, META_MISSING],
  ['client capabilities that are a list', { meta: { [META.clientCapabilities]: [] } }, META_MISSING],
  ['client capabilities that are null', { meta: { [META.clientCapabilities]: null } }, META_MISSING],
  ['no client info', { meta: { [META.clientInfo]: undefined } }, PASSES],
  ['client info that is no object', { meta: { [META.clientInfo]: 'me' } }, META_MISSING],
  ['a log level', { meta: { [META.logLevel]: 'debug' } }, PASSES],
  ['a log level that is no string', { meta: { [META.logLevel]: 7 } }, META_MISSING],
  ['keys that are not ours', { meta: { traceparent: '00-1', 'com.example/x': [1] } }, PASSES],
];

const ORDER: readonly Row[] = [
  [
    'metadata before headers',
    { meta: { [META.clientCapabilities]: undefined }, headers: { 'mcp-method': undefined } },
    META_MISSING,
  ],
  [
    'metadata before version',
    { meta: { [META.protocolVersion]: LATER, [META.clientCapabilities]: undefined } },
    META_MISSING,
  ],
  [
    'headers before version',
    { meta: { [META.protocolVersion]: LATER }, headers: { 'mcp-method': 'x' } },
    MISMATCH,
  ],
  ['then the version', { meta: { [META.protocolVersion]: LATER } }, VERSION_UNSUPPORTED],
  [
    'an old version, unknown as well',
    { meta: { [META.protocolVersion]: '1900-01-01' } },
    VERSION_UNSUPPORTED,
  ],
];

function metaVersion(inBody: unknown, header: string): PostChanges {
  return { meta: { [META.protocolVersion]: inBody }, ...version(header) };
}

const LADDER: Readonly<Record<string, readonly Row[]>> = {
  'a modern request with': PLAIN,
  'F34: MCP-Protocol-Version': VERSION_HEADER,
  'F34: Mcp-Method': METHOD_HEADER,
  'F34: Mcp-Name': NAME_HEADER,
  'F34: Mcp-Name, encoded,': ENCODED_NAME,
  'F34: _meta with': METADATA,
  'refused in this order:': ORDER,
};

for (const [group, rows] of Object.entries(LADDER)) {
  describe(group, () => {
    for (const [title, changes, expected] of rows) {
      test(title, () => {
        const { body, headers } = modernPost(changes);
        const message = read(body, headers);
        assert.equal(outcomeOf(message), expected);
        assert.equal(message.era, 'modern');
        assert.equal('idText' in message && message.idText, '7');
      });
    }
  });
}

test('a version that is not spoken is answered with those that are', () => {
  const { body, headers } = modernPost({ meta: { [META.protocolVersion]: LATER } });
  const message = read(body, headers);
  assert.ok(message.kind === 'refused');
  assert.deepEqual(message.data, { supported: SUPPORTED_VERSIONS, requested: LATER });
});

test('F34: a missing _meta is refused whatever stands in its place', () => {
  for (const params of [undefined, {}, { _meta: null }, { _meta: [] }, { _meta: 'x' }, { _meta: {} }]) {
    const body = { jsonrpc: '2.0', id: 7, method: 'tools/list', params };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
    assert.equal(outcomeOf(read(body, headers)), META_MISSING, JSON.stringify(params));
  }
});

test('F34: headers of unknown parameters and of other purposes change nothing', () => {
  const { body, headers } = modernPost();
  const more = {
    ...headers,
    'mcp-param-unknown': '=?base64?!?=',
    'mcp-session-id': 'x',
    'last-event-id': '1',
  };
  assert.deepEqual(read(body, more), read(body, headers));
});

test('a modern request is handed on with its metadata, and nothing of it lost', () => {
  const capabilities = { elicitation: { form: {} } };
  const info = { name: 'c', version: '1', icons: [] };
  const { body, headers } = modernPost({
    id: 'a"b',
    params: { name: 'echo', arguments: { x: [1] }, unknown: true },
    meta: { [META.clientCapabilities]: capabilities, [META.clientInfo]: info, [META.logLevel]: 'info', k: 1 },
  });
  const message = read(body, headers);
  assert.deepEqual(message, {
    era: 'modern',
    kind: 'request',
    id: 'a"b',
    idText: '"a\\"b"',
    method: 'tools/call',
    params: body.params,
    meta: { version: '2026-07-28', clientInfo: info, clientCapabilities: capabilities, logLevel: 'info' },
  });
});
