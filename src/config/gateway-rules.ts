// Rules of `gateway` that look at more than one key.
import { type Address, addressesCollide, isLoopbackHost } from './addresses.ts';
import { MAX_STRING_BYTES, parseByteSize } from './byte-size.ts';
import { type Fault, fault } from './fault.ts';

export function publicUrlMissing(host: string, publicUrl: string | undefined): Fault | undefined {
  if (publicUrl !== undefined || isLoopbackHost(host)) return undefined;
  return fault(
    'gateway.publicUrl is needed on an address that is not loopback',
    'Set it to the URL under which clients reach Portico, as in https://mcp.example.com.',
  );
}

export interface SignInKeys {
  readonly host: string;
  readonly insecure: boolean;
  /** Whether `gateway.auth` is there. */
  readonly hasAuth: boolean;
}

export function openWithoutSignIn({ host, insecure, hasAuth }: SignInKeys): Fault | undefined {
  if (hasAuth || insecure || isLoopbackHost(host)) return undefined;
  return fault(
    'without gateway.auth Portico listens on a loopback address only',
    'Set gateway.auth, or set gateway.insecure: true if whoever reaches the port may use every server.',
  );
}

export function insecureDoubt({ host, insecure, hasAuth }: SignInKeys): Fault | undefined {
  if (!insecure) return undefined;
  if (hasAuth) return fault('insecure means nothing beside gateway.auth, which holds', 'Remove it.');
  if (isLoopbackHost(host)) return undefined;
  return fault(
    'INSECURE: whoever reaches this address uses every server without sign-in',
    'Set gateway.auth.',
  );
}

/** A proxy on the same machine makes a loopback address a public one. */
export function proxiedWithoutSignIn(signIn: SignInKeys, publicUrl: string | undefined): Fault | undefined {
  if (signIn.hasAuth || signIn.insecure || publicUrl === undefined || !URL.canParse(publicUrl))
    return undefined;
  if (!isLoopbackHost(signIn.host) || isLoopbackHost(new URL(publicUrl).hostname)) return undefined;
  return fault(
    'clients reach this from elsewhere, and whoever does uses every server without sign-in',
    'Set gateway.auth, or gateway.insecure: true if that is meant.',
  );
}

export function adminTokenDoubt(host: string, token: string | undefined): Fault | undefined {
  if (token !== undefined && token.length < 16) {
    return fault('a token this short can be guessed', 'Take 16 characters or more, at random.');
  }
  if (token !== undefined || isLoopbackHost(host)) return undefined;
  return fault('off loopback, /status answers nobody without a token', 'Set gateway.admin.token.');
}

export function listenersCollide(listen: Address, admin: Address): Fault | undefined {
  if (!addressesCollide(listen, admin)) return undefined;
  return fault('the admin listener has the port of the public one', 'Give it another.');
}

export function bodyLimitFault(bodyLimit: string): Fault | undefined {
  const isWithin = (parseByteSize(bodyLimit) ?? 0) <= MAX_STRING_BYTES;
  return isWithin ? undefined : fault('no body can be longer than 511mb', 'Lower it.');
}

export function bodyLimitDoubt(bodyLimit: string, maxBuffered: string): Fault | undefined {
  const isWithin = (parseByteSize(bodyLimit) ?? 0) <= (parseByteSize(maxBuffered) ?? 0);
  return isWithin
    ? undefined
    : fault('bodies above gateway.maxBuffered get 503', 'Lower bodyLimit, or raise maxBuffered.');
}

export function redisUrlFault(url: string): Fault | undefined {
  if (!URL.canParse(url))
    return fault('expected a redis:// or rediss:// URL', 'As in redis://:secret@redis:6379/0.');
  const { hostname, pathname, search } = new URL(url);
  if (hostname === '') return fault('the URL names no host', 'As in redis://redis:6379.');
  if (!/^(\/\d*)?$/.test(pathname))
    return fault('what stands behind the host is no database number', 'As in /0.');
  // The client would take them for options of its own, and those that hold here are ours.
  return search === '' ? undefined : fault('a query means nothing here', 'Remove it.');
}
