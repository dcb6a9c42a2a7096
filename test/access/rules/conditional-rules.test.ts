// Decisions that take the call: conditions on its arguments, and the scopes that an operation needs besides.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallFacts, Decision } from '../../../src/access/rules/server-access.ts';
import { ALICE, accessOf, NO_ARGUMENTS, type RuleText, verdict } from './rules-rig.ts';

interface ConditionCase {
  readonly name: string;
  readonly rules: readonly RuleText[];
  readonly arguments: CallFacts['arguments'];
  readonly listed?: Decision['verdict'];
  readonly called: Partial<Decision>;
}

const IF = 'arguments.region == "eu"';

const CONDITIONS: readonly ConditionCase[] = [
  {
    name: 'it says yes',
    rules: [{ allow: ['gh'], if: IF }],
    arguments: { region: 'eu' },
    called: { verdict: 'allowed' },
  },
  {
    name: 'it says no',
    rules: [{ allow: ['gh'], if: IF }],
    arguments: { region: 'us' },
    called: { verdict: 'refused', failed: false, rule: 'rule0' },
  },
  {
    name: 'it errs: nothing is granted',
    rules: [{ allow: ['gh'], if: IF }],
    arguments: {},
    called: { verdict: 'refused', failed: true },
  },
  {
    name: 'it is no truth value: nothing is granted',
    rules: [{ allow: ['gh'], if: 'arguments.region' }],
    arguments: { region: 'eu' },
    called: { verdict: 'refused', failed: true },
  },
  {
    name: 'another rule grants without one',
    rules: [{ allow: ['gh'], if: IF }, { allow: ['gh/a'] }],
    arguments: {},
    called: { verdict: 'allowed', rule: 'rule1' },
  },
  {
    name: 'another one says yes',
    rules: [
      { allow: ['gh'], if: IF },
      { allow: ['gh'], if: 'arguments.n == 1' },
    ],
    arguments: { n: 1 },
    called: { verdict: 'allowed', rule: 'rule1' },
  },
  {
    name: 'its refusal applies where it says yes',
    rules: [{ allow: ['gh'] }, { deny: ['gh/a'], if: IF }],
    arguments: { region: 'eu' },
    called: { verdict: 'refused', failed: false, rule: 'rule1' },
  },
  {
    name: 'its refusal does not apply where it says no',
    rules: [{ allow: ['gh'] }, { deny: ['gh/a'], if: IF }],
    arguments: { region: 'us' },
    called: { verdict: 'allowed' },
  },
  {
    name: 'its refusal applies where it errs',
    rules: [{ allow: ['gh'] }, { deny: ['gh/a'], if: IF }],
    arguments: {},
    called: { verdict: 'refused', failed: true, rule: 'rule1' },
  },
  {
    name: 'its refusal is about other things',
    rules: [{ allow: ['gh'] }, { deny: ['gh/b'], if: IF }],
    arguments: {},
    called: { verdict: 'allowed' },
  },
  {
    name: 'nobody knows a tool to be harmless but the operator',
    rules: [{ allow: ['gh'], if: 'tool.annotations.readOnlyHint == true' }],
    arguments: {},
    called: { verdict: 'refused', failed: true },
  },
  {
    name: 'a refusal without a condition hides',
    rules: [{ allow: ['gh'], if: IF }, { deny: ['gh/a'] }],
    arguments: { region: 'eu' },
    listed: 'absent',
    called: { verdict: 'absent' },
  },
];

for (const { name, rules, listed = 'allowed', called, ...call } of CONDITIONS) {
  test(`a condition: ${name}`, () => {
    const access = accessOf(rules);
    assert.equal(verdict(access, 'a'), listed, 'conditions are for calls alone');
    assert.partialDeepStrictEqual(access.decide('tools', 'a', call), called);
  });
}

const STEP_UPS: readonly (readonly [
  held: readonly string[],
  tool: string,
  needs: readonly string[] | undefined,
])[] = [
  [['mcp'], 'read', undefined],
  [['mcp'], 'delete_a', ['gh:write', 'gh:admin']],
  // All that the operation needs, not only what is missing.
  [['gh:write'], 'delete_a', ['gh:write', 'gh:admin']],
  [['gh:admin'], 'delete_a', undefined],
  [['gh:write', 'gh:admin'], 'delete_a', undefined],
  [['mcp'], 'write_a', ['gh:write']],
  [['root'], 'delete_a', undefined],
  [['root'], 'delete_hard', ['gh:write', 'gh:admin', 'audit:off']],
  [['gh:adm'], 'delete_a', ['gh:write', 'gh:admin']],
];

for (const [held, tool, needs] of STEP_UPS) {
  test(`${tool} with ${held} needs ${needs ?? 'nothing more'} (F50)`, () => {
    const access = accessOf([{ allow: ['gh'] }], {
      principal: { ...ALICE, scopes: held },
      scopes: {
        'gh/write_*': ['gh:write'],
        'gh/delete_*': ['gh:write', 'gh:admin'],
        'gh/delete_hard': ['gh:admin', 'audit:off'],
        'docs/delete_*': ['docs:admin'],
      },
      scopeImplies: { 'gh:admin': ['gh:write'], root: ['gh:admin'] },
    });
    assert.equal(verdict(access, tool), 'allowed', 'it is visible in any case');
    const decision = access.decide('tools', tool, NO_ARGUMENTS);
    assert.equal(decision.verdict, needs === undefined ? 'allowed' : 'needs-scope');
    if (decision.verdict === 'needs-scope') assert.deepEqual(decision.scopes, needs);
  });
}

test('a caller that a condition refuses is not asked for scopes first', () => {
  const access = accessOf([{ allow: ['gh'], if: IF }], { scopes: { gh: ['gh:admin'] } });
  assert.equal(verdict(access, 'a', { arguments: { region: 'us' } }), 'refused');
  assert.equal(verdict(access, 'a', { arguments: { region: 'eu' } }), 'needs-scope');
});

test('step-up scopes of a resource hold for every spelling of it', () => {
  const access = accessOf([{ allow: ['gh'] }], { scopes: { 'gh/resources/file:///srv/secret/**': ['s'] } });
  for (const uri of ['file:///srv/secret/a', 'file:///srv/%73ecret/a', 'FILE:///srv//secret/a']) {
    assert.equal(verdict(access, uri, NO_ARGUMENTS, 'resources'), 'needs-scope', uri);
  }
  assert.equal(verdict(access, 'file:///srv/a', NO_ARGUMENTS, 'resources'), 'allowed');
});
