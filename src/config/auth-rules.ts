// Rules of `gateway.auth` that look beyond a single value.
import { isLoopbackHost } from './addresses.ts';
import { type Fault, fault } from './fault.ts';
import type { ConfigFile } from './schema.ts';

type AuthSection = NonNullable<ConfigFile['gateway']['auth']>;

/** Tokens and metadata name it to the letter, so it is judged and never changed. */
export function issuerFault(issuer: string): Fault | undefined {
  if (!URL.canParse(issuer)) return fault('expected an http:// or https:// URL', '');
  if (/[?#]/.test(issuer)) return fault('an issuer has no query and no fragment', 'Remove it.');
  if (/[\s\\"]/.test(issuer)) return fault('expected an exact issuer', 'Copy the iss of one of its tokens.');
  const { username, password } = new URL(issuer);
  return username + password === '' ? undefined : fault('a user or password has no place here', 'Remove it.');
}

/** What is fetched in the clear can be replaced on its way: with it, anybody's keys. */
export function plainHttpDoubt(url: string): Fault | undefined {
  if (!url.startsWith('http://') || !URL.canParse(url) || isLoopbackHost(new URL(url).hostname)) {
    return undefined;
  }
  return fault('this is plain http', 'Whoever is on the way could sign in as anyone; use https.');
}

export function endpointFault(url: string): Fault | undefined {
  return URL.canParse(url) ? undefined : fault('expected an http:// or https:// URL', '');
}

export function nobodyFault({ issuers, apiKeys }: AuthSection): Fault | undefined {
  if (issuers.length > 0 || apiKeys.length > 0) return undefined;
  return fault(
    'nobody could sign in: there is neither an issuer nor an API key',
    'Add one, or remove gateway.auth.',
  );
}

/** @returns the places of values that an earlier entry has too */
export function repeated(values: readonly string[]): readonly number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

/** @returns the places of issuers that may not ask about opaque tokens, since another one does */
export function secondIntrospections({ issuers }: AuthSection): readonly number[] {
  return issuers.flatMap(({ introspection }, index) => (introspection === undefined ? [] : [index])).slice(1);
}

export const SECOND_INTROSPECTION: Fault = {
  message: 'an opaque token does not say who issued it, so only one issuer can be asked',
  hint: 'Remove introspection from all but one.',
};

export function offlineAccessDoubt(scopes: readonly string[]): Fault | undefined {
  if (!scopes.includes('offline_access')) return undefined;
  return fault(
    'offline_access is never asked for by a resource',
    'Remove it; clients ask for it themselves.',
  );
}
