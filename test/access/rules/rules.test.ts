// Decisions: rules, callers and things in, verdicts out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS, type Principal } from '../../../src/access/principal.ts';
import { createAccessPolicy } from '../../../src/access/rules/access-policy.ts';
import type { TargetKind } from '../../../src/access/rules/target-pattern.ts';
import type { RuleAudience } from '../../../src/config/access-config.ts';
import { ALICE, accessOf, NO_ARGUMENTS, rule, verdict } from './rules-rig.ts';

test('where nobody signs in everything is allowed, whatever the rules say', () => {
  const access = { rules: [rule({ deny: ['*'] })], scopes: { '*': ['x'] }, scopeImplies: {} };
  const open = createAccessPolicy({ hasAuth: false, access }).accessOf(ANONYMOUS, 'gh');
  assert.equal(verdict(open, 'a', NO_ARGUMENTS), 'allowed');
  assert.ok(open.whole && open.sees('prompts') && open.listsTemplate('file:///../{x}') && !open.enforced);
});

test('once people sign in, nothing is allowed but what a rule grants', () => {
  const none = createAccessPolicy({ hasAuth: true, access: undefined }).accessOf(ALICE, 'gh');
  assert.equal(verdict(none, 'a'), 'absent');
  assert.equal(verdict(none, 'a', NO_ARGUMENTS), 'absent');
  assert.ok(!none.sees() && !none.whole && none.enforced && !none.listsTemplate('a:{b}'));
});

const AUDIENCES: readonly (readonly [when: Partial<RuleAudience>, meets: boolean])[] = [
  [{}, true],
  [{ groups: ['eng'] }, true],
  [{ groups: ['sales', 'ops'] }, true],
  [{ groups: ['sales'] }, false],
  [{ groups: ['Eng'] }, false],
  [{ groups: ['en'] }, false],
  [{ scopes: ['mcp'] }, true],
  [{ scopes: ['mcp:write'] }, false],
  [{ subjects: ['alice', 'bob'] }, true],
  [{ subjects: ['bob'] }, false],
  [{ clients: ['ide'] }, true],
  [{ clients: [''] }, false],
  [{ issuers: ['https://idp.example.com'] }, true],
  [{ issuers: ['https://idp.example.com/'] }, false],
  [{ groups: ['eng'], scopes: ['mcp'], subjects: ['alice'], clients: ['ide'] }, true],
  [{ groups: ['eng'], scopes: ['other'] }, false],
  [{ groups: ['sales'], subjects: ['alice'] }, false],
];

for (const [when, meets] of AUDIENCES) {
  test(`a rule for ${JSON.stringify(when)} ${meets ? 'concerns' : 'does not concern'} alice`, () => {
    const access = accessOf([{ when, allow: ['gh'] }]);
    assert.equal(verdict(access, 'a'), meets ? 'allowed' : 'absent');
    // A rule for others refuses nothing either.
    const denied = accessOf([{ allow: ['gh'] }, { when, deny: ['gh/a'] }]);
    assert.equal(verdict(denied, 'a'), meets ? 'absent' : 'allowed');
  });
}

test('a scope counts where a broader one is held (F50)', () => {
  const scopeImplies = { mcp: ['gh:read', 'docs:read'], 'gh:read': ['gh:list'] };
  for (const scope of ['mcp', 'gh:read', 'gh:list']) {
    assert.equal(
      verdict(accessOf([{ when: { scopes: [scope] }, allow: ['gh'] }], { scopeImplies }), 'a'),
      'allowed',
    );
  }
  assert.equal(
    verdict(accessOf([{ when: { scopes: ['gh:write'] }, allow: ['gh'] }], { scopeImplies }), 'a'),
    'absent',
  );
});

test('rules add up, and a refusal of any of them wins', () => {
  const access = accessOf([
    { allow: ['gh/read_*'] },
    { allow: ['gh/**', 'gh/prompts/greet'], deny: ['gh/delete_*'] },
    { allow: ['gh/delete_mine'] },
  ]);
  assert.equal(verdict(access, 'read_a'), 'allowed');
  assert.equal(verdict(access, 'write'), 'allowed');
  assert.equal(verdict(access, 'delete_mine'), 'absent');
  assert.equal(verdict(access, 'delete_mine', NO_ARGUMENTS), 'absent');
  assert.equal(verdict(access, 'Delete_mine'), 'allowed');
  assert.equal(verdict(access, 'greet', undefined, 'prompts'), 'allowed');
  assert.equal(verdict(access, 'other', undefined, 'prompts'), 'absent');
  assert.equal(verdict(access, 'file:///a', undefined, 'resources'), 'absent');
});

test('what is said of one server means nothing for another', () => {
  const rules = [{ allow: ['gh', 'docs/a'], deny: ['docs/b'] }];
  assert.equal(verdict(accessOf(rules), 'b'), 'allowed');
  assert.equal(verdict(accessOf(rules, { server: 'docs' }), 'a'), 'allowed');
  assert.equal(verdict(accessOf(rules, { server: 'docs' }), 'b'), 'absent');
  assert.equal(verdict(accessOf(rules, { server: 'docs2' }), 'a'), 'absent');
});

test('the rule that decided is told', () => {
  const access = accessOf([
    { allow: ['gh/a*'], if: 'arguments.ok' },
    { allow: ['*'], deny: ['gh/x'] },
  ]);
  assert.deepEqual(access.decide('tools', 'a', NO_ARGUMENTS), {
    verdict: 'allowed',
    rule: 'rule1',
    target: '*',
  });
  assert.deepEqual(access.decide('tools', 'x'), { verdict: 'absent', rule: 'rule1', target: 'gh/x' });
  assert.deepEqual(accessOf([]).decide('tools', 'x'), { verdict: 'absent' });
});

const SIGHTS: readonly (readonly [allow: string[], deny: string[], sees: readonly TargetKind[]])[] = [
  [['*'], [], ['tools', 'prompts', 'resources']],
  [['gh'], ['gh/prompts/**'], ['tools', 'resources']],
  [['gh'], ['gh/prompts/*'], ['tools', 'prompts', 'resources']],
  [['gh/a'], [], ['tools']],
  [['gh/a'], ['gh/a'], []],
  [['gh/a*'], ['gh/a*'], []],
  [['gh/a*'], ['gh/**'], []],
  [['gh/a*'], ['gh/abc'], ['tools']],
  [['gh/resources/file:///a/**'], ['gh/resources/file:///**'], []],
  [['gh/resources/file:///a/**'], ['gh/resources/file:///a/b/**'], ['resources']],
  [['*'], ['gh'], []],
  [['gh'], ['*'], []],
  [['docs'], [], []],
];

for (const [allow, deny, sees] of SIGHTS) {
  test(`with ${allow} but not ${deny.length === 0 ? 'nothing' : deny} there is something to see of ${sees}`, () => {
    const access = accessOf([{ allow, deny }]);
    const kinds = ['tools', 'prompts', 'resources'] as const;
    assert.deepEqual(
      kinds.filter((kind) => access.sees(kind)),
      sees,
    );
    assert.equal(access.sees(), sees.length > 0);
  });
}

test('whoever may use the whole server has it without exception, condition or missing scope', () => {
  assert.ok(accessOf([{ allow: ['gh'] }]).whole);
  assert.ok(
    accessOf([{ allow: ['*'], deny: ['docs/a'] }], { scopes: { 'docs/a': ['x'], 'gh/a': ['mcp'] } }).whole,
  );
  assert.ok(!accessOf([{ allow: ['gh/**', 'gh/prompts/**', 'gh/resources/**'] }]).whole);
  assert.ok(!accessOf([{ allow: ['gh'], deny: ['gh/a'] }]).whole);
  assert.ok(!accessOf([{ allow: ['gh'] }, { deny: ['gh/a'], if: 'false' }]).whole);
  assert.ok(!accessOf([{ allow: ['gh'], if: 'true' }]).whole);
  assert.ok(!accessOf([{ allow: ['gh'] }], { scopes: { 'gh/a': ['x'] } }).whole);
});

test('templates are listed where one of their URIs could be granted', () => {
  const access = accessOf([
    { allow: ['gh/resources/file:///srv/pub/**'], deny: ['gh/resources/file:///srv/pub/x/**'] },
  ]);
  assert.ok(access.listsTemplate('file:///srv/{path}'));
  assert.ok(access.listsTemplate('file:///srv/pub/{name}'));
  assert.ok(!access.listsTemplate('file:///srv/pub/x/{name}'));
  assert.ok(!access.listsTemplate('file:///etc/{name}'));
  assert.ok(!access.listsTemplate('file:///srv/../{name}'));
  assert.ok(accessOf([{ allow: ['gh'] }, { deny: ['gh/resources/**'], if: 'false' }]).listsTemplate('a:{b}'));
});

test('the same rights have the same name, whoever has them, and other ones another', () => {
  const rules = [{ when: { groups: ['eng'] }, allow: ['gh'] }];
  const rights = (principal: Principal, more = rules) => accessOf(more, { principal }).rights;
  assert.equal(rights(ALICE), rights({ ...ALICE, subject: 'bob', groups: ['eng', 'sales'] }));
  assert.notEqual(rights(ALICE), rights({ ...ALICE, groups: ['ops'] }));
  assert.notEqual(rights(ALICE), rights({ ...ALICE, scopes: [] }));
  assert.notEqual(rights(ALICE), rights(ALICE, [{ when: { groups: ['eng'] }, allow: ['gh/a'] }]));
});

test('one caller at one server is looked at once', () => {
  const policy = createAccessPolicy({ hasAuth: true, access: undefined });
  assert.equal(policy.accessOf(ALICE, 'gh'), policy.accessOf(ALICE, 'gh'));
  assert.notEqual(policy.accessOf(ALICE, 'gh'), policy.accessOf(ALICE, 'docs'));
  assert.notEqual(policy.accessOf(ALICE, 'gh'), policy.accessOf({ ...ALICE }, 'gh'));
});

test('callers of one policy share what they have in common, and nothing that they have not', () => {
  const named = (groups: string[], allow: string[]) => ({
    ...rule({ when: { groups }, allow }),
    name: 'same',
  });
  const rules = [
    named(['eng'], ['gh']),
    named(['sales'], ['gh/a']),
    { ...rule({ allow: ['gh/own'], if: 'principal.subject == "bob"' }), name: 'own' },
  ];
  const policy = createAccessPolicy({ hasAuth: true, access: { rules, scopes: {}, scopeImplies: {} } });
  const at = (subject: string, groups: string[]) => policy.accessOf({ ...ALICE, subject, groups }, 'gh');
  assert.equal(verdict(at('alice', ['eng']), 'b', NO_ARGUMENTS), 'allowed');
  // Rules may be called alike.
  assert.equal(verdict(at('alice', ['sales']), 'b', NO_ARGUMENTS), 'absent');
  assert.equal(verdict(at('carol', ['eng']), 'b', NO_ARGUMENTS), 'allowed');
  assert.equal(verdict(at('bob', ['none']), 'own', NO_ARGUMENTS), 'allowed');
  assert.equal(verdict(at('alice', ['none']), 'own', NO_ARGUMENTS), 'refused');
});
