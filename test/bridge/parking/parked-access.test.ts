// The retry of a parked call is a request like any other: who has lost the right meanwhile may not make it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessOf, authOf, keyOf } from '../../support/access-rig.ts';
import { startFaultyHttpServer } from '../../support/faulty-http-server.ts';
import { callAsking, retryParams } from '../../support/parked-client.ts';
import { ModernClient, textOf } from '../../support/raw-session.ts';
import { startGateway } from '../../support/start-gateway.ts';

const CAPABILITIES = { elicitation: {} };

for (const era of ['legacy', 'modern'] as const) {
  test(`a ${era} server hears no answer of a caller who may not call any more, and the caller what anybody does`, async (t) => {
    const server = await startFaultyHttpServer({ era });
    const gateway = await startGateway({
      http: { url: server.url },
      gateway: {
        // One person, whose sign-in at first says more than later on.
        auth: authOf({ before: { groups: ['askers'], is: 'ada' }, after: { is: 'ada' } }),
        access: accessOf({
          everybody: { allow: ['faulty/echo'] },
          askers: { when: { groups: ['askers'] }, allow: ['faulty'] },
        }),
      },
    });
    t.after(async () => {
      await gateway.close();
      await server.close();
    });
    await using before = new ModernClient(gateway.url, { ...keyOf('before'), capabilities: CAPABILITIES });
    await using after = new ModernClient(gateway.url, { ...keyOf('after'), capabilities: CAPABILITIES });
    const retry = retryParams(await callAsking(before));
    const heard = () =>
      server.requests(({ message }) => message?.result !== undefined || message?.method === 'tools/call')
        .length;
    const heardBefore = heard();
    const refused = await after.ask('tools/call', retry);
    const unknown = await after.ask('tools/call', { name: 'nowhere', arguments: {} });
    assert.deepEqual(refused.error, unknown.error);
    assert.equal(heard(), heardBefore);
    // The state was not used up by it.
    assert.match(textOf(await before.ask('tools/call', retry)), /Ada/);
    assert.equal(heard(), heardBefore + 1);
  });
}
