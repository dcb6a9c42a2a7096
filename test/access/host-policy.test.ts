import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminHostPolicy, checkHost, publicHostPolicy } from '../../src/access/host-policy.ts';

const PUBLIC = publicHostPolicy({
  publicUrl: 'https://mcp.example.com/base',
  hosts: ['gateway.internal', 'pinned.internal:8443', '[2001:db8::7]'],
  listenHost: '0.0.0.0',
});
const LOOPBACK = publicHostPolicy({ publicUrl: 'http://127.0.0.1:8080', hosts: [], listenHost: 'localhost' });

const VERDICTS: readonly (readonly [string | undefined, string])[] = [
  ['mcp.example.com', 'allowed'],
  ['MCP.Example.com:443', 'allowed'],
  ['mcp.example.com:8443', 'refused'],
  ['gateway.internal', 'allowed'],
  ['gateway.internal:9999', 'allowed'],
  ['pinned.internal:8443', 'allowed'],
  ['pinned.internal', 'refused'],
  ['[2001:db8::7]:8080', 'allowed'],
  ['[2001:db8::8]', 'refused'],
  ['mcp.example.com.', 'refused'],
  ['mcp.example.com.evil', 'refused'],
  ['evil.example', 'refused'],
  ['localhost', 'refused'],
  ['127.0.0.1', 'refused'],
  [undefined, 'malformed'],
  ['', 'malformed'],
  ['mcp.example.com, evil.example', 'malformed'],
  ['user@mcp.example.com', 'malformed'],
  ['mcp.example.com/path', 'malformed'],
  ['mcp.example.com:port', 'malformed'],
  ['::1', 'malformed'],
];

for (const [host, verdict] of VERDICTS) {
  test(`F54: the Host ${JSON.stringify(host)} is ${verdict}`, () => {
    assert.equal(checkHost(host, PUBLIC), verdict);
  });
}

test('F54: a loopback bind answers to loopback names and addresses on any port', () => {
  for (const host of ['127.0.0.1:8080', '127.0.0.1', 'localhost:1', 'LocalHost', '127.8.8.8', '[::1]:8080']) {
    assert.equal(checkHost(host, LOOPBACK), 'allowed', host);
  }
  for (const host of ['rebound.evil', 'localhost.evil:8080', '10.0.0.5', '127.0.0.1.evil', '[::2]']) {
    assert.equal(checkHost(host, LOOPBACK), 'refused', host);
  }
});

test('the admin listener answers to addresses, loopback names and the hosts listed for it', () => {
  const policy = adminHostPolicy(['portico-admin.internal']);
  for (const host of ['10.1.2.3:9090', '[fd00::1]:9090', 'localhost:9090', 'portico-admin.internal:9090']) {
    assert.equal(checkHost(host, policy), 'allowed', host);
  }
  assert.equal(checkHost('rebound.evil:9090', policy), 'refused');
});
