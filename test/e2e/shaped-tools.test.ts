// Overrides and pins as users have them: `portico pin` writes the lock, Portico serves by it, clients of the official
// SDKs see what is shown and call it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pin } from '../../src/cli/pin.ts';
import { lockText, pinOf, readLock } from '../../src/config/tool-lock.ts';
import { writeConfig } from '../config/written-config.ts';
import { startGateway } from '../support/gateway-process.ts';
import { CLIENT_KINDS, connectClient } from '../support/sdk-clients.ts';
import { stdioCommand } from '../support/sdk-server-process.ts';

const SHAPE = {
  tools: { deny: ['fail'] },
  overrides: {
    tools: { echo: { name: 'say', description: 'Says it.', annotations: { readOnlyHint: true } } },
  },
};
const CONFIG = {
  mcpServers: { one: { ...stdioCommand('sdk-v2-server'), ...SHAPE }, two: stdioCommand('sdk-v2-server') },
  gateway: { pins: 'enforce' },
};

/** What `portico pin` writes, but for `add`, which was approved in other words. */
async function lockWithChange(folder: string): Promise<string> {
  const lock = readLock(await readFile(join(folder, 'portico.lock'), 'utf8'));
  const tools = new Map(lock.get('one'));
  assert.ok(!tools.has('fail'), 'what does not exist is not pinned');
  tools.set('add', pinOf({ ...tools.get('add')?.definition, description: 'As it was approved.' }));
  return lockText(new Map([...lock, ['one', tools]]));
}

test('clients see and call tools as they are shown, and none that changed since it was approved', async (t) => {
  const { folder, file } = await writeConfig(t, JSON.stringify(CONFIG));
  const said: string[] = [];
  const output = { write: (text: string) => said.push(text) };
  const streams = { stdout: output, stderr: output };
  const exitCode = await pin({ file, server: undefined, isCheck: false, env: process.env, ...streams });
  assert.equal(exitCode, 0, said.join(''));

  const files = { 'portico.lock': await lockWithChange(folder) };
  const gateway = await startGateway({ config: CONFIG, files });
  t.after(() => gateway.stop());
  for (const kind of CLIENT_KINDS) {
    for (const [view, prefix] of [
      ['/one', ''],
      ['', 'one__'],
    ] as const) {
      await using client = await connectClient(kind, gateway.url + view);
      const tools = await client.listTools();
      const seen = (name: string) => tools.includes(prefix + name);
      const shown = ['say', 'count', 'echo', 'add', 'fail'].filter(seen);
      assert.deepEqual(shown, ['say', 'count'], `${kind} on ${view}: ${tools}`);
      assert.equal((await client.call(`${prefix}say`, { text: 'hello' })).text, 'hello');
      for (const name of ['echo', 'add', 'fail']) {
        await assert.rejects(client.call(prefix + name, { text: 'hello' }), /Unknown tool/, name);
      }
      if (view === '') assert.equal((await client.call('two__add', { a: 1, b: 2 })).text, '3');
    }
  }
  const status = await (await fetch(`${gateway.adminUrl}/status`)).json();
  const { one } = (status as { servers: Record<string, Record<string, unknown>> }).servers;
  assert.deepEqual(one?.unapprovedTools, { add: { problem: 'changed', fields: ['description'] } });
});
