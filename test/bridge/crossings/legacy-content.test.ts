// Content in terms of the client's revision.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legacyContent, questionIn } from '../../../src/bridge/crossings/legacy-content.ts';
import { forServer } from '../../../src/bridge/crossings/legacy-params.ts';
import { LEGACY_VERSIONS } from '../../../src/protocol/era.ts';
import type { JsonObject } from '../../../src/protocol/json-text.ts';

const BLOCKS: readonly [kind: string, since: string | undefined, block: JsonObject][] = [
  ['text', '2024-11-05', { type: 'text', text: 'hi', _meta: { own: 1 } }],
  ['image', '2024-11-05', { type: 'image', data: '', mimeType: 'image/png' }],
  ['embedded resource', '2024-11-05', { type: 'resource', resource: { uri: 'a://b', text: '' } }],
  ['audio', '2025-03-26', { type: 'audio', data: '', mimeType: 'audio/wav' }],
  ['resource link', '2025-06-18', { type: 'resource_link', uri: 'a://b', name: 'b' }],
  ['a kind of tomorrow', undefined, { type: 'hologram', data: '' }],
  ['no kind at all', undefined, { data: '' }],
  ['a name that every object has', undefined, { type: 'constructor' }],
];

for (const [kind, since, block] of BLOCKS) {
  for (const version of LEGACY_VERSIONS) {
    const known = since !== undefined && version >= since;
    test(`${kind} for ${version}: ${known ? 'as it is' : 'as text'}`, () => {
      const shown = known ? block : { type: 'text', text: JSON.stringify(block) };
      const called = legacyContent('tools/call', { content: [block], isError: false }, version);
      assert.deepEqual(called, { content: [shown], isError: false });
      const messages = [{ role: 'user', content: block, own: 1 }];
      const prompted = legacyContent('prompts/get', { messages, description: 'd' }, version);
      assert.deepEqual(prompted, { messages: [{ role: 'user', content: shown, own: 1 }], description: 'd' });
    });
  }
}

test('other results, and those of another shape, are left alone', () => {
  const odd = { content: 'no list', messages: 7 };
  for (const method of ['tools/call', 'prompts/get', 'resources/read', 'tools/list']) {
    assert.equal(legacyContent(method, odd, '2024-11-05'), odd);
  }
});

const paramsIn = (method: string, params: JsonObject | undefined, version: string) =>
  questionIn(version, { method, params })?.params;
const TITLED = {
  type: 'string',
  title: 'Color',
  oneOf: [{ const: '#f00', title: 'Red' }, { const: '#0f0' }],
};

test('enums with titles are spelt as older revisions had them', () => {
  const form = (color: JsonObject): JsonObject => ({
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { color, name: { type: 'string' } }, required: ['color'] },
  });
  const older = { type: 'string', title: 'Color', enum: ['#f00', '#0f0'], enumNames: ['Red', '#0f0'] };
  assert.deepEqual(paramsIn('elicitation/create', form(TITLED), '2025-06-18'), form(older));
  assert.deepEqual(paramsIn('elicitation/create', form(TITLED), '2025-11-25'), form(TITLED));
});

test('what is no enum with titles stays as it is', () => {
  for (const color of [
    { type: 'string', enum: ['a'] },
    { oneOf: [{ type: 'string' }] },
    { oneOf: 'x' },
    true,
  ]) {
    const form = { requestedSchema: { type: 'object', properties: { color } } };
    assert.deepEqual(paramsIn('elicitation/create', form, '2025-06-18'), form);
  }
  for (const params of [undefined, {}, { requestedSchema: {} }, { requestedSchema: 1 }]) {
    assert.deepEqual(paramsIn('elicitation/create', params, '2025-06-18'), params);
  }
});

test('several blocks in one message of a sampling are messages of their own in older revisions', () => {
  const text = { type: 'text', text: 'hear this' };
  const audio = { type: 'audio', data: '', mimeType: 'audio/wav' };
  const params = {
    maxTokens: 5,
    messages: [
      { role: 'user', content: [text, audio] },
      { role: 'assistant', content: text },
    ],
  };
  const split = (second: JsonObject) => ({
    maxTokens: 5,
    messages: [
      { role: 'user', content: text },
      { role: 'user', content: second },
      { role: 'assistant', content: text },
    ],
  });
  assert.deepEqual(paramsIn('sampling/createMessage', params, '2025-06-18'), split(audio));
  const unheard = { type: 'text', text: JSON.stringify(audio) };
  assert.deepEqual(paramsIn('sampling/createMessage', params, '2024-11-05'), split(unheard));
  assert.equal(paramsIn('sampling/createMessage', params, '2025-11-25'), params);
});

test('roots are asked for alike in all revisions', () => {
  const params = { own: 1 };
  assert.equal(paramsIn('roots/list', params, '2024-11-05'), params);
});

test('the context of a completion is for servers from 2025-06-18 on', () => {
  const params = { ref: {}, argument: {}, context: { arguments: {} } };
  for (const version of LEGACY_VERSIONS) {
    const known = version >= '2025-06-18' ? params : { ref: {}, argument: {} };
    assert.deepEqual(forServer('completion/complete', params, version), known);
    assert.equal(forServer('tools/call', params, version), params);
    assert.equal(forServer('completion/complete', undefined, version), undefined);
  }
});
