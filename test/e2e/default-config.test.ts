// The config that `npm start` serves, but for its ports and with the server's path made absolute, since the test
// may not take the ports of the machine that it runs on.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startGateway } from '../support/gateway-process.ts';
import { CLIENT_KINDS, connectClient } from '../support/sdk-clients.ts';

const FILE = new URL('../../config/portico.yaml', import.meta.url);

test('what npm start serves lists and calls the tools of the everything server', async (t) => {
  const text = await readFile(FILE, 'utf8');
  const modules = fileURLToPath(new URL('../node_modules', FILE));
  const config = text.replaceAll(/port: \d+/g, 'port: 0').replaceAll('../node_modules', modules);
  assert.match(config, /host: 127\.0\.0\.1, port: 0/);
  const gateway = await startGateway({ config });
  t.after(() => gateway.stop());

  for (const kind of CLIENT_KINDS) {
    for (const view of ['', '/everything']) {
      await using client = await connectClient(kind, gateway.url + view);
      const tools = await client.listTools();
      assert.ok(tools.includes('echo'), `${kind} ${view}: ${tools}`);
      assert.equal((await client.call('echo', { message: 'hello' })).text, 'Echo: hello');
    }
  }
});
