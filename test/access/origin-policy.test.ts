import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOrigin, originPolicy } from '../../src/access/origin-policy.ts';

const PUBLIC = originPolicy({
  publicUrl: 'https://mcp.example.com/base',
  origins: ['https://good.example', 'https://Odd.Example:8443', 'vscode-webview://panel'],
  listenHost: '0.0.0.0',
});
const LOOPBACK = originPolicy({ publicUrl: 'http://127.0.0.1:8080', origins: [], listenHost: '127.0.0.1' });

const ALLOWED = [
  'https://mcp.example.com',
  'https://mcp.example.com:443',
  'https://good.example',
  'https://good.example:443',
  'HTTPS://GOOD.EXAMPLE',
  'https://odd.example:8443',
  'vscode-webview://panel',
];
const REFUSED = [
  '',
  'null',
  'https://good.example.evil',
  'https://evilgood.example',
  'https://sub.good.example',
  'https://good.example:8443',
  'https://odd.example',
  'http://good.example',
  'https://good.example.',
  'https://good.example/',
  'https://good.example@evil.example',
  'https://evil.example#https://good.example',
  'https://good.example, https://good.example',
  'https://good.example https://evil.example',
  ' https://good.example',
  'https://good.example\\@evil.example',
  'https://',
  'good.example',
  'http://localhost:3000',
  'http://127.0.0.1',
  'vscode-webview://other',
];

for (const origin of ALLOWED) {
  test(`F54: the origin ${origin} is ours`, () => {
    assert.deepEqual(checkOrigin(origin, PUBLIC), { kind: 'allowed', origin });
  });
}

for (const origin of REFUSED) {
  test(`F54: the origin ${JSON.stringify(origin)} is refused`, () => {
    assert.deepEqual(checkOrigin(origin, PUBLIC), { kind: 'refused' });
  });
}

test('F54: a request without an Origin comes from no browser and passes', () => {
  assert.deepEqual(checkOrigin(undefined, PUBLIC), { kind: 'absent' });
});

test('F54: null is allowed only where it is listed', () => {
  const policy = originPolicy({ publicUrl: 'https://a.example', origins: ['null'], listenHost: '::' });
  assert.equal(checkOrigin('null', policy).kind, 'allowed');
  assert.equal(checkOrigin('NULL', policy).kind, 'refused');
});

test('F54: a loopback bind trusts loopback origins of any port, and no look-alikes', () => {
  const ours = ['http://localhost', 'http://localhost:3000', 'https://LOCALHOST:1', 'http://127.0.0.1:5173'];
  for (const origin of [...ours, 'http://127.9.9.9', 'http://[::1]', 'http://[::1]:6274']) {
    assert.equal(checkOrigin(origin, LOOPBACK).kind, 'allowed', origin);
  }
  const foreign = [
    'http://localhost.evil',
    'http://127.0.0.1.evil',
    'http://127.1',
    'http://0.0.0.0',
    'null',
  ];
  for (const origin of [
    ...foreign,
    'http://[::2]',
    'http://128.0.0.1',
    'ftp://localhost',
    'http://localhost.',
  ]) {
    assert.equal(checkOrigin(origin, LOOPBACK).kind, 'refused', origin);
  }
});
