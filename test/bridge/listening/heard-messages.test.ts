// What a caller may hear of what a server says by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS } from '../../../src/access/principal.ts';
import { createAccessPolicy } from '../../../src/access/rules/access-policy.ts';
import { heardOutput } from '../../../src/bridge/listening/heard-messages.ts';
import type { StreamMessage } from '../../../src/protocol/json-rpc.ts';

test('a caller whose rights to a server are all gone hears no log line and no question of it, and still of calls in flight', () => {
  const nobody = { groups: ['ops'], scopes: [], subjects: [], clients: [], issuers: [] };
  const rule = { name: 'ops', when: nobody, allow: ['gh/search'], deny: [], if: undefined };
  const access = { rules: [rule], scopes: {}, scopeImplies: {} };
  const policy = createAccessPolicy({ hasAuth: true, access });
  const heardBy = (groups: string[]) => {
    const heard: string[] = [];
    const output = heardOutput(
      {
        send: (message: StreamMessage) => void heard.push('method' in message ? message.method : ''),
        respond: () => heard.push('the response'),
        end: () => {},
      },
      policy.accessOf({ ...ANONYMOUS, groups }, 'gh'),
    );
    for (const method of ['notifications/message', 'notifications/progress']) {
      void output.send({ jsonrpc: '2.0', method, params: {} });
    }
    void output.send({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: {} });
    output.respond('1', { result: {} }, 200);
    return heard;
  };
  assert.deepEqual(heardBy(['ops']), [
    'notifications/message',
    'notifications/progress',
    'elicitation/create',
    'the response',
  ]);
  assert.deepEqual(heardBy([]), ['notifications/progress', 'the response']);
});
