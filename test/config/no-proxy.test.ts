// Which hosts are reached without the proxy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bypassesProxy, noProxyFault, splitNoProxy } from '../../src/config/no-proxy.ts';

const CASES: readonly [url: string, noProxy: string, direct: boolean][] = [
  ['http://localhost/mcp', '', true],
  ['http://127.0.0.9:81/mcp', '', true],
  ['http://[::1]:81/mcp', '', true],
  ['https://docs.example/mcp', '', false],
  ['https://docs.example/mcp', 'docs.example', true],
  ['https://DOCS.example./mcp', 'Docs.Example', true],
  ['https://a.docs.example/mcp', 'docs.example', true],
  ['https://notdocs.example/mcp', 'docs.example', false],
  ['https://docs.example.evil/mcp', 'docs.example', false],
  ['https://a.docs.example/mcp', '.docs.example', true],
  ['https://a.docs.example/mcp', 'other.example, *.docs.example', true],
  ['https://a.docs.example/mcp', 'other.example docs.example', true],
  ['https://docs.example/mcp', 'docs.example:8443', false],
  ['https://docs.example/mcp', 'docs.example:443', true],
  ['http://docs.example:8443/mcp', 'docs.example:8443', true],
  ['https://10.1.2.3/mcp', '10.0.0.0/8', true],
  ['https://11.1.2.3/mcp', '10.0.0.0/8', false],
  ['https://10.1.2.3/mcp', '10.1.2.3', true],
  ['https://10.1.2.3:1/mcp', '10.0.0.0/8:2', false],
  ['https://[fd00::1]/mcp', 'fd00::/8', true],
  ['https://[fe00::1]:1/mcp', '[fe00::1]:1', true],
  ['https://10.docs.example/mcp', '10.0.0.0/8', false],
  ['https://docs.example/mcp', '*', true],
];
for (const [url, noProxy, direct] of CASES) {
  test(`${url} is reached ${direct ? 'directly' : 'by the proxy'} with "${noProxy}"`, () => {
    assert.equal(bypassesProxy(new URL(url), splitNoProxy([noProxy])), direct);
    assert.equal(noProxyFault(noProxy), undefined);
  });
}

test('what is no host is refused', () => {
  for (const wrong of [
    'http://docs.example',
    'docs.example/mcp',
    '10.0.0.0/40',
    '*docs.example',
    'a,b/c',
    'é.example',
  ]) {
    assert.ok(noProxyFault(wrong), wrong);
  }
});
