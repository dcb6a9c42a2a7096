// Which browsers' origins may talk to us. Pure; the same verdict makes the 403 and the CORS headers, so the two
// cannot disagree.
import { isLoopbackHost } from '../config/addresses.ts';

export interface OriginPolicy {
  /** Origins as `scheme://host:port`, lower case, the port always there; or `null`. */
  readonly origins: ReadonlySet<string>;
  /** On a loopback bind, loopback origins of any port are ours too. */
  readonly loopback: boolean;
}

export interface OriginPolicySource {
  readonly publicUrl: string;
  readonly origins: readonly string[];
  /** What the listener is bound to. */
  readonly listenHost: string;
}

export type OriginVerdict =
  | { readonly kind: 'absent' }
  /** `origin` is the header as it came: what CORS must echo. */
  | { readonly kind: 'allowed'; readonly origin: string }
  | { readonly kind: 'refused' };

const ABSENT: OriginVerdict = { kind: 'absent' };
const REFUSED: OriginVerdict = { kind: 'refused' };
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };
/** A serialized origin (RFC 6454, section 6.2): no path, no userinfo, one value. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^\s/?#@:[\],\\]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i;

export function originPolicy({ publicUrl, origins, listenHost }: OriginPolicySource): OriginPolicy {
  return {
    origins: new Set([new URL(publicUrl).origin, ...origins].map((text) => tupleOf(text)?.key ?? text)),
    loopback: isLoopbackHost(listenHost),
  };
}

/** An absent Origin passes: no browser sent this. A present one has to be ours, `null` and the empty string too. */
export function checkOrigin(header: string | undefined, policy: OriginPolicy): OriginVerdict {
  if (header === undefined) return ABSENT;
  const tuple = tupleOf(header);
  const isOurs =
    tuple === undefined
      ? header === 'null' && policy.origins.has('null')
      : policy.origins.has(tuple.key) || (policy.loopback && tuple.isLoopback);
  return isOurs ? { kind: 'allowed', origin: header } : REFUSED;
}

/** Two texts of one origin have one key; undefined where the text is no origin. */
function tupleOf(text: string): { key: string; isLoopback: boolean } | undefined {
  const match = ORIGIN.exec(text);
  if (match === null) return undefined;
  const [scheme = '', host = ''] = match.slice(1, 3).map((part) => part.toLowerCase());
  const port = match[3] ?? DEFAULT_PORTS[scheme];
  return {
    key: `${scheme}://${host}:${port ?? ''}`,
    isLoopback: (scheme === 'http' || scheme === 'https') && isLoopbackHost(host),
  };
}
