// Tools that the config leaves out or renames, on the wire: what clients see and call, what the server is asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAccessRig } from '../support/access-rig.ts';
import type { Members } from '../support/raw-client.ts';
import { textOf } from '../support/raw-session.ts';

const ANNOTATIONS = { title: 'Look it up', readOnlyHint: true };
const SERVER = {
  tools: { allow: ['*'], deny: ['delete_all', 'Read_*'] },
  overrides: {
    tools: {
      read_book: { name: 'lookup', description: 'Looks a book up.', annotations: ANNOTATIONS },
      write_book: { name: 'read_book' },
      delete_book: { name: 'slow' },
      burn_book: { name: 'burn' },
    },
  },
};
const RULES = {
  readers: { allow: ['library/**'], deny: ['library/write_book'], when: { groups: ['readers'] } },
  editors: {
    allow: ['library/**'],
    when: { groups: ['editors'] },
    if: 'tool.annotations.readOnlyHint == true',
  },
};

for (const era of ['modern', 'legacy'] as const) {
  for (const client of ['modern', 'legacy'] as const) {
    test(`a ${client} client of a ${era} server sees and calls what the config shows`, async (t) => {
      const { asks, library, gateway } = await startAccessRig(t, { era, rules: RULES, server: SERVER });
      const ann = await asks('ann', client);
      const tools: Members[] = [];
      for (let cursor: unknown = ''; cursor !== undefined; ) {
        const { result = {} } = await ann.ask('tools/list', cursor === '' ? {} : { cursor: String(cursor) });
        tools.push(...(result.tools as Members[]));
        cursor = result.nextCursor;
      }
      assert.deepEqual(tools, [
        {
          name: 'lookup',
          inputSchema: { type: 'object' },
          description: 'Looks a book up.',
          annotations: ANNOTATIONS,
        },
        { name: 'read_index', inputSchema: { type: 'object' } },
        { name: 'gossip', inputSchema: { type: 'object' } },
      ]);

      const called = await ann.ask('tools/call', { name: 'lookup', arguments: {} });
      assert.equal(textOf(called), 'read_book was used');
      assert.equal(library.lastParams('tools/call')?.name, 'read_book');

      const unknown = await ann.ask('tools/call', { name: 'no_such_tool', arguments: {} });
      assert.equal(unknown.error?.message, 'Unknown tool');
      const gone = ['delete_all', 'Read_book', 'write_book', 'delete_book', 'slow', 'burn', 'burn_book'];
      // The last is a tool's name now, but one that no rule grants to ann, by its own name.
      for (const name of [...gone, 'read_book']) {
        const { error } = await ann.ask('tools/call', { name, arguments: {} });
        assert.deepEqual(error, unknown.error, name);
        if (name !== 'read_book') assert.ok(!library.wasAsked('tools/call', `"${name}"`), name);
      }

      const ben = await asks('ben', client);
      assert.equal(
        textOf(await ben.ask('tools/call', { name: 'lookup', arguments: {} })),
        'read_book was used',
      );
      const refused = await ben.ask('tools/call', { name: 'read_book', arguments: {} });
      assert.equal(refused.error?.code, 4031, 'no annotation of the server is believed');

      const { servers } = await gateway.status();
      assert.deepEqual(servers.library?.overridesWithoutTool, ['burn_book']);
      assert.deepEqual(servers.library?.clashingTools, ['delete_book', 'slow']);
    });
  }
}
