import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { clientAddress } from '../../src/http/client-address.ts';

/** What a request says, with a peer at 10.0.0.1. */
function addressOf(ip: string, peer: string | undefined = '10.0.0.1'): string {
  return clientAddress({ ip, socket: { remoteAddress: peer } } as Pick<FastifyRequest, 'ip' | 'socket'>);
}

const ADDRESSES: readonly [ip: string, counted: string, why: string][] = [
  ['192.0.2.7', '192.0.2.7', 'an IPv4 address'],
  ['::ffff:192.0.2.7', '192.0.2.7', 'the same, as a socket for both families tells it'],
  ['192.0.2.7:51234', '192.0.2.7', 'a port that a proxy added'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', 'the network of an IPv6 address'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::', 'another of that network'],
  ['[2001:db8:1:2::9]:443', '2001:db8:1:2::', 'brackets and a port'],
  ['2001:db8:1:3::9', '2001:db8:1:3::', 'the next network'],
  ['fe80::1%eth0', 'fe80::', 'a zone'],
  ['::1', '::', 'loopback'],
  ['unknown', '10.0.0.1', 'what is no address: the peer'],
  ['_hidden', '10.0.0.1', 'an obfuscated identifier: the peer'],
  ['', '10.0.0.1', 'nothing: the peer'],
  ['999.1.1.1', '10.0.0.1', 'no address either'],
];
for (const [ip, counted, why] of ADDRESSES) {
  test(`${ip} counts as ${counted}: ${why}`, () => assert.equal(addressOf(ip), counted));
}

test('a peer that has gone counts as nobody in particular', () => {
  assert.equal(clientAddress({ ip: '', socket: {} } as Pick<FastifyRequest, 'ip' | 'socket'>), '');
});
