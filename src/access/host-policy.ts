// Which Host values are ours: with the origin policy, the guard against DNS rebinding. Pure.
import { isIP } from 'node:net';
import { isLoopbackHost } from '../config/addresses.ts';

export interface HostPolicy {
  /** `name:port`, lower case; `name:` for the default ports, `name:*` for any. */
  readonly hosts: ReadonlySet<string>;
  /** Loopback names and addresses of any port are ours too. */
  readonly loopback: boolean;
  /** So is any IP address: a rebound name is never one. */
  readonly addresses: boolean;
}

/** `malformed`: absent, repeated, or no host at all (RFC 9112, section 3.2 wants 400 for these). */
export type HostVerdict = 'allowed' | 'refused' | 'malformed';

/** A name or an address, and a port (RFC 3986, section 3.2.2); a comma would be a repeated header. */
const HOST = /^([a-z0-9._~%!$&'()*+;=-]+|\[[0-9a-f:.]+\])(?::(\d{0,5}))?$/i;

export interface HostPolicySource {
  readonly publicUrl: string;
  /** More values; one without a port stands for every port. */
  readonly hosts: readonly string[];
  /** What the listener is bound to. */
  readonly listenHost: string;
}

/** For the public listener. */
export function publicHostPolicy({ publicUrl, hosts, listenHost }: HostPolicySource): HostPolicy {
  const own = new URL(publicUrl).host;
  return {
    hosts: new Set([keyOf(own, ''), ...hosts.map((host) => keyOf(host, '*'))]),
    loopback: isLoopbackHost(listenHost),
    addresses: false,
  };
}

/** For the admin listener: reached by address, by a loopback name, or by a name that the operator lists. */
export function adminHostPolicy(hosts: readonly string[]): HostPolicy {
  return { hosts: new Set(hosts.map((host) => keyOf(host, '*'))), loopback: true, addresses: true };
}

export function checkHost(header: string | undefined, policy: HostPolicy): HostVerdict {
  const [matched, host = '', port = ''] = HOST.exec(header ?? '') ?? [];
  if (matched === undefined) return 'malformed';
  const name = host.toLowerCase();
  const isOurs =
    policy.hosts.has(`${name}:${portKey(port)}`) ||
    policy.hosts.has(`${name}:*`) ||
    (policy.loopback && isLoopbackHost(name)) ||
    (policy.addresses && isIP(bare(name)) !== 0);
  return isOurs ? 'allowed' : 'refused';
}

function keyOf(text: string, portWhenNone: string): string {
  const [, host = text, port] = HOST.exec(text) ?? [];
  return `${host.toLowerCase()}:${port === undefined ? portWhenNone : portKey(port)}`;
}

/** The scheme is not known here, so the default port of either counts as none. */
function portKey(port: string): string {
  return port === '80' || port === '443' ? '' : port;
}

function bare(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}
