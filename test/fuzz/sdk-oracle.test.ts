// The SDK's own classifier as an oracle for ours: the two agree on all but the differences that are written down here.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classifyInboundRequest } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { failureFor } from '../../src/errors.ts';
import { readClientMessage } from '../../src/protocol/client-message.ts';
import { isModernVersion, LEGACY_VERSIONS, META, SUPPORTED_VERSIONS } from '../../src/protocol/era.ts';

interface Input {
  readonly body: Readonly<Record<string, unknown>>;
  readonly version?: string | undefined;
  readonly method?: string | undefined;
  readonly name?: string | undefined;
}

/** `modern request`, `legacy response` and the like, or the code of a refusal. */
type Verdict = string | number;

function ours({ body, version, method, name }: Input): Verdict {
  const headers = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name };
  const message = readClientMessage(Buffer.from(JSON.stringify(body)), headers);
  return message.kind === 'refused'
    ? failureFor(message.failure, message.era).rpcCode
    : `${message.era} ${message.kind}`;
}

const LEGACY_KINDS: Readonly<Record<string, string>> = { initialize: 'request', 'no-claim': 'request' };

function theirs({ body, version, method, name }: Input): Verdict {
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(method === undefined ? {} : { mcpMethodHeader: method }),
    ...(name === undefined ? {} : { mcpNameHeader: name }),
  });
  if (outcome.kind === 'reject') return outcome.code;
  if (outcome.kind === 'modern') return `modern ${outcome.messageKind}`;
  return `legacy ${LEGACY_KINDS[outcome.reason] ?? outcome.reason}`;
}

const CAPABILITIES = { [META.clientCapabilities]: {} };
const LATER = '2031-01-01';
const OLD = '1999-01-01';
const ENVELOPES: readonly (object | undefined)[] = [
  undefined,
  {},
  { progressToken: 1 },
  CAPABILITIES,
  ...['2026-07-28', LATER, '2025-11-25', OLD, 5, null].flatMap((version) => [
    { [META.protocolVersion]: version, ...CAPABILITIES },
    { [META.protocolVersion]: version },
    { [META.protocolVersion]: version, [META.clientCapabilities]: [] },
  ]),
];

function claimOf({ body }: Input): { version: unknown; isValid: boolean } | undefined {
  const meta = (body.params as { _meta?: Record<string, unknown> } | undefined)?._meta;
  if (meta === undefined || !(META.protocolVersion in meta)) return undefined;
  const version = meta[META.protocolVersion];
  const capabilities = meta[META.clientCapabilities];
  return {
    version,
    isValid: typeof version === 'string' && typeof capabilities === 'object' && !Array.isArray(capabilities),
  };
}

const isRequest = ({ body }: Input) => 'method' in body && 'id' in body;
const isNotification = ({ body }: Input) => 'method' in body && !('id' in body);
const isResponse = ({ body }: Input) => !('method' in body);
const isInitialize = (input: Input) => isRequest(input) && input.body.method === 'initialize';

interface Difference {
  readonly why: string;
  readonly applies: (input: Input) => boolean;
  readonly example: Input;
  readonly ours: Verdict;
  readonly theirs: Verdict;
}

const PARAMS = { _meta: { [META.protocolVersion]: '2026-07-28', ...CAPABILITIES } };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const RESULT = { jsonrpc: '2.0', id: 1, result: {} };
const INITIALIZE = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };

const DIFFERENCES: readonly Difference[] = [
  {
    why: 'an explicit legacy header wins over reserved keys: such a client says what it speaks',
    applies: (input) => isRequest(input) && isLegacy(input.version) && claimOf(input) !== undefined,
    example: { body: { ...LIST, params: PARAMS }, version: '2025-11-25' },
    ours: 'legacy request',
    theirs: -32020,
  },
  {
    why: 'initialize is legacy whatever its header says, so that a client that fell back is served',
    applies: (input) => isInitialize(input) && claimOf(input) === undefined && isModern(input.version),
    example: { body: INITIALIZE, version: '2026-07-28' },
    ours: 'legacy request',
    theirs: -32020,
  },
  {
    why: 'initialize with a claim is judged like any other request, also when the claim is broken',
    applies: (input) => {
      const claim = claimOf(input);
      return isInitialize(input) && claim !== undefined && !(claim.isValid && isModern(claim.version));
    },
    example: { body: { ...INITIALIZE, params: { _meta: { [META.protocolVersion]: 5 } } } },
    ours: -32602,
    theirs: 'legacy request',
  },
  {
    why: 'a notification is of the era of its header alone',
    applies: (input) => isNotification(input) && claimOf(input) !== undefined,
    example: { body: { jsonrpc: '2.0', method: 'x', params: PARAMS } },
    ours: 'legacy notification',
    theirs: 'modern notification',
  },
  {
    why: 'the modern revision has no client responses',
    applies: (input) => isResponse(input) && isModern(input.version),
    example: { body: RESULT, version: '2026-07-28' },
    ours: -32600,
    theirs: 'legacy response',
  },
  {
    why: 'a legacy version that is not spoken is refused here, not later',
    applies: ({ version }) => version === OLD,
    example: { body: LIST, version: OLD },
    ours: -32022,
    theirs: 'legacy request',
  },
  {
    why: 'a missing header is refused here, not at a later rung',
    applies: (input) => isRequest(input) && theirs(input) === 'modern request' && lacksHeader(input),
    example: { body: { ...LIST, params: PARAMS } },
    ours: -32020,
    theirs: 'modern request',
  },
  {
    why: 'a modern version that is not spoken is refused here, not at a later rung',
    applies: (input) => {
      const version = isRequest(input) ? claimOf(input)?.version : input.version;
      return !isResponse(input) && version === input.version && isModern(version) && !isSpoken(version);
    },
    example: {
      body: { ...LIST, params: { _meta: { ...PARAMS._meta, [META.protocolVersion]: LATER } } },
      version: LATER,
      method: 'tools/list',
    },
    ours: -32022,
    theirs: 'modern request',
  },
];

function isModern(version: unknown): version is string {
  return typeof version === 'string' && isModernVersion(version);
}

function isLegacy(version: string | undefined): boolean {
  return version !== undefined && LEGACY_VERSIONS.includes(version);
}

function isSpoken(version: string): boolean {
  return SUPPORTED_VERSIONS.includes(version);
}

function lacksHeader({ body, version, method, name }: Input): boolean {
  return (
    version === undefined || method === undefined || (body.method === 'tools/call' && name === undefined)
  );
}

const id = fc.oneof(fc.string({ unit: 'binary', maxLength: 5 }), fc.maxSafeInteger());
const methodName = fc.constantFrom(
  'tools/list',
  'tools/call',
  'initialize',
  'server/discover',
  'com.example/x',
);
const outcome = fc.constantFrom({ result: {} }, { result: { a: 1 } }, { error: { code: 1, message: 'm' } });
const body = fc
  .record({
    id,
    method: methodName,
    envelope: fc.constantFrom(...ENVELOPES),
    outcome,
    kind: fc.nat({ max: 9 }),
  })
  .map((drawn) => {
    if (drawn.kind === 0) return { jsonrpc: '2.0', id: drawn.id, ...drawn.outcome };
    const params = { name: 'echo', ...(drawn.envelope === undefined ? {} : { _meta: drawn.envelope }) };
    const message = { jsonrpc: '2.0', method: drawn.method, params };
    return drawn.kind <= 3 ? message : { ...message, id: drawn.id };
  });
const input: fc.Arbitrary<Input> = fc.record({
  body,
  version: fc.constantFrom(undefined, ...SUPPORTED_VERSIONS, '2026-07-28', '2026-07-28', LATER, OLD),
  method: fc.oneof(fc.constant(undefined), methodName),
  name: fc.constantFrom(undefined, 'echo', 'echo'),
});

test('we and the SDK agree on every message that no difference is written down for', () => {
  let compared = 0;
  fc.assert(
    fc.property(input, (drawn) => {
      if (DIFFERENCES.some(({ applies }) => applies(drawn))) return;
      compared += 1;
      assert.equal(ours(drawn), theirs(drawn));
    }),
    { numRuns: 4_000 },
  );
  assert.ok(compared > 1_000, `only ${compared} compared`);
});

describe('where we differ from the SDK:', () => {
  for (const difference of DIFFERENCES) {
    test(difference.why, () => {
      assert.ok(difference.applies(difference.example));
      assert.equal(ours(difference.example), difference.ours);
      assert.equal(theirs(difference.example), difference.theirs);
    });
  }
});

describe('where we take more than the SDK:', () => {
  const WIDER: Readonly<Record<string, Input>> = {
    'an id beyond 2^53': { body: { ...LIST, id: 2 ** 53 } },
    'members that nobody knows': { body: { ...LIST, more: 1 } },
    'a _meta that is no object, in the legacy era': { body: { ...LIST, params: { _meta: 5 } } },
    'a progress token that is none, which the server is to refuse': {
      body: { ...LIST, params: { _meta: { progressToken: {} } } },
    },
  };
  for (const [what, wider] of Object.entries(WIDER)) {
    test(what, () => {
      assert.equal(ours(wider), 'legacy request');
      assert.equal(theirs(wider), -32600);
    });
  }

  test('metadata whose values only a server can judge', () => {
    for (const more of [{ [META.clientInfo]: {} }, { [META.logLevel]: 'loud' }]) {
      const judged = { body: { ...LIST, params: { _meta: { ...PARAMS._meta, ...more } } }, ...MIRRORED };
      assert.equal(ours(judged), 'modern request');
      assert.equal(theirs(judged), -32602);
    }
  });
});

const MIRRORED = { version: '2026-07-28', method: 'tools/list' };

test('where we take less than the SDK: an error that answers nothing, and a method without a name', () => {
  const error = { body: { jsonrpc: '2.0', error: { code: 1, message: 'm' } } };
  assert.deepEqual([ours(error), theirs(error)], [-32600, 'legacy response']);
  const nameless = { body: { ...LIST, method: '' } };
  assert.deepEqual([ours(nameless), theirs(nameless)], [-32600, 'legacy request']);
});
