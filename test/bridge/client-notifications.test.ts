// What a legacy client tells of its own accord: to a legacy server of the session's own link, and to no modern one,
// whose revision knows no such notifications.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RootsPolicy } from '../../src/config/config.ts';
import { legacyHttpBehind } from '../support/legacy-http.ts';
import { openSession } from '../support/raw-session.ts';

const CHANGED = 'notifications/roots/list_changed';

for (const [era, roots, arrives] of [
  ['legacy', 'allow', true],
  ['legacy', 'deny', false],
  ['legacy', [{ uri: 'file:///srv' }], false],
  ['modern', 'allow', false],
  ['modern', 'deny', false],
  ['modern', [{ uri: 'file:///srv' }], false],
] as const satisfies readonly [string, RootsPolicy, boolean][]) {
  const policy = typeof roots === 'string' ? roots : 'a list in the config';
  test(`that roots have changed ${arrives ? 'reaches' : 'ends before'} a ${era} server with roots: ${policy}`, async (t) => {
    const client = { roots, sampling: 'allow', elicitation: 'allow' } as const;
    const { gateway, server } = await legacyHttpBehind(t, { era, config: { client } });
    await using session = await openSession(gateway.url, { capabilities: { roots: { listChanged: true } } });
    await session.tool('echo', { text: 'a link' });
    assert.equal(await session.notify(CHANGED), 202);
    // Another notification of a client's own, behind it, shows that the first one is not still on its way.
    await session.notify('notifications/progress', { progressToken: 1, progress: 1 });
    if (era === 'legacy') await server.request('notifications/progress');
    await session.tool('echo', { text: 'behind it' });
    assert.equal(server.requests(CHANGED).length, arrives ? 1 : 0);
  });
}
