// What exists in the view of a toolset: what the set names, as far as the caller may use it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS, type Principal } from '../../../src/access/principal.ts';
import { createAccessPolicy } from '../../../src/access/rules/access-policy.ts';
import { judgeToolsets } from '../../../src/access/rules/judge-toolsets.ts';
import { OPEN_ACCESS, type ServerAccess } from '../../../src/access/rules/server-access.ts';
import type { TargetKind } from '../../../src/access/rules/target-pattern.ts';
import { Toolset } from '../../../src/access/rules/toolset-access.ts';
import { isViewName, resourceIdentifiers } from '../../../src/access/sign-in/resource-identifiers.ts';
import { gateway, testBadConfigs } from '../../config/bad-config.ts';
import { loadedConfig } from '../../config/written-config.ts';

const ALICE: Principal = { ...ANONYMOUS, issuer: 'https://idp.example.com', subject: 'alice' };

function ruled(allow: string[], deny: string[] = []): ServerAccess {
  const when = { groups: [], scopes: [], subjects: [], clients: [], issuers: [] };
  const rules = [{ name: 'all', when, allow, deny, if: undefined }];
  const policy = createAccessPolicy({ hasAuth: true, access: { rules, scopes: {}, scopeImplies: {} } });
  return policy.accessOf(ALICE, 'gh');
}

function verdict(access: ServerAccess, name: string, kind: TargetKind = 'tools'): string {
  return access.decide(kind, name, { arguments: {} }).verdict;
}

test('a set shows what it names, and nothing else exists in its view', () => {
  const set = new Toolset('triage', ['gh/search_*', 'gh/resources/file:///docs/**', 'docs']);
  const access = set.narrow(OPEN_ACCESS, 'gh');
  assert.equal(verdict(access, 'search_code'), 'allowed');
  assert.equal(verdict(access, 'delete_repo'), 'absent');
  assert.equal(verdict(access, 'search_code', 'prompts'), 'absent');
  assert.equal(verdict(access, 'file:///docs/a', 'resources'), 'allowed');
  assert.equal(verdict(access, 'file:///etc/a', 'resources'), 'absent');
  assert.equal(verdict(access, 'file:///docs/../etc/a', 'resources'), 'absent');
  assert.ok(access.listsTemplate('file:///docs/{name}') && !access.listsTemplate('file:///etc/{name}'));
  assert.ok(access.sees('tools') && access.sees('resources') && !access.sees('prompts'));
  assert.ok(access.enforced && !access.whole);
});

test('a set of a whole server is that server, as far as the caller may use it', () => {
  const set = new Toolset('all', ['gh']);
  assert.ok(set.narrow(OPEN_ACCESS, 'gh').whole);
  assert.ok(!set.narrow(ruled(['gh'], ['gh/delete_*']), 'gh').whole);
  assert.deepEqual([set.concerns('gh'), set.concerns('docs')], [true, false]);
  assert.ok(new Toolset('any', ['*']).concerns('docs'));
});

test('a set grants nothing, and keeps what rules ask for', () => {
  const set = new Toolset('triage', ['gh/*']);
  assert.equal(verdict(set.narrow(ruled(['gh/search_*']), 'gh'), 'delete_repo'), 'absent');
  assert.equal(verdict(set.narrow(ruled(['gh'], ['gh/search_code']), 'gh'), 'search_code'), 'absent');
  assert.equal(verdict(set.narrow(ruled(['gh']), 'gh'), 'search_code'), 'allowed');
});

test('callers of the same set with other rights are told apart, and the same two get the same object', () => {
  const [set, other] = [new Toolset('a', ['gh/x']), new Toolset('b', ['gh/x'])];
  const access = ruled(['gh']);
  assert.equal(set.narrow(access, 'gh'), set.narrow(access, 'gh'));
  assert.notEqual(set.narrow(access, 'gh').rights, set.narrow(OPEN_ACCESS, 'gh').rights);
  assert.notEqual(set.narrow(access, 'gh').rights, other.narrow(access, 'gh').rights);
});

test('the view of a set is a resource of its own, which a token for it opens alone', () => {
  const resources = resourceIdentifiers('https://mcp.example.com/base');
  const identifier = 'https://mcp.example.com/base/mcp/~triage';
  assert.equal(resources.identifierOf('~triage'), identifier);
  assert.equal(
    resources.metadataUrlOf('~triage'),
    'https://mcp.example.com/.well-known/oauth-protected-resource/base/mcp/~triage',
  );
  assert.deepEqual(resources.viewsOpenedBy([identifier]), new Set(['~triage']));
  assert.deepEqual([isViewName('~triage'), isViewName('~'), isViewName('~~a')], [true, false, false]);
});

const judges = [judgeToolsets];

test('toolsets are read as they stand', async (t) => {
  const text = gateway('{ toolsets: { triage: ["a/search_*", "a/prompts/*"], all: ["*"] } }');
  const { config, warnings } = await loadedConfig(t, text, { judges });
  assert.deepEqual(warnings, []);
  assert.deepEqual(config.gateway.toolsets, { triage: ['a/search_*', 'a/prompts/*'], all: ['*'] });
});

testBadConfigs(
  'toolsets that could not be a view are refused',
  [
    {
      name: 'a name that is no path',
      text: gateway('{ toolsets: { ▸"Tri age": ["a"] } }'),
      problems: 'gateway.toolsets["Tri age"]: a toolset is part of a path',
    },
    {
      name: 'nothing in it',
      text: gateway('{ toolsets: { ▸triage: [] } }'),
      problems: 'gateway.toolsets.triage: this toolset names nothing',
    },
    {
      name: 'a server that is not there',
      text: gateway('{ toolsets: { triage: [▸"aa/x"] } }'),
      problems: 'gateway.toolsets.triage[0]: there is no server aa',
      hint: 'Did you mean a?',
    },
    {
      name: 'a target that is none',
      text: gateway('{ toolsets: { triage: [▸"*/x"] } }'),
      problems: 'gateway.toolsets.triage[0]: expected *, server',
    },
  ].map((bad) => ({ ...bad, judges })),
);
