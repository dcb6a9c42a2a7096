// What becomes of a server's messages on a view of several servers, and of a client's on the way back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ownAnswer,
  ownParams,
  publishError,
  publishNotification,
  publishQuestion,
  publishResult,
  type ViewNames,
} from '../../src/federation/public-messages.ts';
import { buildPublicNames } from '../../src/federation/public-names.ts';
import { type JsonObject, readJson, writeJson } from '../../src/protocol/json-text.ts';

const named = (...names: string[]) =>
  buildPublicNames([
    ...names.map((name) => ({ server: 'docs', prefix: 'd', name })),
    { server: 'other', prefix: 'o', name: 'search' },
    // Both of them are withheld.
    { server: 'other', prefix: 'd', name: 'twin' },
  ]);

const VIEW: ViewNames = { server: 'docs', tools: named('search', 'twin'), prompts: named('greet', 'twin') };

const link = (uri: string) => ({ type: 'resource_link', uri, name: 'n' });
const embedded = (uri: string) => ({
  type: 'resource',
  resource: { uri, text: 'file:///a' },
  annotations: {},
});
const text = (words: string) => ({ type: 'text', text: words });
const OWN = 'file:///a';
const SEEN = 'docs+file:///a';
const PAGE = { ui: { resourceUri: 'ui://h/p', more: 1 }, 'ui/resourceUri': 'ui://h/p' };
const SEEN_PAGE = { ui: { resourceUri: 'ui://docs+h/p', more: 1 }, 'ui/resourceUri': 'ui://docs+h/p' };
const asking = (uri: string, from = '') => ({
  maxTokens: 9,
  messages: [
    { role: 'user', content: text(from + OWN) },
    { role: 'user', content: { type: 'tool_result', toolUseId: 'u', content: [link(uri), embedded(uri)] } },
    { role: 'user', content: [{ type: 'tool_result', toolUseId: 'u', content: [link(uri)] }] },
  ],
});

const RESULTS: readonly [method: string, result: JsonObject, published: JsonObject][] = [
  [
    'tools/list',
    { tools: [{ name: 'search', _meta: PAGE, x: 1 }, { name: 'twin' }, { name: 7 }, null], nextCursor: 'c' },
    { tools: [{ name: 'd__search', _meta: SEEN_PAGE, x: 1 }], nextCursor: 'c' },
  ],
  ['prompts/list', { prompts: [{ name: 'greet' }, { name: 'new' }] }, { prompts: [{ name: 'd__greet' }] }],
  [
    'resources/list',
    { resources: [{ uri: OWN, name: 'n' }, { uri: 'https://x/' }, { uri: 7 }, null] },
    { resources: [{ uri: SEEN, name: 'n' }, { uri: 'https://x/' }, { uri: 7 }, null] },
  ],
  [
    'resources/templates/list',
    { resourceTemplates: [{ uriTemplate: 'file:///{x}' }] },
    { resourceTemplates: [{ uriTemplate: 'docs+file:///{x}' }] },
  ],
  ['resources/read', { contents: [{ uri: OWN, text: OWN }] }, { contents: [{ uri: SEEN, text: OWN }] }],
  [
    'tools/call',
    {
      content: [text(OWN), link(OWN), embedded(OWN)],
      structuredContent: { uri: OWN },
      _meta: PAGE,
    },
    {
      content: [text(OWN), link(SEEN), embedded(SEEN)],
      structuredContent: { uri: OWN },
      _meta: SEEN_PAGE,
    },
  ],
  ['tasks/result', { content: [link(OWN)] }, { content: [link(SEEN)] }],
  [
    'prompts/get',
    {
      messages: [
        { role: 'user', content: link(OWN) },
        { role: 'user', content: text(OWN) },
      ],
    },
    {
      messages: [
        { role: 'user', content: link(SEEN) },
        { role: 'user', content: text(OWN) },
      ],
    },
  ],
  [
    'tools/call',
    {
      resultType: 'input_required',
      inputRequests: { a: { method: 'sampling/createMessage', params: asking(OWN) } },
    },
    {
      resultType: 'input_required',
      inputRequests: { a: { method: 'sampling/createMessage', params: asking(SEEN, '[docs] ') } },
    },
  ],
];

for (const [index, [method, result, published]] of RESULTS.entries()) {
  test(`a result of ${method} is published (${index})`, () => {
    const before = writeJson(result);
    assert.equal(writeJson(publishResult(method, result, VIEW)), writeJson(published));
    assert.equal(writeJson(result), before, 'what came is not written to');
  });
}

const PARAMS: readonly [method: string, params: JsonObject, own: JsonObject][] = [
  [
    'tools/call',
    {
      name: 'd__search',
      arguments: { q: 'd__search', uri: SEEN, all: [{ uri: SEEN }, 'other+file:///a', 'docs+x'] },
    },
    {
      name: 'search',
      arguments: { q: 'd__search', uri: OWN, all: [{ uri: OWN }, 'other+file:///a', 'docs+x'] },
    },
  ],
  ['tools/call', { name: 'o__search' }, { name: 'o__search' }],
  ['tools/call', { name: 'search' }, { name: 'search' }],
  ['prompts/get', { name: 'd__greet', arguments: { at: SEEN } }, { name: 'greet', arguments: { at: OWN } }],
  ['resources/read', { uri: SEEN, _meta: { uri: SEEN } }, { uri: OWN, _meta: { uri: SEEN } }],
  ['resources/read', { uri: 'https://x/docs+a' }, { uri: 'https://x/docs+a' }],
  ['resources/subscribe', { uri: SEEN }, { uri: OWN }],
  ['resources/unsubscribe', { uri: SEEN }, { uri: OWN }],
  [
    'completion/complete',
    {
      ref: { type: 'ref/resource', uri: 'docs+file:///{x}' },
      argument: { name: 'x', value: SEEN },
      context: { arguments: { y: SEEN } },
    },
    {
      ref: { type: 'ref/resource', uri: 'file:///{x}' },
      argument: { name: 'x', value: OWN },
      context: { arguments: { y: OWN } },
    },
  ],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'd__greet' }, argument: { name: 'x', value: 'd' } },
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'x', value: 'd' } },
  ],
  [
    'subscriptions/listen',
    { notifications: { toolsListChanged: true, resourceSubscriptions: [SEEN, 'https://x/'] } },
    { notifications: { toolsListChanged: true, resourceSubscriptions: [OWN, 'https://x/'] } },
  ],
  [
    'tools/call',
    {
      name: 'd__search',
      inputResponses: {
        a: { role: 'assistant', content: [{ type: 'tool_use', id: 'u', name: 'n', input: { uri: SEEN } }] },
        b: 7,
      },
    },
    {
      name: 'search',
      inputResponses: {
        a: { role: 'assistant', content: [{ type: 'tool_use', id: 'u', name: 'n', input: { uri: OWN } }] },
        b: 7,
      },
    },
  ],
];

for (const [index, [method, params, own]] of PARAMS.entries()) {
  test(`params of ${method} become the server's own (${index})`, () => {
    const before = writeJson(params);
    assert.equal(writeJson(ownParams(method, params, VIEW)), writeJson(own));
    assert.equal(writeJson(params), before);
  });
}

test('notifications, questions, answers and errors are mapped where a URI stands', () => {
  const updated = publishNotification('notifications/resources/updated', { uri: OWN, x: 1 }, VIEW);
  assert.deepEqual(updated, { uri: SEEN, x: 1 });
  const acknowledged = { notifications: { resourceSubscriptions: [OWN], promptsListChanged: true } };
  assert.deepEqual(publishNotification('notifications/subscriptions/acknowledged', acknowledged, VIEW), {
    notifications: { resourceSubscriptions: [SEEN], promptsListChanged: true },
  });
  assert.deepEqual(publishQuestion('sampling/createMessage', asking(OWN), VIEW), asking(SEEN, '[docs] '));
  const shared = { ...asking(OWN), includeContext: 'allServers' };
  assert.equal(publishQuestion('sampling/createMessage', shared, VIEW)?.includeContext, 'none');
  const form = { message: 'Sure?', requestedSchema: {} };
  assert.deepEqual(publishQuestion('elicitation/create', form, VIEW), { ...form, message: '[docs] Sure?' });
  const silent = { mode: 'form', requestedSchema: {} };
  assert.deepEqual(publishQuestion('elicitation/create', silent, VIEW), { ...silent, message: '[docs]' });
  const visit = { mode: 'url', message: 'Sign in', elicitationId: 'e-1', url: 'https://x/' };
  const signedVisit = { ...visit, message: '[docs] Sign in', elicitationId: 'docs+e-1' };
  assert.deepEqual(publishQuestion('elicitation/create', visit, VIEW), signedVisit);
  assert.deepEqual(
    publishNotification('notifications/elicitation/complete', { elicitationId: 'e-1' }, VIEW),
    {
      elicitationId: 'docs+e-1',
    },
  );
  const visits = { code: -32042, message: 'first', data: { elicitations: [visit, 7], more: 1 } };
  const signedVisits = { ...visits, data: { elicitations: [signedVisit, 7], more: 1 } };
  assert.deepEqual(publishError(visits, VIEW), signedVisits);
  const answer = { role: 'assistant', content: { type: 'tool_result', content: [embedded(SEEN)] } };
  const mapped = { type: 'tool_result', content: [embedded(OWN)] };
  assert.deepEqual(ownAnswer(answer, VIEW), { role: 'assistant', content: mapped });
  const error = { code: -32602, message: OWN, data: { uri: OWN, more: 1 } };
  assert.deepEqual(publishError(error, VIEW), { code: -32602, message: OWN, data: { uri: SEEN, more: 1 } });
});

for (const [what, params, told] of [
  [
    'a system prompt is signed, and the first text',
    { systemPrompt: 'Be brief', messages: [{ role: 'user', content: text('Hi') }] },
    { systemPrompt: '[docs] Be brief', messages: [{ role: 'user', content: text('[docs] Hi') }] },
  ],
  [
    'without a text there is a system prompt that says who asks',
    { messages: [{ role: 'user', content: { type: 'image', data: '', mimeType: 'image/png' } }] },
    {
      messages: [{ role: 'user', content: { type: 'image', data: '', mimeType: 'image/png' } }],
      systemPrompt: '[docs]',
    },
  ],
  ['without a message too', { messages: [] }, { messages: [], systemPrompt: '[docs]' }],
] as const) {
  test(`a sampling says which server asks: ${what}`, () => {
    assert.deepEqual(publishQuestion('sampling/createMessage', params as unknown as JsonObject, VIEW), told);
  });
}

test('what says nothing of URIs or names is the very same object', () => {
  const result = { content: [text(SEEN)], structuredContent: { uri: OWN, name: 'search' } };
  assert.equal(publishResult('tools/call', result, VIEW), result);
  for (const method of [
    'notifications/progress',
    'notifications/message',
    'notifications/tools/list_changed',
  ]) {
    const params = { uri: OWN, data: OWN };
    assert.equal(publishNotification(method, params, VIEW), params);
    assert.equal(publishNotification(method, undefined, VIEW), undefined);
  }
  assert.equal(publishQuestion('roots/list', result, VIEW), result);
  const roots = { roots: [{ uri: SEEN }] };
  assert.equal(ownAnswer(roots, VIEW), roots);
  const error = { code: 1, message: OWN, data: [OWN] };
  assert.equal(publishError(error, VIEW), error);
  assert.equal(ownParams('ping', undefined, VIEW), undefined);
});

test('arguments come through whatever they are, but for URIs of the server', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const args = readJson(json) as JsonObject;
      const params = { name: 'd__search', arguments: args };
      const own = ownParams('tools/call', params, VIEW);
      assert.equal(writeJson(own), writeJson({ name: 'search', arguments: args }));
    }),
  );
});

test('numbers beyond a double and odd keys survive', () => {
  const source = `{"name":"d__search","arguments":{"n":9007199254740993,"__proto__":{"uri":"${SEEN}"},"z":[1e400]}}`;
  const own = ownParams('tools/call', readJson(source) as JsonObject, VIEW);
  assert.equal(writeJson(own), source.replace('d__search', 'search').replace(SEEN, OWN));
});
