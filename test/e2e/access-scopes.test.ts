// Step-up: what a caller may know of but lacks a scope for is answered by one challenge with all that it needs (F50).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccessRigOptions, startAccessRig } from '../support/access-rig.ts';
import type { Members } from '../support/raw-client.ts';

const OPTIONS = {
  rules: { all: { allow: ['library'] } },
  access: {
    scopes: {
      'library/write_*': ['books:write'],
      'library/delete_*': ['books:write', 'books:delete'],
      'library/delete_all': ['books:admin', 'offline_access'],
      'library/prompts/plan_*': ['plan'],
      'library/resources/file:///srv/secret/**': ['secret'],
    },
    scopeImplies: { 'books:admin': ['books:delete'], 'books:delete': ['books:write'] },
  },
  people: {
    none: { scopes: ['mcp'] },
    writer: { scopes: ['mcp', 'books:write', 'openid'] },
    deleter: { scopes: ['mcp', 'books:delete'] },
    admin: { scopes: ['mcp', 'books:admin', 'offline_access', 'plan', 'secret'] },
  },
} satisfies Omit<AccessRigOptions, 'era'>;

type Call = readonly [method: string, params: Members];
const tool = (name: string): Call => ['tools/call', { name }];

const CHALLENGES: readonly (readonly [
  person: string,
  call: Call,
  modern: string | undefined,
  legacy: string,
])[] = [
  ['none', tool('read_book'), undefined, ''],
  ['none', tool('write_book'), 'mcp books:write', 'mcp books:write'],
  ['none', tool('delete_book'), 'mcp books:write books:delete', 'mcp books:write books:delete'],
  [
    'none',
    tool('delete_all'),
    'mcp books:write books:delete books:admin',
    'mcp books:write books:delete books:admin',
  ],
  ['none', ['prompts/get', { name: 'plan_heist' }], 'mcp plan', 'mcp plan'],
  ['none', ['resources/read', { uri: 'file:///srv/secret/plan.txt' }], 'mcp secret', 'mcp secret'],
  ['none', ['resources/read', { uri: 'file:///srv/%73ecret/plan.txt' }], 'mcp secret', 'mcp secret'],
  ['writer', tool('write_book'), undefined, ''],
  ['writer', tool('delete_book'), 'mcp books:write books:delete', 'mcp books:write books:delete'],
  // Older clients forget what they had; what means nothing here is not asked for.
  ['writer', ['prompts/get', { name: 'plan_heist' }], 'mcp plan', 'mcp plan books:write'],
  ['deleter', tool('write_book'), undefined, ''],
  ['deleter', tool('delete_book'), undefined, ''],
  [
    'deleter',
    ['resources/read', { uri: 'file:///srv/secret/plan.txt' }],
    'mcp secret',
    'mcp secret books:delete',
  ],
  ['admin', tool('delete_all'), undefined, ''],
  ['admin', ['resources/read', { uri: 'file:///srv/secret/plan.txt' }], undefined, ''],
];

for (const client of ['modern', 'legacy'] as const) {
  test(`F50: a ${client} client is challenged once, with every scope that the call needs`, async (t) => {
    const rig = await startAccessRig(t, { era: 'modern', ...OPTIONS });
    for (const [person, [method, params], modern, legacy] of CHALLENGES) {
      const asker = client === 'modern' ? rig.modern(person) : await rig.legacy(person);
      const label = `${person}, ${method} ${JSON.stringify(params)}`;
      const answer = await asker.start(method, params, { id: '9' }).answer;
      if (modern === undefined) {
        assert.equal(answer.status, 200, label);
        assert.equal((await answer.whole()).response.error, undefined, label);
        continue;
      }
      assert.equal(answer.status, 403, label);
      const scope = client === 'modern' ? modern : legacy;
      assert.equal(
        answer.headers['www-authenticate'],
        `Bearer scope="${scope}", error="insufficient_scope"`,
        label,
      );
      const { id, error } = await answer.json();
      assert.deepEqual([id, error?.code], [9, 4030]);
    }
  });
}

test('F50: speaking of a thing needs no scope: its completion, and the end of a subscription', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', ...OPTIONS });
  const session = await rig.legacy('none');
  const ref = { type: 'ref/prompt', name: 'plan_heist' };
  const completed = await session.ask('completion/complete', { ref, argument: { name: 'a', value: '' } });
  assert.equal(completed.error, undefined);
  const { error } = await session.ask('resources/unsubscribe', { uri: 'file:///srv/secret/plan.txt' });
  assert.equal(error, undefined);
});

test('F50: whoever has no scope at all sees what needs one, and is told to get it', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', ...OPTIONS });
  const { result } = await rig.modern('none').ask('resources/list');
  assert.match(JSON.stringify(result), /secret\/plan\.txt/);
  const { result: prompts } = await rig.modern('none').ask('prompts/list');
  assert.match(JSON.stringify(prompts), /plan_heist/);
});

test('F50: a scope that a rule wants hides what is missing it; a broader one counts', async (t) => {
  const rig = await startAccessRig(t, {
    era: 'modern',
    ...OPTIONS,
    rules: { writers: { when: { scopes: ['books:write'] }, allow: ['library'] } },
  });
  assert.equal((await rig.modern('none').ask('tools/list')).error?.code, 4041);
  for (const person of ['writer', 'deleter', 'admin']) {
    assert.equal((await rig.modern(person).ask('tools/list')).error, undefined, person);
  }
});

test('F50: a required scope is held by whoever holds a broader one', async (t) => {
  const rig = await startAccessRig(t, {
    era: 'modern',
    ...OPTIONS,
    auth: { requiredScopes: ['books:write'] },
  });
  const none = await rig.modern('none').start('tools/list').answer;
  assert.equal(none.status, 403);
  assert.equal(none.headers['www-authenticate'], 'Bearer scope="books:write", error="insufficient_scope"');
  await none.text();
  assert.equal((await rig.modern('admin').ask('tools/list')).error, undefined);
});

test('F50: an older client that asks for the event stream first still gets the challenge', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', ...OPTIONS });
  const session = await rig.legacy('none');
  const headers = { accept: 'text/event-stream' };
  const answer = await session.start('tools/call', { name: 'write_book' }, { headers }).answer;
  assert.equal(answer.status, 403);
  await answer.text();
  assert.ok(!rig.library.wasAsked('tools/call'));
});

test('F50: in an array the challenge is the answer of its member', async (t) => {
  const rig = await startAccessRig(t, { era: 'legacy', ...OPTIONS });
  const session = await rig.legacy('none', { version: '2025-03-26' });
  const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
  const answer = await session.send({
    body: [call(1, 'write_book'), call(2, 'read_book')],
    headers: session.headers,
  });
  const messages = await answer.messages();
  const [refused, done] = [1, 2].map((id) => messages.find((message) => message.id === id));
  assert.equal(refused?.error?.code, 4030);
  assert.ok(done?.result);
});
