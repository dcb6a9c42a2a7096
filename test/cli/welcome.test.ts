// What serving prints first: where Portico listens, and a block that a client takes as it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadWhole } from '../../src/cli/load-whole.ts';
import { welcome } from '../../src/cli/welcome.ts';
import { writeConfig } from '../config/written-config.ts';

const ADDRESSES = { public: ['http://127.0.0.1:8080'], admin: [] };

for (const [names, hint] of [
  [['files'], undefined],
  [['files', 'docs'], 'Each server by itself is at /mcp/{server}'],
] as const) {
  test(`a client of ${names.length} servers gets one entry, at /mcp`, async (t) => {
    const { file } = await writeConfig(
      t,
      JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: 'node' }])) }),
    );
    const loaded = await loadWhole(file, { env: { PATH: process.env.PATH } });
    assert.ok(loaded.ok);
    const text = welcome(loaded.config, ADDRESSES);
    assert.deepEqual(JSON.parse(text.slice(text.indexOf('{\n'))), {
      mcpServers: { portico: { type: 'http', url: 'http://127.0.0.1:8080/mcp' } },
    });
    assert.equal(
      text.split('\n').find((line) => line.startsWith('Each server')),
      hint,
    );
  });
}
