import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type ClientMessage,
  type MessageHeaders,
  type Refusal,
  readClientMessage,
} from '../../src/protocol/client-message.ts';
import { LEGACY_VERSIONS, META, MODERN_VERSION, SUPPORTED_VERSIONS } from '../../src/protocol/era.ts';
import { type JsonObject, readJson } from '../../src/protocol/json-text.ts';
import { standardHeaders } from '../../src/protocol/request-headers.ts';

const RUNS = { numRuns: 400 };

const METHODS = [
  'tools/call',
  'tools/list',
  'prompts/get',
  'resources/read',
  'server/discover',
  'initialize',
  'ping',
];
const VERSIONS = [...SUPPORTED_VERSIONS, '2031-01-01', '1999-01-01', 'x', ''];

const header = fc.oneof(
  fc.constantFrom(...VERSIONS, ...METHODS, '=?base64?ZWNobw==?=', '=?base64?!?=', 'echo', 'a, b'),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const headers: fc.Arbitrary<MessageHeaders> = fc.record(
  {
    'mcp-protocol-version': fc.oneof(
      header,
      fc.constantFrom(...VERSIONS),
      fc.array(header, { maxLength: 2 }),
    ),
    'mcp-method': header,
    'mcp-name': fc.oneof(header, fc.array(header, { maxLength: 2 })),
  },
  { requiredKeys: [] },
);

const scalar = fc.oneof(
  fc.constantFrom('2.0', 'echo', MODERN_VERSION, ...METHODS, 0, -0, 1.5, 2 ** 53, null, true, ''),
  fc.string({ unit: 'binary', maxLength: 10 }),
);
const json = fc.oneof(
  scalar,
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(
    fc.oneof(fc.constantFrom(...Object.values(META), '__proto__', '_meta', 'name'), fc.string()),
    scalar,
  ),
);
/** Objects that are nearly messages: each member may be right, wrong or absent. */
const nearlyMessage = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: json }),
    id: json,
    method: fc.oneof(fc.constantFrom(...METHODS), json),
    params: fc.oneof(json, fc.record({ name: json, uri: json, _meta: json }, { requiredKeys: [] })),
    result: json,
    error: fc.oneof(json, fc.record({ code: json, message: json })),
  },
  { requiredKeys: [] },
);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
  fc.oneof(nearlyMessage, fc.array(nearlyMessage, { maxLength: 3 }), json).map((value) => bytesOf(value)),
  // A faultless message, cut or spoilt at one place.
  fc
    .tuple(nearlyMessage, fc.nat(), fc.uint8Array({ maxLength: 2 }))
    .map(([value, at, more]) => spoil(bytesOf(value), at, more)),
);

test('any bytes under any headers become one of the messages or a refusal, and nothing is thrown', () => {
  fc.assert(
    fc.property(bytes, headers, (body, sent) => assertMember(readClientMessage(body, sent))),
    { numRuns: 2_000 },
  );
});

/** A method and params that any modern client may send. */
const call = fc
  .tuple(
    fc.oneof(fc.constantFrom(...METHODS, 'com.example/x'), fc.string({ minLength: 1, maxLength: 8 })),
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  .map(([method, more, name]) => ({ method, params: { ...more, name, uri: `x:${name}` } }));
const id = fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger());
const meta = fc.record(
  {
    [META.clientInfo]: fc.constant({ name: 'c', version: '1' }),
    [META.logLevel]: fc.constantFrom('debug', 'error'),
    progressToken: id,
    traceparent: fc.string(),
  },
  { requiredKeys: [] },
);

test('a valid modern request is one, whatever it asks, and arrives whole', () => {
  fc.assert(
    fc.property(call, id, meta, ({ method, params }, requestId, extra) => {
      const _meta = { ...extra, [META.protocolVersion]: MODERN_VERSION, [META.clientCapabilities]: {} };
      const body = { jsonrpc: '2.0', id: requestId, method, params: { ...params, _meta } };
      const mirrored = standardHeaders(method, params as JsonObject);
      // A method that no header can carry plain cannot be asked for by header.
      fc.pre(mirrored['mcp-method'] === method);
      const message = readClientMessage(bytesOf(body), {
        'mcp-protocol-version': MODERN_VERSION,
        ...mirrored,
      });
      assert.ok(message.era === 'modern' && message.kind === 'request', JSON.stringify(message));
      assert.deepEqual(message.params, JSON.parse(JSON.stringify(body.params)));
      assert.equal(message.idText, JSON.stringify(requestId));
    }),
    RUNS,
  );
});

test('a valid legacy request is one under each version it may name, and under none', () => {
  fc.assert(
    fc.property(
      call,
      id,
      fc.constantFrom(undefined, ...LEGACY_VERSIONS),
      ({ method, params }, requestId, version) => {
        const body = { jsonrpc: '2.0', id: requestId, method, params };
        const message = readClientMessage(bytesOf(body), { 'mcp-protocol-version': version });
        assert.ok(message.era === 'legacy' && message.kind === 'request', JSON.stringify(message));
        assert.equal(message.idText, JSON.stringify(requestId));
      },
    ),
    RUNS,
  );
});

test('a notification has the era of its header alone', () => {
  fc.assert(
    fc.property(call, fc.constantFrom(undefined, ...SUPPORTED_VERSIONS), ({ method, params }, version) => {
      const _meta = { [META.protocolVersion]: MODERN_VERSION, [META.clientCapabilities]: {} };
      const body = bytesOf({ jsonrpc: '2.0', method, params: { ...params, _meta } });
      const message = readClientMessage(body, { 'mcp-protocol-version': version });
      assert.equal(message.kind, 'notification');
      assert.equal(message.era, version === MODERN_VERSION ? 'modern' : 'legacy');
    }),
    RUNS,
  );
});

test('F34: one header that says something else is enough to refuse a modern request', () => {
  const names = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.option(header, { nil: undefined }), (name, other) => {
      const params = {
        name: 'echo',
        _meta: { [META.protocolVersion]: MODERN_VERSION, [META.clientCapabilities]: {} },
      };
      const body = bytesOf({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      const right = {
        'mcp-protocol-version': MODERN_VERSION,
        'mcp-method': 'tools/call',
        'mcp-name': 'echo',
      };
      // Right in another form, or legacy by the client's own word.
      fc.pre(other !== right[name] && other !== '=?base64?ZWNobw==?=');
      fc.pre(other === undefined || !LEGACY_VERSIONS.includes(other) || name !== 'mcp-protocol-version');
      const message = readClientMessage(body, { ...right, [name]: other });
      assert.ok(message.kind === 'refused' && message.failure === 'header-mismatch', JSON.stringify(message));
    }),
    RUNS,
  );
});

function bytesOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function spoil(body: Buffer, at: number, more: Uint8Array): Buffer {
  const place = at % (body.length + 1);
  return Buffer.concat([body.subarray(0, place), more, body.subarray(place + 1)]);
}

const FAILURES = ['not-json', 'not-a-message', 'meta-missing', 'header-mismatch', 'version-unsupported'];

function assertMember(message: ClientMessage | Refusal): void {
  assert.ok(message.era === 'modern' || message.era === 'legacy');
  if ('idText' in message && message.idText !== undefined) {
    const echoed = readJson(message.idText);
    assert.ok(typeof echoed === 'string' || Number.isInteger(Number(JSON.stringify(echoed))), message.idText);
  }
  switch (message.kind) {
    case 'refused':
      assert.ok(FAILURES.includes(message.failure));
      assert.ok(message.text.length > 0 && message.text.length < 200);
      assert.equal(message.data !== undefined, message.failure === 'version-unsupported');
      return;
    case 'request':
      assert.ok(message.method.length > 0);
      assert.equal(typeof message.idText, 'string');
      if (message.era === 'modern') assert.equal(message.meta.version, MODERN_VERSION);
      return;
    case 'notification':
      assert.ok(message.method.length > 0);
      return;
    case 'response':
      assert.equal(message.era, 'legacy');
      assert.ok('result' in message.outcome !== 'error' in message.outcome);
      return;
    case 'batch':
      assert.equal(message.era, 'legacy');
      assert.ok(message.items.length > 0);
  }
}
