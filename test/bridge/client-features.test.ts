// What is declared to a server on behalf of a client, and what it may then ask.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  crossedCapabilities,
  declaredCapabilities,
  missingCapability,
  normalCapabilities,
} from '../../src/bridge/client-features.ts';
import type { ClientFeaturePolicy } from '../../src/config/config.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';

const ALLOW: ClientFeaturePolicy = { roots: 'allow', sampling: 'allow', elicitation: 'allow' };
const DENY: ClientFeaturePolicy = { roots: 'deny', sampling: 'deny', elicitation: 'deny' };
const FIXED: ClientFeaturePolicy = { ...ALLOW, roots: [{ uri: 'file:///srv' }] };
const ALL: JsonObject = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: {},
  experimental: { x: {} },
};

const POLICIES: readonly [
  what: string,
  policy: ClientFeaturePolicy,
  fixedRoots: boolean,
  declared: JsonObject,
][] = [
  ['allowed', ALLOW, true, ALL],
  ['denied', DENY, true, { experimental: { x: {} } }],
  ['with fixed roots where a server can ask us', FIXED, true, { ...ALL, roots: {} }],
  [
    'with fixed roots where it cannot',
    FIXED,
    false,
    { sampling: {}, elicitation: {}, experimental: { x: {} } },
  ],
];

test('fixed roots are not declared with the tasks extension, in which the client would be asked for its own', () => {
  const capabilities = { roots: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const { roots, extensions } = declaredCapabilities(capabilities, FIXED, { fixedRoots: true });
  assert.deepEqual([roots, extensions], [undefined, capabilities.extensions]);
});

for (const [what, policy, fixedRoots, declared] of POLICIES) {
  test(`the client's own capabilities, ${what}`, () => {
    assert.deepEqual(declaredCapabilities(ALL, policy, { fixedRoots }), declared);
  });
}

test('fixed roots exist also for clients that have none', () => {
  assert.deepEqual(declaredCapabilities({}, FIXED, { fixedRoots: true }), { roots: {} });
});

test('nothing is declared that the client has not', () => {
  assert.deepEqual(declaredCapabilities({}, ALLOW, { fixedRoots: true }), {});
});

const NORMAL: readonly [what: string, given: JsonObject, normal: JsonObject][] = [
  ['an empty elicitation means form', { elicitation: {} }, { elicitation: { form: {} } }],
  ['url alone does not mean form', { elicitation: { url: {} } }, { elicitation: { url: {} } }],
  ['both', { elicitation: { url: {}, form: { x: 1 } } }, { elicitation: { form: {}, url: {} } }],
  ['roots never say that they change', { roots: { listChanged: true } }, { roots: {} }],
  [
    'sampling keeps what servers ask by',
    { sampling: { tools: { x: 1 }, context: {}, y: {} } },
    { sampling: { context: {}, tools: {} } },
  ],
  ['tasks and the unknown are left out', { tasks: { list: {} }, experimental: {}, z: {} }, {}],
  ['what is no object is no capability', { roots: true, sampling: 1, elicitation: null }, {}],
];
for (const [what, given, normal] of NORMAL) {
  test(`in the normal form: ${what}`, () => {
    assert.equal(JSON.stringify(normalCapabilities(given)), JSON.stringify(normal));
  });
}

test('equal sets of features give equal JSON, in whatever order and company they come', () => {
  const member = fc.constantFrom<JsonObject>({}, { x: 1 });
  const features = fc.record(
    {
      roots: fc.record({ listChanged: fc.boolean() }, { requiredKeys: [] }),
      sampling: fc.record({ tools: member, context: member }, { requiredKeys: [] }),
      elicitation: fc.record({ form: member, url: member }, { requiredKeys: [] }),
      tasks: member,
    },
    { requiredKeys: [] },
  );
  const shuffled = (object: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(object)
        .reverse()
        .map(([key, value]) => [
          key,
          typeof value === 'object' && value !== null ? shuffled(value as JsonObject) : value,
        ]),
    );
  fc.assert(
    fc.property(features, (given) => {
      const normal = normalCapabilities(given as JsonObject);
      assert.equal(JSON.stringify(normalCapabilities(shuffled(given as JsonObject))), JSON.stringify(normal));
      assert.equal(JSON.stringify(normalCapabilities(normal)), JSON.stringify(normal));
      for (const feature of ['roots', 'sampling', 'elicitation'] as const) {
        assert.equal(feature in normal, feature in given);
      }
    }),
    { numRuns: 300 },
  );
});

test('across the eras both hold: the policy, and the form', () => {
  assert.deepEqual(crossedCapabilities(ALL, { ...ALLOW, sampling: 'deny' }), {
    elicitation: { form: {} },
    roots: {},
  });
});

const form = { method: 'elicitation/create', params: { message: 'x' } };
const url = { method: 'elicitation/create', params: { mode: 'url', message: 'x' } };
const sample = { method: 'sampling/createMessage', params: {} };
const tools = { method: 'sampling/createMessage', params: { tools: [] } };
const choice = { method: 'sampling/createMessage', params: { toolChoice: {} } };
const roots = { method: 'roots/list' };

const QUESTIONS: readonly [question: typeof form | typeof roots, declared: JsonObject, missing: unknown][] = [
  [roots, { roots: {} }, undefined],
  [roots, {}, { required: { roots: {} }, code: 'feature' }],
  [form, { elicitation: { form: {} } }, undefined],
  [form, { elicitation: {} }, undefined],
  [form, { elicitation: { url: {} } }, { required: { elicitation: { form: {} } }, code: 'mode' }],
  [form, {}, { required: { elicitation: { form: {} } }, code: 'feature' }],
  [url, { elicitation: { url: {} } }, undefined],
  [url, { elicitation: { form: {} } }, { required: { elicitation: { url: {} } }, code: 'mode' }],
  [url, { elicitation: {} }, { required: { elicitation: { url: {} } }, code: 'mode' }],
  [url, {}, { required: { elicitation: { url: {} } }, code: 'feature' }],
  [sample, { sampling: {} }, undefined],
  [sample, {}, { required: { sampling: {} }, code: 'feature' }],
  [tools, { sampling: { tools: {} } }, undefined],
  [tools, { sampling: {} }, { required: { sampling: { tools: {} } }, code: 'mode' }],
  [choice, { sampling: {} }, { required: { sampling: { tools: {} } }, code: 'mode' }],
  [tools, {}, { required: { sampling: {} }, code: 'feature' }],
  [
    { method: 'unknown/thing' },
    { roots: {}, sampling: {}, elicitation: {} },
    { required: {}, code: 'feature' },
  ],
];
for (const [question, declared, missing] of QUESTIONS) {
  const what = `${JSON.stringify(question)} of a client that declared ${JSON.stringify(declared)}`;
  test(`${what}: ${missing === undefined ? 'asked' : 'not asked'}`, () => {
    assert.deepEqual(missingCapability(question, declared), missing);
  });
}
