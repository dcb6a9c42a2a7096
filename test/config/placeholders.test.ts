// Placeholders that stand for something. `portico check` names those that do not (bad-placeholders.test.ts).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsePlaceholders } from '../../src/config/placeholders.ts';
import { loadedConfig } from './written-config.ts';

const ENV = { NAME: 'value', EMPTY: '', DOLLAR: `\${NAME}$$`, API_KEY: 'from-env' };
const FILES = { 'secrets/one': 'from-file\n', 'secrets/crlf': 'from-file\r\n', 'secrets/bare': ' a b ' };

const TABLE: readonly (readonly [written: string, expected: string])[] = [
  [`\${NAME}`, 'value'],
  [`\${env:NAME}`, 'value'],
  [`a-\${NAME}-b-\${NAME}`, 'a-value-b-value'],
  [`\${NONE:-fallback}`, 'fallback'],
  [`\${EMPTY:-fallback}`, 'fallback'],
  [`\${NAME:-fallback}`, 'value'],
  [`\${env:NONE:-fall:-back}`, 'fall:-back'],
  [`\${NONE:-}`, ''],
  [`\${EMPTY}`, ''],
  [`\${file:secrets/one}`, 'from-file'],
  [`\${file:./secrets/crlf}`, 'from-file'],
  [`\${file:secrets/bare}`, ' a b '],
  [`\${input:api-key}`, 'from-env'],
  // What comes in is not read again.
  [`\${DOLLAR}`, `\${NAME}$$`],
  ['$$', '$'],
  [`$\${NAME}`, `\${NAME}`],
  [`$$\${NAME}`, '$value'],
  ['$HOME costs $5', '$HOME costs $5'],
  ['plain', 'plain'],
];

test('placeholders become what they stand for, once', async (t) => {
  for (const [written, expected] of TABLE) {
    await t.test(written, async (t) => {
      const text = `mcpServers: { a: { command: node, env: { X: ${JSON.stringify(written)} } } }`;
      const { config } = await loadedConfig(t, text, { env: ENV, files: FILES });
      assert.ok(config.servers[0]?.type === 'stdio');
      assert.equal(config.servers[0].env.X, expected);
    });
  }
});

test('placeholders are read in values alone, never in keys', async (t) => {
  const text = `mcpServers: { a: { command: node, env: { "\${NAME}": x } } }`;
  const { config } = await loadedConfig(t, text, { env: ENV });
  assert.ok(config.servers[0]?.type === 'stdio');
  assert.deepEqual(Object.entries(config.servers[0].env), [[`\${NAME}`, 'x']]);
});

test('a placeholder may stand where a number, a truth value or a word is due', async (t) => {
  const text = `
mcpServers: { a: { url: "http://x", protocol: "\${ERA}", disabled: "\${OFF:-false}" } }
gateway:
  listen: { port: "\${PORT:-8081}" }
  insecure: "\${INSECURE}"
  drain:
    grace: \${GRACE}
`;
  const { config } = await loadedConfig(t, text, { env: { ERA: 'legacy', INSECURE: 'true', GRACE: '7s' } });
  assert.equal(config.servers[0]?.protocol, 'legacy');
  assert.deepEqual(
    [config.gateway.listen.port, config.gateway.insecure, config.gateway.drain.graceMs],
    [8081, true, 7000],
  );
});

test('an empty placeholder leaves a key out where no empty text is admitted', async (t) => {
  const text = `
mcpServers: { a: { url: "http://x", protocol: "\${E}" } }
gateway:
  publicUrl: "\${NONE:-}"
  listen: { port: "\${E}" }
  outbound: { proxy: "\${NONE:-}", noProxy: ["\${NONE:-}"] }
  admin: { token: "\${E}" }
`;
  const { config } = await loadedConfig(t, text, { env: { E: '' } });
  const { publicUrl, listen, outbound, admin } = config.gateway;
  assert.deepEqual(
    [publicUrl, listen.port, outbound.proxy, outbound.noProxy, admin?.token],
    ['http://127.0.0.1:8080', 8080, undefined, [], undefined],
  );
});

test('a disabled server may miss its variables', async (t) => {
  const text = `mcpServers: { a: { url: "http://x" }, b: { url: "\${NONE}", headers: { K: "\${NONE}" }, disabled: true } }`;
  const { config } = await loadedConfig(t, text);
  assert.deepEqual(
    config.servers.map((server) => server.slug),
    ['a'],
  );
});

test('any text falls into pieces that say what it said', () => {
  const unit = fc.constantFrom('$', '{', '}', ':', '-', 'A', 'file:', 'env:', ' ');
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const pieces = parsePlaceholders(text);
      const holdsNone = !text.replaceAll('$$', '').includes(`\${`);
      assert.equal(
        pieces.every((piece) => piece.kind === 'text'),
        holdsNone,
      );
      const said = pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
      if (holdsNone)
        assert.equal(
          said,
          text.replaceAll('$$', () => '$'),
        );
    }),
  );
});
