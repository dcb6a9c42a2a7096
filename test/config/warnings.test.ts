// What loads and is likely not meant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadText, problemTexts } from './written-config.ts';

test('what is likely not meant is a warning with its place', async (t) => {
  const text = `mcpServers:
  a: { command: no-such-program }
  b: { url: "http://b" }
gateway:
  listen: { host: 0.0.0.0 }
  insecure: true
  publicUrl: http://mcp.example.com/mcp
  admin: { host: 0.0.0.0, token: short }
  trustedProxies: [0.0.0.0/0]
  bodyLimit: 8mb
  maxBuffered: 4mb
`;
  const loaded = await loadText(t, text);
  assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
  const beginnings = problemTexts(loaded).map((warning) => warning.split(/[.;,:] /, 2).join(': '));
  assert.deepEqual(beginnings, [
    '2:17 mcpServers.a.command: this program is not found here',
    '6:13 gateway.insecure: INSECURE',
    '7:14 gateway.publicUrl: publicUrl ends in /mcp',
    '8:34 gateway.admin.token: a token this short can be guessed',
    '9:20 gateway.trustedProxies[0]: this range is every address',
    '10:14 gateway.bodyLimit: bodies above gateway.maxBuffered get 503',
  ]);
  const open = `mcpServers: { a: { url: "http://x" } }\ngateway: { admin: { host: 0.0.0.0 } }`;
  assert.match(problemTexts(await loadText(t, open)).join(), /^2:27 gateway\.admin\.host: off loopback/);
  const idle = await loadText(t, 'mcpServers: { a: { url: "http://x", disabled: true } }');
  assert.match(problemTexts(idle).join(), /no server is enabled/);
  const line = await loadText(t, 'mcpServers: { a: { command: "node server.js" } }');
  assert.match(
    problemTexts(line).join(),
    /^1:29 mcpServers\.a\.command: .* what follows it goes into args\.$/,
  );
});
