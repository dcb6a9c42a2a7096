// What is left of a server's answer for a caller: entries that it may see, values that lead somewhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS } from '../../src/access/principal.ts';
import { createAccessPolicy } from '../../src/access/rules/access-policy.ts';
import { OPEN_ACCESS, type ServerAccess } from '../../src/access/rules/server-access.ts';
import { visibleResult } from '../../src/bridge/visible-result.ts';
import type { ClientRequest } from '../../src/protocol/client-message.ts';
import type { JsonObject } from '../../src/protocol/json-text.ts';
import { accessOf } from '../support/access-rig.ts';

const SOME = accessTo(['s/a*', 's/resources/file:///srv/a.txt', 's/resources/file:///pub/**']);

function accessTo(allow: readonly string[]): ServerAccess {
  const policy = createAccessPolicy({ hasAuth: true, access: accessOf({ some: { allow } }) });
  return policy.accessOf(ANONYMOUS, 's');
}

function request(method: string, params: JsonObject = {}): ClientRequest {
  return { era: 'legacy', kind: 'request', id: 1, idText: '1', method, params };
}

test('what is no entry with a name is shown to nobody whose view is filtered', () => {
  const tools = [{ name: 'a' }, { name: 'b' }, { name: 7 }, {}, null, 'a', ['a']] as JsonObject[];
  const result = visibleResult({ tools, nextCursor: 'c', more: 1 }, request('tools/list'), SOME);
  assert.deepEqual(result, { tools: [{ name: 'a' }], nextCursor: 'c', more: 1 });
  for (const odd of [undefined, null, {}, 'a']) {
    const list = odd === undefined ? {} : { tools: odd };
    assert.deepEqual(visibleResult(list as JsonObject, request('tools/list'), SOME), { tools: [] });
  }
  assert.deepEqual(visibleResult({ tools }, request('tools/list'), OPEN_ACCESS), { tools });
});

test('other answers are left as they are', () => {
  const result = { content: [], tools: [{ name: 'b' }], completion: { values: ['x'] } };
  assert.equal(visibleResult(result, request('tools/call'), SOME), result);
});

type Completion = readonly [uri: string, name: string, known: JsonObject, kept: readonly string[]];

const COMPLETIONS: readonly Completion[] = [
  ['file:///srv/{name}', 'name', {}, ['a.txt']],
  ['file:///{dir}/{name}', 'name', { dir: 'srv' }, ['a.txt']],
  ['file:///{dir}/{name}', 'name', { dir: 'pub' }, ['a', 'a.txt', 'pub', 'srv']],
  ['file:///{dir}/{name}', 'name', { dir: 'etc' }, []],
  ['file:///{dir}/{name}', 'dir', {}, ['pub', 'srv']],
  ['file:///{+dir}', 'dir', {}, []],
  ['{+uri}', 'other', {}, ['a', 'a.txt', 'pub', 'srv', '../pub/x']],
];

for (const [uri, name, known, kept] of COMPLETIONS) {
  test(`${name} of ${uri} with ${JSON.stringify(known)} is completed by ${kept.join(' ') || 'nothing'}`, () => {
    const completion = { values: ['a', 'a.txt', 'pub', 'srv', '../pub/x'], total: 5, hasMore: true };
    const asked = request('completion/complete', {
      ref: { type: 'ref/resource', uri },
      argument: { name, value: '' },
      context: { arguments: known },
    });
    const visible = visibleResult({ completion }, asked, SOME);
    assert.deepEqual(visible, { completion: { values: kept, hasMore: true } });
    assert.deepEqual(visibleResult({ completion }, asked, accessTo(['*'])), { completion });
  });
}
