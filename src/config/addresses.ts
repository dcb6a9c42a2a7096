// Hosts, ports, ranges, origins: what an operator may write for each.
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { type Fault, fault } from './fault.ts';

/** An address to listen on: a name or an IP address, without brackets, port or path. */
export const HOST_PATTERN = String.raw`^[^\s/\[\]@?#]+$`;

/** Whether only this machine can reach the address; a name other than localhost may resolve to anything. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true;
  if (isIPv4(bare)) return bare.startsWith('127.');
  return isIPv6(bare) && /^(::1|(0+:){7}0*1|::ffff:127\.[\d.]+)$/.test(bare);
}

/** As it stands in a URL: IPv6 in brackets. */
export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Whether two listeners would want the same port of the same interface. */
export function addressesCollide(one: Address, other: Address): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  const wildcards = ['0.0.0.0', '::'];
  return one.host === other.host || wildcards.includes(one.host) || wildcards.includes(other.host);
}

export function rangeFault(range: string): Fault | undefined {
  const [address = '', bits, ...rest] = range.split('/');
  const width = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const isWithin = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
  if (width > 0 && isWithin && rest.length === 0) return undefined;
  return fault('expected an IP address or a CIDR range', 'As in 10.0.0.0/8 or fd00::/8.');
}

/** A range that holds every address: whoever calls may then say where from. */
export function isEverywhere(range: string): boolean {
  return /\/0+$/.test(range);
}

/**
 * Origins are compared as they stand (RFC 6454: scheme, host, port), so they must be written as browsers send them.
 * Schemes of apps and extensions have no default port and no canonical form.
 */
export function originFault(origin: string): Fault | undefined {
  if (origin === 'null') return undefined;
  const hint =
    'Write it as browsers send it: scheme://host[:port], in lower case, without path or default port.';
  if (origin.includes('*')) return fault('origins have no wildcards', 'List each origin.');
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@\\]+$/.test(origin)) return fault('expected an exact origin', hint);
  const isWeb = /^https?:/.test(origin);
  const isExact = !isWeb || (URL.canParse(origin) && new URL(origin).origin === origin);
  return isExact ? undefined : fault('expected an exact origin', hint);
}

export function hostValueFault(host: string): Fault | undefined {
  const hint = 'A host name or IP address, with :port where clients send one; IPv6 in brackets.';
  if (host.includes('*')) return fault('hosts have no wildcards', 'List each host.');
  const isHost =
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/.test(host) && URL.canParse(`http://${host}`);
  return isHost ? undefined : fault('expected a Host value', hint);
}
