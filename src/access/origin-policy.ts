// Which browsers' origins and which Host values may talk to us: the guard against DNS rebinding. Pure; the same
// verdict makes the 403 and the CORS headers, so they cannot disagree.
import { isIP } from 'node:net';

export interface OriginPolicy {
  /** Origins as `scheme://host:port`, lower case, the port always there; or `null`. */
  readonly origins: ReadonlySet<string>;
  /** Hosts as `host:port`; a default port is written as nothing: `host:`. */
  readonly hosts: ReadonlySet<string>;
  /** On a loopback bind, loopback origins and hosts of any port are ours too. */
  readonly loopback: boolean;
}

export interface OriginPolicySource {
  readonly publicUrl: string;
  readonly origins: readonly string[];
  readonly hosts: readonly string[];
  /** What the listener is bound to. */
  readonly listenHost: string;
}

export type OriginVerdict =
  | { readonly kind: 'absent' }
  /** `origin` is the header as it came: what CORS must echo. */
  | { readonly kind: 'allowed'; readonly origin: string }
  | { readonly kind: 'refused' };

export type HostVerdict = 'allowed' | 'refused' | 'malformed';

const ABSENT: OriginVerdict = { kind: 'absent' };
const REFUSED: OriginVerdict = { kind: 'refused' };
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443' };
/** A serialized origin (RFC 6454, section 6.2): no path, no userinfo, one value. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^\s/?#@:[\],]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i;
const HOST = /^([a-z0-9._~%!$&'()*+;=-]+|\[[0-9a-f:.]+\])(?::(\d{0,5}))?$/i;

export function originPolicy({ publicUrl, origins, hosts, listenHost }: OriginPolicySource): OriginPolicy {
  const url = new URL(publicUrl);
  return {
    origins: new Set([url.origin, ...origins].map((text) => originKey(text) ?? text)),
    hosts: new Set([url.host, ...hosts].map((text) => hostKey(text) ?? text)),
    loopback: isLoopbackHost(listenHost),
  };
}

/** An absent Origin passes: no browser sent this. A present one has to be ours, `null` and the empty string too. */
export function checkOrigin(header: string | undefined, policy: OriginPolicy): OriginVerdict {
  if (header === undefined) return ABSENT;
  const allowed: OriginVerdict = { kind: 'allowed', origin: header };
  if (header === 'null') return policy.origins.has('null') ? allowed : REFUSED;
  const key = originKey(header);
  if (key === undefined) return REFUSED;
  if (policy.origins.has(key)) return allowed;
  return policy.loopback && isLoopbackOrigin(header) ? allowed : REFUSED;
}

/** `malformed`: absent, repeated, or no host at all (RFC 9112, section 3.2 wants 400 for these). */
export function checkHost(header: string | undefined, policy: OriginPolicy): HostVerdict {
  const key = header === undefined ? undefined : hostKey(header);
  if (key === undefined) return 'malformed';
  if (policy.hosts.has(key)) return 'allowed';
  return policy.loopback && isLoopbackHost(key.slice(0, key.lastIndexOf(':'))) ? 'allowed' : 'refused';
}

/** `localhost`, 127.0.0.0/8 and ::1, the latter with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host;
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}

function isLoopbackOrigin(header: string): boolean {
  const [, scheme = '', host = ''] = ORIGIN.exec(header) ?? [];
  return /^https?$/i.test(scheme) && isLoopbackHost(host.toLowerCase());
}

/** Two texts of one origin have one key; undefined where the text is no origin. */
function originKey(text: string): string | undefined {
  const [matched, scheme = '', host = '', port] = ORIGIN.exec(text) ?? [];
  if (matched === undefined) return undefined;
  const name = scheme.toLowerCase();
  return `${name}://${host.toLowerCase()}:${port ?? DEFAULT_PORTS[name] ?? ''}`;
}

function hostKey(text: string): string | undefined {
  const [matched, host = '', port = ''] = HOST.exec(text) ?? [];
  if (matched === undefined) return undefined;
  return `${host.toLowerCase()}:${port === '80' || port === '443' ? '' : port}`;
}
