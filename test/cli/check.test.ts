// `portico check`: every problem as file:line:column with how to mend it, or a short account.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../../src/cli/check.ts';
import { writeConfig } from '../config/written-config.ts';

async function checked(file: string, env: NodeJS.ProcessEnv = {}) {
  const written = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) });
  const exitCode = await check({ file, env, stdout: output('stdout'), stderr: output('stderr') });
  return { ...written, exitCode };
}

test('a bad config prints every problem, one a line, and exits with 1', async (t) => {
  const { file } = await writeConfig(
    t,
    'mcpServers:\n  a: { comand: npx }\ngateway:\n  listen: { port: x }\n',
  );
  const { stdout, stderr, exitCode } = await checked(file);
  assert.equal(exitCode, 1);
  assert.deepEqual(stdout.split('\n'), [
    `${file}:2:3  mcpServers.a: this server has neither a command nor a url. Give the one that reaches it.`,
    `${file}:2:8  mcpServers.a.comand: there is no key "comand" here. Did you mean command?`,
    `${file}:4:19  gateway.listen.port: expected a whole number, found text.`,
    '',
  ]);
  assert.equal(stderr, `${file}: 3 problems\n`);
});

test('a good config says what it would serve, where, and what is doubtful, and exits with 0', async (t) => {
  const text = `mcpServers:
  Files: { command: node }
  docs: { url: "https://docs.example.com/mcp", headers: { K: "\${K}" } }
gateway: { publicUrl: https://mcp.example.com }
`;
  const { file } = await writeConfig(t, text);
  const { stdout, stderr, exitCode } = await checked(file, { K: 'canary-1234', PATH: process.env.PATH });
  assert.equal(exitCode, 0);
  assert.equal(stderr, '');
  assert.deepEqual(stdout.split('\n'), [
    `${file} is valid`,
    '  public  https://mcp.example.com/mcp        on 127.0.0.1:8080',
    '  admin   http://127.0.0.1:9090',
    '  server  https://mcp.example.com/mcp/files  stdio',
    '  server  https://mcp.example.com/mcp/docs   http',
    '',
    '1 warning',
    `${file}:4:23  gateway.publicUrl: clients reach this from elsewhere, and whoever does uses every server without ` +
      'sign-in. Set gateway.auth, or gateway.insecure: true if that is meant.',
    '',
  ]);
});

test('a config without an admin listener says that it is off', async (t) => {
  const { file } = await writeConfig(t, 'mcpServers: { a: { url: "http://x" } }\ngateway: { admin: false }');
  assert.match((await checked(file)).stdout, /^ {2}admin {3}off$/m);
});

test('a file that is not there is a problem like any other', async () => {
  const { stdout, exitCode } = await checked('/no/such/portico.yaml');
  assert.equal(exitCode, 1);
  assert.equal(
    stdout,
    '/no/such/portico.yaml:1:1  this config file is of no use: there is no such file. Name another with --config.\n',
  );
});
