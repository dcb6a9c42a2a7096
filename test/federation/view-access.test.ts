import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPEN_ACCESS } from '../../src/access/rules/server-access.ts';
import { ViewAccess } from '../../src/federation/view-access.ts';

const access = new ViewAccess(new Map([['a', OPEN_ACCESS]]), false);
const CALL = { arguments: {} };

const JUDGED: readonly [uri: string, verdict: string][] = [
  ['a+file:///x', 'allowed'],
  // Of a server that the caller may not use, or not any more: whatever else they may use.
  ['b+file:///x', 'absent'],
  ['file:///x', 'absent'],
  ['https://x.example/', 'allowed'],
];

for (const [uri, verdict] of JUDGED) {
  test(`who may use all of a, and nothing of b, has ${uri} ${verdict}`, () => {
    assert.equal(access.decide('resources', uri, CALL).verdict, verdict);
    assert.equal(access.listsTemplate(`${uri}{name}`), verdict === 'allowed');
  });
}
