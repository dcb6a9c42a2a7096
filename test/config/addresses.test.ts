// Hosts, ranges, origins and the public URL, as plain values.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addressesCollide,
  hostValueFault,
  isEverywhere,
  isLoopbackHost,
  originFault,
  rangeFault,
  urlHost,
} from '../../src/config/addresses.ts';
import { defaultPublicUrl, publicUrlDoubt, publicUrlFault } from '../../src/config/public-url.ts';

/** Asserts which of the values pass, each one named. */
function assertVerdicts(
  judge: (value: string) => boolean,
  good: readonly string[],
  bad: readonly string[],
): void {
  const verdicts = [...good, ...bad].map((value) => [value, judge(value)]);
  assert.deepEqual(verdicts, [...good.map((value) => [value, true]), ...bad.map((value) => [value, false])]);
}

test('loopback is what only this machine can reach', () => {
  assertVerdicts(
    isLoopbackHost,
    [
      '127.0.0.1',
      '127.8.9.10',
      'localhost',
      'LOCALHOST',
      'a.localhost',
      '::1',
      '[::1]',
      '0:0:0:0:0:0:0:1',
      '::ffff:127.0.0.1',
    ],
    [
      '0.0.0.0',
      '::',
      '10.0.0.1',
      '128.0.0.1',
      '127.0.0.1.example',
      'localhost.example',
      '::2',
      '::ffff:10.0.0.1',
      '',
    ],
  );
  assert.deepEqual(['::1', '127.0.0.1', 'x'].map(urlHost), ['[::1]', '127.0.0.1', 'x']);
});

test('listeners collide on one port of one interface', () => {
  const at = (host: string, port: number) => ({ host, port });
  assert.ok(addressesCollide(at('127.0.0.1', 1), at('127.0.0.1', 1)));
  assert.ok(addressesCollide(at('0.0.0.0', 1), at('127.0.0.1', 1)));
  assert.ok(!addressesCollide(at('127.0.0.1', 1), at('127.0.0.2', 1)));
  assert.ok(!addressesCollide(at('127.0.0.1', 0), at('127.0.0.1', 0)));
});

test('ranges are addresses or CIDRs', () => {
  assertVerdicts(
    (range) => rangeFault(range) === undefined,
    ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '::/0', '::ffff:10.0.0.0/104', '10.0.0.0/32'],
    [
      '',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0/8',
      'loopback',
      '::1/129',
      '10.0.0.0/-1',
      '10.0.0.0/8/8',
      ' 10.0.0.1',
    ],
  );
  assert.ok(isEverywhere('0.0.0.0/0') && isEverywhere('::/0') && !isEverywhere('10.0.0.0/8'));
});

test('F54 origins are exact', () => {
  assertVerdicts(
    (origin) => originFault(origin) === undefined,
    [
      'https://x.example',
      'http://localhost:3000',
      'http://[::1]:5',
      'null',
      'vscode-webview://abc',
      'app://obsidian.md',
    ],
    [
      ...[
        '',
        '*',
        'https://*',
        'https://x.example/',
        'https://x.example/a',
        'https://X.example',
        'HTTPS://x.example',
      ],
      ...[
        'https://x.example:443',
        'http://x:80',
        'https://u@x',
        'x.example',
        'https://',
        'https://x?a',
        'https://x#a',
      ],
      ...['https://x y', 'https://x\\y', 'https://x, https://y', 'NULL'],
    ],
  );
});

test('Host values are names or addresses, with or without a port', () => {
  assertVerdicts(
    (host) => hostValueFault(host) === undefined,
    ['x', 'x.example', 'x.example:8080', '10.0.0.1', '[::1]', '[::1]:80', 'my_host'],
    ['', '*', '*.x', 'http://x', 'x/', 'x:', 'x:port', 'x:99999', '::1', 'a b', 'u@x'],
  );
});

test('F46 F47 publicUrl is one plain URL', () => {
  assertVerdicts(
    (url) => publicUrlFault(url) === undefined,
    [
      ...[
        'https://mcp.example.com',
        'http://127.0.0.1:8080',
        'https://MCP.example.com:443',
        'http://[::1]:80',
      ],
      ...['https://x/base', 'https://x/a/b-c_d.e~f', 'https://xn--bcher-kva.example'],
    ],
    [
      ...['', 'x', 'ftp://x', 'HTTPS://x', 'https:x', 'https://', 'https:///x', 'https://x/', 'https://x/a/'],
      ...[
        'https://x?',
        'https://x?a',
        'https://x#',
        'https://u@x',
        'https://u:p@x',
        'https://x/a//b',
        'https://x//',
      ],
      ...[
        'https://x/a/../b',
        'https://x/.',
        'https://x/%41',
        'https://x/a b',
        'https://x\\y',
        'https://x:99999',
        ' https://x',
      ],
    ],
  );
});

test('a publicUrl that is likely not meant is doubted', () => {
  assertVerdicts(
    (url) => publicUrlDoubt(url) === undefined,
    ['https://x', 'http://localhost:1', 'http://127.0.0.1', 'http://[::1]:1', 'https://x/mcps'],
    ['https://x/mcp', 'http://x', 'http://10.0.0.1:8080'],
  );
});

test('the default publicUrl follows the listener', () => {
  assert.equal(defaultPublicUrl({ host: '127.0.0.1', port: 8080, tls: false }), 'http://127.0.0.1:8080');
  assert.equal(defaultPublicUrl({ host: '::1', port: 1, tls: true }), 'https://[::1]:1');
});
