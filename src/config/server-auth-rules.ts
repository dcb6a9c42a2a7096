// Rules of a server's `auth`, and of what it needs of `gateway`.
import { isLoopbackHost } from './addresses.ts';
import { type Fault, fault } from './fault.ts';
import type { ConfigFile, ServerEntry } from './schema.ts';
import { API_KEYS_NAME, isPersonalAuth } from './server-auth-config.ts';

type Auth = NonNullable<ServerEntry['auth']>;
type Gateway = ConfigFile['gateway'];

/** A token or secret in the clear can be read by whoever is on the way. */
function isInTheClear(url: string): boolean {
  return url.startsWith('http://') && URL.canParse(url) && !isLoopbackHost(new URL(url).hostname);
}

export function secondCredentialFault(
  url: string | undefined,
  headerNames: readonly string[],
): Fault | undefined {
  if (headerNames.some((name) => name.toLowerCase() === 'authorization')) {
    return fault('there is `auth` and an Authorization header', 'Keep one of them.');
  }
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { username, password } = new URL(url);
  return username + password === ''
    ? undefined
    : fault('there is `auth` and a user in the url', 'Keep one of them.');
}

export function tokenUrlFault(tokenUrl: string): Fault | undefined {
  if (!URL.canParse(tokenUrl)) return fault('this is not a URL', 'As in https://idp.example.com/token.');
  const { username, password, hash } = new URL(tokenUrl);
  if (username + password !== '')
    return fault('a user or password has no place here', 'Use clientId and clientSecret.');
  if (hash !== '') return fault('a token endpoint has no fragment', 'Remove it.');
  return isInTheClear(tokenUrl)
    ? fault('a token endpoint off loopback has to be https', 'Secrets and tokens would be read on their way.')
    : undefined;
}

/** RFC 8707, section 2. */
export function resourceFault(resource: string): Fault | undefined {
  const isIndicator = URL.canParse(resource) && !resource.includes('#');
  return isIndicator ? undefined : fault('expected an absolute URI without a fragment', '');
}

export function clearCredentialDoubt(url: string | undefined): Fault | undefined {
  return url !== undefined && isInTheClear(url)
    ? fault('the credential of this server goes over plain http', 'Use https.')
    : undefined;
}

export function sharedPersonFault({
  auth,
  isolation,
}: Pick<ServerEntry, 'auth' | 'isolation'>): Fault | undefined {
  if (isolation !== 'shared' || !isPersonalAuth(auth)) return undefined;
  return fault(
    `auth: {type: ${auth?.type}} speaks for one caller, so no link can be shared`,
    'Remove isolation, or use principal or session.',
  );
}

export function nobodyToSpeakFor(auth: Auth, gateway: Gateway): Fault | undefined {
  if (!isPersonalAuth(auth)) return undefined;
  if (gateway.auth === undefined) {
    return fault(
      `${auth.type} speaks for the caller, and without gateway.auth nobody is known`,
      'Set gateway.auth.',
    );
  }
  if (auth.type === 'token_exchange' && gateway.auth.issuers.length === 0) {
    return fault(
      'an API key cannot be exchanged, and there is no issuer of tokens',
      'Use another type, or add an issuer.',
    );
  }
  if (auth.type === 'identity' && gateway.identity === undefined) {
    return fault('there is no key to sign with', 'Set gateway.identity.key.');
  }
  return undefined;
}

/** Where equal subjects may be two people. */
export function hasSeveralIssuers({ auth }: Gateway): boolean {
  return (auth?.issuers.length ?? 0) + ((auth?.apiKeys.length ?? 0) > 0 ? 1 : 0) > 1;
}

/** @returns the places of issuers that have no name */
export function namelessIssuers({ auth }: Gateway): readonly number[] {
  return (auth?.issuers ?? []).flatMap(({ name }, index) => (name === undefined ? [index] : []));
}

export const NAMELESS_ISSUER: Fault = {
  message: 'a server is told whose subjects these are, and this issuer has no name',
  hint: 'Give it a `name`.',
};

export function issuerNameFault(name: string): Fault | undefined {
  return name === API_KEYS_NAME ? fault('this is the name of the API keys', 'Take another.') : undefined;
}
