// Where a request came from, as limits count it.
import { isIP } from 'node:net';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';

const IPV6_NETWORK_BITS = 64;
const WITH_PORT = /^(?:\[(?<six>[^\]]+)\]|(?<four>[\d.]+))(?::\d+)?$/;

/**
 * The address of the peer, or the one that trusted proxies name. A whole IPv6 network of /64 is one address: it is what
 * a single subscriber has. `::ffff:1.2.3.4` is the IPv4 address, and a port that a proxy adds is left out.
 */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  const { six, four } = WITH_PORT.exec(ip)?.groups ?? {};
  const named = six ?? four ?? ip;
  // What is no address is not the caller's to choose, or anyone could be as many as they like.
  const address = isIP(named) === 0 ? (socket.remoteAddress ?? '') : named;
  return isIP(address) === 0 ? address : normalizeIP(withoutZone(address), IPV6_NETWORK_BITS);
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}
