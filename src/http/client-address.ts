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
  const known = KNOWN.get(ip);
  if (known !== undefined) return known;
  const address = addressIn(ip);
  // What is no address is not the caller's to choose, or anyone could be as many as they like.
  if (address === undefined) return normalized(socket.remoteAddress ?? '');
  if (ip.length > MAX_KNOWN_CHARACTERS) return address;
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  KNOWN.set(ip, address);
  return address;
}

/** Reading an address costs several expressions, and most requests come from where others came from before. */
const KNOWN = new Map<string, string>();
const MAX_KNOWN = 10_000;
const MAX_KNOWN_CHARACTERS = 64;

function addressIn(ip: string): string | undefined {
  const { six, four } = WITH_PORT.exec(ip)?.groups ?? {};
  const named = six ?? four ?? ip;
  return isIP(named) === 0 ? undefined : normalized(named);
}

function normalized(address: string): string {
  return isIP(address) === 0 ? address : normalizeIP(withoutZone(address), IPV6_NETWORK_BITS);
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}
